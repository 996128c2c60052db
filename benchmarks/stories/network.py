"""The story model: a small network of the Llama kind, in plain torch, with its published weights."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

_ANGLE = 10_000.0


class Stories(nn.Module):
    """Tokens (batch, places) → logits of the next token, (batch, places, vocabulary)."""

    def __init__(self, config: list[int]) -> None:
        """`config`: width, hidden width, layers, heads, heads of keys and values, vocabulary, places."""
        super().__init__()
        width, hidden, layers, heads, shared, vocabulary, places = config
        self.tok_embeddings = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList([_Layer(width, hidden, heads, shared, places) for _ in range(layers)])
        self.norm = nn.RMSNorm(width, eps=1e-5)
        self.output = nn.Linear(width, vocabulary, bias=False)
        self.output.weight = self.tok_embeddings.weight

    def forward(self, tokens: Tensor) -> Tensor:
        hidden = self.tok_embeddings(tokens)
        for layer in self.layers:
            hidden = layer(hidden)
        found: Tensor = self.output(self.norm(hidden))
        return found


class _Layer(nn.Module):
    def __init__(self, width: int, hidden: int, heads: int, shared: int, places: int) -> None:
        super().__init__()
        self.attention = _Attention(width, heads, shared, places)
        self.feed_forward = _FeedForward(width, hidden)
        self.attention_norm, self.ffn_norm = nn.RMSNorm(width, eps=1e-5), nn.RMSNorm(width, eps=1e-5)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        found: Tensor = x + self.feed_forward(self.ffn_norm(x))
        return found


class _Attention(nn.Module):
    """Every place looks at those before it; several heads share keys and values."""

    angles: Tensor

    def __init__(self, width: int, heads: int, shared: int, places: int) -> None:
        super().__init__()
        self.each, self.heads, self.shared = width // heads, heads, shared
        self.wq, self.wo = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.wk, self.wv = (nn.Linear(width, shared * self.each, bias=False) for _ in range(2))
        rates = _ANGLE ** (-torch.arange(0, self.each, 2) / self.each)
        self.register_buffer("angles", torch.arange(places)[:, None] * rates, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (layer(x).unflatten(2, (-1, self.each)).transpose(1, 2) for layer in (self.wq, self.wk, self.wv))
        k, v = (each.repeat_interleave(self.heads // self.shared, dim=1) for each in (self._turned(k), v))
        seen = F.scaled_dot_product_attention(self._turned(q), k, v, is_causal=True)
        found: Tensor = self.wo(seen.transpose(1, 2).flatten(2))
        return found

    def _turned(self, x: Tensor) -> Tensor:
        """Pairs of numbers turned by angles that grow with the place."""
        angles = self.angles[: x.shape[2]]
        even, odd = x[..., ::2], x[..., 1::2]
        turned = even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()
        return torch.stack(turned, dim=-1).flatten(-2)


class _FeedForward(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.w1, self.w3 = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.w2 = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.w2(F.silu(self.w1(x)) * self.w3(x))
        return found


class Tokens:
    """The tokenizer that comes with the model: pairs of pieces are put together, those of the best score first."""

    START = 1
    _BYTES = 3
    """Tokens of single bytes begin here."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        bounds, data = arrays["tok_offset"], arrays["tok_bytes"].tobytes()
        self.pieces = [data[start:stop] for start, stop in pairwise(bounds)]
        self._numbers = {piece: number for number, piece in enumerate(self.pieces)}
        self._scores = arrays["tok_score"]
        self._known: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """With the start; words are encoded one by one, as no piece reaches over a space."""
        found = [self.START]
        for word in text.split():
            if word not in self._known:
                self._known[word] = self._word(f" {word}")
            found += self._known[word]
        return found

    def decode(self, tokens: list[int]) -> str:
        """Without the start."""
        pieces = [self.pieces[token] for token in tokens if token != self.START]
        plain = [bytes([int(piece[3:5], 16)]) if piece.startswith(b"<0x") else piece for piece in pieces]
        return b"".join(plain).decode(errors="replace").strip()

    def _word(self, word: str) -> list[int]:
        tokens: list[int] = []
        for letter in word:
            raw = letter.encode()
            tokens += [self._numbers[raw]] if raw in self._numbers else [byte + self._BYTES for byte in raw]
        while True:
            pairs = [self._numbers.get(self.pieces[a] + self.pieces[b]) for a, b in pairwise(tokens)]
            ranked = [(self._scores[pair], -at, pair) for at, pair in enumerate(pairs) if pair is not None]
            if not ranked:
                return tokens
            _, place, best = max(ranked)
            tokens[-place : -place + 2] = [best]


def load(folder: Path) -> tuple[Stories, Tokens]:
    """The network with its weights, and its tokenizer."""
    with np.load(folder / "stories260k.npz") as file:
        arrays = {name: file[name] for name in file.files}
    network = Stories(arrays["config"].tolist())
    weights = {name: torch.from_numpy(array) for name, array in arrays.items() if name.endswith(".weight")}
    network.load_state_dict(weights | {"output.weight": weights["tok_embeddings.weight"]})
    return network, Tokens(arrays)


def continued(network: nn.Module, prompt: list[int], length: int, temperature: float) -> list[int]:
    """The prompt and tokens drawn after it, up to this length, always the same of a network."""
    tokens, drawn = torch.tensor([prompt]), torch.Generator().manual_seed(0)
    with torch.no_grad():
        while tokens.shape[1] < length:
            chances = torch.softmax(network(tokens)[:, -1] / temperature, dim=1)
            tokens = torch.cat([tokens, torch.multinomial(chances, 1, generator=drawn)], dim=1)
    found: list[int] = tokens[0].tolist()
    return found
