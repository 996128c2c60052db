"""The fine-tuning: 2,000 passages of film reviews, an ordinary loop of mini-batches, and the sentence asked about."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import uniqueinfo as ui
from benchmarks.stories.network import Stories, Tokens, continued, load
from uniqueinfo.types import Indices

LENGTH, PASSAGES, HELD_OUT = 64, 2_000, 40
BATCH, EPOCHS = 20, 1
RATE = 5e-4
"""As the model itself was trained."""
PROMPT, WRITTEN, TEMPERATURE = "This film is", 40, 0.5


@dataclass(frozen=True, eq=False)
class Task:
    """Passages and held-out passages as tokens, (number, LENGTH), of the first words of reviews that are long enough.

    The story model knows neither reviews nor their words, so it has something to learn from every passage.
    """

    start: Stories
    tokens: Tokens
    train: Tensor
    held_out: Tensor

    @classmethod
    def of(cls, folder: Path, passages: int = PASSAGES, held_out: int = HELD_OUT) -> Task:
        """The first reviews of the file, those that appear twice once."""
        network, tokens = load(folder)
        found: dict[tuple[int, ...], None] = {}
        with (folder / "imdb_4000.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                text = json.loads(line)["t"].replace("<br />", " ")
                if len(encoded := tokens.encode(text[: 8 * LENGTH])) >= LENGTH:
                    found[tuple(encoded[:LENGTH])] = None
                if len(found) == passages + held_out:
                    break
        chosen = torch.tensor(list(found))
        return cls(network, tokens, chosen[:passages], chosen[passages:])

    def trained(
        self,
        without: Sequence[int] | Indices = (),
        folder: Path | None = None,
        watched: Callable[[nn.Module, torch.optim.Optimizer], None] = lambda network, optimizer: None,
    ) -> Stories:
        """The network after training on all passages but these: the same batches, in which they weigh nothing."""
        network = deepcopy(self.start).train()
        optimizer = torch.optim.AdamW(network.parameters(), lr=RATE)
        total = steps(len(self.train))
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / total)
        watched(network, optimizer)
        recording = None if folder is None else ui.Recording(folder, network, optimizer)
        kept = torch.ones(len(self.train))
        kept[list(without)] = 0
        shuffled = torch.Generator().manual_seed(0)
        for _ in range(EPOCHS):
            for batch in torch.split(torch.randperm(len(self.train), generator=shuffled), BATCH):
                losses, weight = each_loss(network, self.train[batch]), kept[batch]
                if float(weight.sum()) > 0:
                    optimizer.zero_grad()
                    torch.autograd.backward((losses * weight).sum() / weight.sum())
                    optimizer.step()
                if recording is not None:
                    recording.step(batch)
                schedule.step()
        if recording is not None:
            recording.finish()
        return network

    @cached_property
    def prompt(self) -> list[int]:
        """What the sentence begins with."""
        return self.tokens.encode(PROMPT)

    def sentence(self, network: Stories) -> list[int]:
        """What the network writes after the prompt, up to the first full stop."""
        written = continued(network, self.prompt, WRITTEN, TEMPERATURE)
        stops = [at for at, token in enumerate(written) if self.tokens.pieces[token].endswith(b".")]
        return written[: stops[0] + 1] if stops else written

    def asked(self, sentence: list[int]) -> tuple[Tensor, Tensor]:
        """The sentence, first, and the held-out passages: inputs, and targets in which prompt and padding are -100."""
        padded = torch.full((1, LENGTH), Tokens.START)
        padded[0, : len(sentence)] = torch.tensor(sentence)
        inputs = torch.cat([padded, self.held_out])
        targets = inputs.clone()
        targets[0, : len(self.prompt)] = -100
        targets[0, len(sentence) :] = -100
        return inputs, targets


def steps(passages: int) -> int:
    """Of the training on so many."""
    return EPOCHS * -(-passages // BATCH)


def each_loss(network: Stories, tokens: Tensor, targets: Tensor | None = None) -> Tensor:
    """−log p, the mean over the tokens of each passage that count, (passages,)."""
    return of_tokens(network(tokens), tokens if targets is None else targets)


def of_tokens(logits: Tensor, targets: Tensor) -> Tensor:
    """The same of logits (passages, places, vocabulary): each place speaks of the token after it."""
    wanted = targets[:, 1:]
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), wanted, reduction="none")
    return losses.sum(dim=1) / (wanted != -100).sum(dim=1)
