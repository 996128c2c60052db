"""One number for a text: how likely the tokens of a sequence are to a network that generates them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import call
from uniqueinfo.samples.datasets import Inputs

IGNORED = -100
"""Tokens of the targets that do not count: of a prompt, or of padding. PyTorch and Hugging Face have it so."""


def sequence_margin(model: nn.Module, inputs: Inputs, targets: Tensor | None) -> Tensor:
    """The log-odds of a typical token of each sequence, (batch, 1): m = log p̄ − log(1 − p̄).

    log p̄ is the mean of log p over the tokens that count, so p̄ is their geometric mean. The loss of the training,
    −log p̄ (mean over tokens), is the logistic loss of this one number, log(1 + e⁻ᵐ), and 1 + e⁻ᵐ is the perplexity.
    One row of the Jacobian for a sequence, however long it is and however many tokens there are.

    `model`: gives logits (batch, places, tokens), or an object that holds them as `logits`.
    `inputs`: as the network takes them, `input_ids` with an `attention_mask` among them, or tokens alone.
    `targets`: None for whole sequences; tokens in the places of the inputs, -100 for those that do not count (a prompt,
    padding); for a network with an encoder and a decoder, what the decoder is to say.

    >>> model = nn.Sequential(nn.Embedding(3, 3), nn.Linear(3, 3))
    >>> margin = sequence_margin(model, torch.tensor([[0, 1, 2]]), None)
    >>> losses = nn.functional.cross_entropy(model(torch.tensor([0, 1])), torch.tensor([1, 2]))
    >>> torch.allclose(torch.nn.functional.softplus(-margin), losses)
    True
    """
    chosen, counts = _chosen(model, inputs, targets)
    mean = ((chosen * counts).sum(dim=1) / counts.sum(dim=1)).clamp(max=-torch.finfo(chosen.dtype).tiny)
    return (mean - torch.log(-torch.expm1(mean)))[:, None]


def log_probability(model: nn.Module, inputs: Inputs, targets: Tensor | None) -> Tensor:
    """log p of each sequence, the sum over its tokens that count, (batch, 1).

    `model`, `inputs`, `targets`: as of `sequence_margin`.

    Its loss is `lambda outputs, targets: -outputs.sum(dim=1)`: the gradient is −1 everywhere and the curvature 0, so
    that nothing says when to stop. It goes with a training of a given length; else take `sequence_margin`.
    """
    chosen, counts = _chosen(model, inputs, targets)
    return (chosen * counts).sum(dim=1, keepdim=True)


def generates(model: nn.Module) -> bool:
    """Whether this is a network of Hugging Face that generates texts."""
    asked = getattr(model, "can_generate", None)
    return callable(asked) and bool(asked())


def said_of(model: nn.Module, inputs: Inputs, targets: Tensor | None) -> tuple[Tensor, Tensor]:
    """What the network says in every place that is asked about, (batch, places, tokens), and the token there."""
    both = bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False))
    if both and targets is None:
        raise InputError("train: a network with an encoder and a decoder needs targets, the tokens that it is to say")
    named = dict(inputs) if isinstance(inputs, dict) else None
    if named is not None and hasattr(model, "config"):
        named |= {"use_cache": False}  # type: ignore[dict-item]
    if both and named is not None and "decoder_input_ids" not in named:
        assert targets is not None
        named["decoder_input_ids"] = _started(model, targets)
    result = call(model, inputs if named is None else named)
    logits: Any = getattr(result, "logits", result)
    wanted = _wanted(inputs) if targets is None else targets
    if not isinstance(logits, Tensor) or logits.ndim != 3 or logits.shape[:2] != wanted.shape:
        got = f"shape {tuple(logits.shape)}" if isinstance(logits, Tensor) else type(logits).__name__
        raise InputError(
            f"outputs: the network returned {got} for tokens of shape {tuple(wanted.shape)}; numbers of a sequence "
            "need logits (batch, places, tokens), as networks that generate texts have them"
        )
    return (logits, wanted) if both else (logits[:, :-1], wanted[:, 1:])  # a place says the next one


def of_tokens(logits: Tensor, tokens: Tensor) -> Tensor:
    """log p of a token in every place, (batch, places)."""
    own = logits.gather(2, tokens.clamp(min=0)[..., None])[..., 0]
    return own - logits.logsumexp(dim=2)


def _chosen(model: nn.Module, inputs: Inputs, targets: Tensor | None) -> tuple[Tensor, Tensor]:
    """log p of the token in every place, and 1 where it counts, both (batch, places)."""
    logits, wanted = said_of(model, inputs, targets)
    counts = wanted != IGNORED  # a sequence in which none does becomes NaN, and is refused by its name
    return of_tokens(logits, wanted), counts.to(logits.dtype)


def _wanted(inputs: Inputs) -> Tensor:
    """Whole sequences, but for padding."""
    if isinstance(inputs, dict):
        tokens, mask = inputs["input_ids"], inputs.get("attention_mask")
        return tokens if mask is None else tokens.masked_fill(mask == 0, IGNORED)
    return inputs[0] if isinstance(inputs, tuple) else inputs


def _started(model: Any, targets: Tensor) -> Tensor:
    """What the decoder is told: its targets a place later, after the token that it starts with."""
    config = model.config
    start, padding = config.decoder_start_token_id, config.pad_token_id
    if start is None:
        raise InputError("model: its config has no decoder_start_token_id, with which a decoder starts; set it")
    told = targets.masked_fill(targets == IGNORED, padding or 0)
    return torch.cat([torch.full_like(told[:, :1], start), told[:, :-1]], dim=1)
