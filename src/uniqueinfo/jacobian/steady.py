"""Whether a network says of a sample the same whenever it is asked, and whoever else is in the batch."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import numpy as np
import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import blamed, call, outputs_of
from uniqueinfo.samples.checks import check_finite
from uniqueinfo.samples.datasets import Inputs, map_leaves, same_randomness
from uniqueinfo.samples.samples import Samples

_LOOKED_AT = 5  # samples, spread over the data: coupling and chance hardly ever spare so many
_TWICE, _ALONE = 1e-5, 1e-3  # of the typical size: what single precision rounds in two calls, and in other batches
_COARSE = 0.1  # with half the digits or fewer
_NOTHING = 1e-6  # outputs below this may be rounding, as of networks that start from zero: their gradients tell


def check_steady(model: nn.Module, samples: Samples) -> None:
    """Refuse a network that is random in eval mode too, or whose samples change each other; it must be prepared.

    Some samples are passed together twice, and each alone, and outputs and gradients are held against each other:
    about fifteen plain passes, and as many in double precision where gradients differ.
    """
    chosen = np.unique(np.linspace(0, len(samples) - 1, _LOOKED_AT).astype(int)).tolist()
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not parameters:
        return  # which is said elsewhere
    names = samples.ids[chosen]
    with same_randomness(), blamed("a few samples"):
        together, summed = _looked_at(model, parameters, samples.inputs(chosen))
        check_finite("the network's output", together, names)
        again = _outputs(model, samples.inputs(chosen))
        single = [_looked_at(model, parameters, samples.inputs([index])) for index in chosen]
    random = _differing(together, again, _tolerance(together, _TWICE))
    if random is not None:
        raise InputError(
            f"the network gives sample {names[random]} other outputs when it is asked a second time: it is random in "
            "eval mode too (dropout with training=True, added noise), and so would be every score; switch that off"
        )
    alone = torch.cat([outputs for outputs, _ in single])
    coupled = _differing(together, alone, _tolerance(together, _ALONE))
    if coupled is not None:
        raise InputError(
            f"the network gives sample {names[coupled]} other outputs in a batch than alone: it couples samples "
            "(batch statistics, padding that is not masked), so that no score belongs to one sample; use running "
            "statistics, or mask what is padded"
        )
    tolerance = _tolerance(together, _ALONE) * len(chosen) ** 0.5
    if _apart(summed, [gradient for _, gradient in single]) <= tolerance:
        return
    with same_randomness():
        double = _in_double(model, [samples.inputs(part) for part in (chosen, *([index] for index in chosen))])
    if double is None or not _apart(double[0], double[1:]) <= tolerance:
        raise InputError(
            "samples have other gradients in a batch than alone: the network couples samples, or is random in its "
            "backward pass; scores would hang on the batch"
        )


def _apart(summed: Tensor, single: Sequence[Tensor]) -> float:
    """How far the gradient of samples together is from the sum of those alone, as a share of the largest of these."""
    largest = max(float(gradient.norm()) for gradient in single)
    return float((summed - torch.stack(list(single)).sum(dim=0)).norm()) / (largest or 1.0)


def _in_double(model: nn.Module, parts: Sequence[Inputs]) -> list[Tensor] | None:
    """Gradients of some batches in double precision; None where the network does not run in it.

    Convolutions of one sample are computed by another way than those of several, and round otherwise. A unit whose
    input is as near to the kink of its activation as that then passes a gradient in the one and none in the other: a
    hundredth of the whole where the last maps are small. Double precision takes that away, and leaves what is coupled.
    """
    try:
        copy = deepcopy(model).double()
        parameters = [parameter for parameter in copy.parameters() if parameter.requires_grad]
        return [_looked_at(copy, parameters, map_leaves(part, _doubled))[1] for part in parts]
    except (RuntimeError, TypeError, ValueError):
        return None


def _doubled(_: str, leaf: Tensor) -> Tensor:
    return leaf.double() if leaf.is_floating_point() else leaf


def _outputs(model: nn.Module, inputs: Inputs) -> Tensor:
    found = outputs_of(call(model, inputs))
    return found.reshape(len(found), -1)


def _looked_at(model: nn.Module, parameters: Sequence[nn.Parameter], inputs: Inputs) -> tuple[Tensor, Tensor]:
    """Outputs, and the gradient of a fixed mixture of them, added up over the samples."""
    with torch.enable_grad():
        outputs = _outputs(model, inputs)
        if not outputs.requires_grad:
            return outputs.detach(), outputs.new_zeros(1)
        mixing = torch.linspace(1.0, 2.0, outputs.shape[1]).to(outputs)
        found = torch.autograd.grad((outputs @ mixing).sum(), parameters, allow_unused=True)
    seen = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)]
    return outputs.detach(), torch.cat([gradient.detach().flatten().float() for gradient in seen])


def _differing(one: Tensor, other: Tensor, tolerance: float) -> int | None:
    """The first sample of which two looks differ by more than a share of the typical size."""
    apart = (one.double() - other.double()).norm(dim=1)
    typical = float(one.double().norm(dim=1).max())
    if typical < _NOTHING:
        return None
    wrong = ~(apart <= tolerance * typical)
    return int(wrong.int().argmax()) if bool(wrong.any()) else None


def _tolerance(outputs: Tensor, share: float) -> float:
    return share if outputs.dtype in (torch.float32, torch.float64) else _COARSE
