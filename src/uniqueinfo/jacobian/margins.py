"""One number for a sample of any number of classes: how far its class is ahead of all others."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import call, outputs_of
from uniqueinfo.samples.datasets import Inputs


def class_margin(model: nn.Module, inputs: Inputs, targets: Tensor | None) -> Tensor:
    """The log-odds of each sample's class, (batch, 1): m = f_y − log Σ_{j≠y} e^{f_j}.

    Softmax cross-entropy is the logistic loss of this one number, log(1 + e⁻ᵐ), so that one row of the Jacobian does
    for each sample, whatever the number of classes. What is linearized is the margin, not the outputs it is made of.

    `model` is called with `inputs`, a batch; `targets` are the classes of its samples, as whole numbers.

    >>> model, x, y = nn.Linear(2, 3), torch.randn(4, 2), torch.tensor([0, 1, 2, 0])
    >>> losses = nn.functional.cross_entropy(model(x), y, reduction="none")
    >>> torch.allclose(nn.functional.softplus(-class_margin(model, x, y)[:, 0]), losses, atol=1e-6)
    True
    """
    outputs = outputs_of(call(model, inputs))
    if targets is None or targets.ndim != 1 or targets.is_floating_point() or outputs.ndim != 2 or outputs.shape[1] < 2:
        got = "none" if targets is None else f"{targets.dtype} of shape {tuple(targets.shape)}"
        raise InputError(
            "outputs: class_margin needs a network of two outputs or more and the class of every sample, validation "
            f"samples included, as a whole number; got outputs of shape {tuple(outputs.shape)} and targets: {got}"
        )
    index = targets.to(outputs.device)[:, None]
    if bool((index < 0).any()) or bool((index >= outputs.shape[1]).any()):
        raise InputError(f"outputs: class_margin expects classes 0 to {outputs.shape[1] - 1}, got {targets.tolist()}")
    others = outputs.scatter(1, index, -torch.inf).logsumexp(dim=1, keepdim=True)
    return outputs.gather(1, index) - others
