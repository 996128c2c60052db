"""The likelihood of a text with the curvature of its loss: what follows the size of effects in a language model.

The loss of a sequence is −log p̄, the mean of −log p over T tokens. Its gradient is one number's, its curvature is not:
with what the network says in place t, J_t (tokens × weights) and A_t = diag(p_t) − p_t p_tᵀ,

    H = (1/T) Σ_t J_tᵀ A_t J_t = (1/T) Σ_t E_y∼p_t [∇log p_t(y) ∇log p_t(y)ᵀ].

Tokens y_t drawn by the network itself and signs s_t = ±1 by chance make H the mean of squares of single gradients,

    H = E [∇u ∇uᵀ],    u = T^(−1/2) Σ_t s_t (log p_t(y_t) − what it is now),

as the signs let the places not speak to each other on average. Each u is 0 wherever the network stands, so that it has
a gradient and a curvature in the loss −log p̄ + ½ Σ u² and no say in its slope.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.functions import OutputFunction
from uniqueinfo.jacobian.language import IGNORED, of_tokens, said_of
from uniqueinfo.samples.border import WHOLE
from uniqueinfo.samples.datasets import Inputs

_MODULUS = 2**31
_FACTORS = (1_103_515_245, 747_796_405)


def sequence_likelihood(directions: int = 4) -> OutputFunction:
    """log p̄ of each sequence, the mean over its tokens, with the curvature of −log p̄ as its loss.

    `directions`: how many random directions the curvature is made of, for each sequence. With more of them the size of
    effects is followed more closely; the cost grows with 1 + directions. The first output is log p̄; the others are 0.

    Functional information counts what leaving does to log p̄, and to the directions too: half of their squares is, on
    average, the KL divergence of what is said in a place, in nats. The value is that of the loss, to second order.

    `sequence_margin` has one number and knows the curvature along that alone: it is quicker, and its effects are too
    large, the more so the longer the training.

    >>> model = nn.Sequential(nn.Embedding(3, 3), nn.Linear(3, 3))
    >>> sequence_likelihood(2).function(model, torch.tensor([[0, 1, 2]]), None).detach()[:, 1:]
    tensor([[0., 0.]])
    """
    WHOLE.check("directions", directions)
    if directions < 1:
        raise InputError(f"directions: expected 1 or more, got {directions}; sequence_margin needs none")
    return OutputFunction(SequenceLikelihood(directions), towards=0.0, loss="likelihood")


@dataclass(frozen=True)
class SequenceLikelihood:
    """(model, inputs, targets) → log p̄ and the directions of each sequence, (batch, 1 + directions)."""

    directions: int

    def __call__(self, model: nn.Module, inputs: Inputs, targets: Tensor | None) -> Tensor:
        """See `sequence_likelihood`."""
        logits, wanted = said_of(model, inputs, targets)
        counts = (wanted != IGNORED).to(logits.dtype)
        tokens = counts.sum(dim=1)
        numbers = [(of_tokens(logits, wanted) * counts).sum(dim=1) / tokens]
        share = (tokens * self.directions).sqrt()
        below = logits.detach().softmax(dim=2).cumsum(dim=2)
        for number in range(self.directions):
            chance, sign = (_drawn(wanted, 2 * number + kind).to(logits.dtype) for kind in range(2))
            drawn = (below < chance[..., None]).sum(dim=2).clamp(max=logits.shape[2] - 1)
            told = of_tokens(logits, drawn)
            signed = torch.where(sign < 0.5, -counts, counts)
            numbers.append(((told - told.detach()) * signed).sum(dim=1) / share)
        return torch.stack(numbers, dim=1)


def _drawn(tokens: Tensor, stream: int) -> Tensor:
    """Numbers evenly between 0 and 1 for every place, which the sequence alone decides, whatever batch it is in."""
    place = torch.arange(1, tokens.shape[1] + 1, device=tokens.device)
    state = (tokens * place).sum(dim=1, keepdim=True) * 31 + tokens * 1009 + place * 7919 + stream * 104_729
    for factor in _FACTORS:
        state = (state % _MODULUS * factor + 12_345) % _MODULUS
        state = state ^ (state >> 15)
    return state.double() / _MODULUS
