"""The likelihood of a sequence: its slope and its curvature against torch's own, sizes against training again."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import uniqueinfo as ui
from tests.oracles.compare import close
from tests.oracles.jacobian import jacobian_rows
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.functions import ByFunction
from uniqueinfo.samples.together import joined
from uniqueinfo.types import Floats

VOCABULARY, PLACES = 4, 6


def tokens(n: int, seed: int = 0) -> Tensor:
    return torch.randint(VOCABULARY, (n, PLACES), generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def bigrams() -> nn.Module:
    """Logits of the next token are a table: convex in its weights, and the curvature of the loss is the Hessian."""
    torch.manual_seed(1)
    return nn.Sequential(nn.Embedding(VOCABULARY, VOCABULARY)).double().eval()


def rows_of(model: nn.Module, outputs: ui.OutputFunction, one: Tensor) -> Tensor:
    return jacobian_rows(ByFunction(model, outputs.function), joined(one, None))[0]


def test_the_first_number_is_the_loss_with_its_sign_turned_and_the_others_are_0(bigrams: nn.Module) -> None:
    found = ui.sequence_likelihood(3).function(bigrams, tokens(5), None)
    each = F.cross_entropy(bigrams(tokens(5))[:, :-1].transpose(1, 2), tokens(5)[:, 1:], reduction="none")
    close(found[:, 0].detach(), -each.mean(dim=1).detach(), rtol=1e-12)
    assert not found[:, 1:].any()


def test_squares_of_directions_add_up_to_the_curvature_of_the_loss(bigrams: nn.Module) -> None:
    one, directions = tokens(1), 300
    weight = bigrams.get_parameter("0.weight").detach()

    def loss(table: Tensor) -> Tensor:
        return F.cross_entropy(table[one[0, :-1]], one[0, 1:])

    found: Tensor = torch.autograd.functional.hessian(loss, weight)  # type: ignore[no-untyped-call]
    wanted = found.reshape(weight.numel(), weight.numel())
    u = rows_of(bigrams, ui.sequence_likelihood(directions), one)[1:]
    # Each draw is off by about as much as the whole: 1/√300 = 6 %, and no more than a few times that.
    assert float((u.T @ u - wanted).norm() / wanted.norm()) < 0.2


def test_a_sequence_draws_the_same_in_every_batch(bigrams: nn.Module) -> None:
    outputs, whole = ui.sequence_likelihood(2), tokens(4)
    alone = [rows_of(bigrams, outputs, whole[at : at + 1]) for at in range(4)]
    together = jacobian_rows(ByFunction(bigrams, outputs.function), joined(whole, None))
    close(together, torch.stack(alone), rtol=1e-12, atol=1e-14)
    assert len({tuple(one.flatten().tolist()) for one in alone}) == 4


def test_sizes_of_effects_are_those_of_training_again(bigrams: nn.Module, tmp_path: Path) -> None:
    train, asked = tokens(40), tokens(5, seed=9)
    start, recorded, leaving = deepcopy(bigrams).float(), deepcopy(bigrams).float(), range(0, 40, 5)

    def trained(model: nn.Module, without: int | None, folder: Path | None = None) -> Tensor:
        """Full batches, long enough to come near the end; what is said of the asked."""
        kept = torch.ones(len(train))
        if without is not None:
            kept[without] = 0
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        recording = None if folder is None else ui.Recording(folder, model, optimizer)
        for _ in range(60):
            each = F.cross_entropy(model(train)[:, :-1].transpose(1, 2), train[:, 1:], reduction="none").mean(dim=1)
            optimizer.zero_grad()
            torch.autograd.backward((each * kept).sum() / kept.sum())
            optimizer.step()
            if recording is not None:
                recording.step(torch.arange(len(train)))
        if recording is not None:
            recording.finish()
        with torch.no_grad():
            each = F.cross_entropy(model(asked)[:, :-1].transpose(1, 2), asked[:, 1:], reduction="none")
        return -each.mean(dim=1).double()

    whole = trained(recorded, None, tmp_path / "recording")
    truth = torch.stack([whole - trained(deepcopy(start), without) for without in leaving]).numpy()
    told = whole.exp().numpy()  # p̄, which says how a margin moves with log p̄
    likelihood = _changes(start, train, asked, tmp_path / "recording", ui.sequence_likelihood(16))[list(leaving)]
    margin = _changes(start, train, asked, tmp_path / "recording", ui.sequence_margin)[list(leaving)] * (1 - told)
    assert np.corrcoef(likelihood.ravel(), truth.ravel())[0, 1] > 0.97
    assert 0.85 < _slope(likelihood, truth) < 1.3
    assert _slope(margin, truth) > 2  # one number alone knows too little of the curvature


def test_scores_are_saved_and_asked_about_like_others(bigrams: nn.Module, tmp_path: Path) -> None:
    outputs, data, folder = ui.sequence_likelihood(2), (tokens(30), None), tmp_path / "run"
    for _ in range(2):  # made, then found
        scores = ui.score(bigrams, data, tokens(5, seed=9), outputs=outputs, progress=False, out=folder)
    found = ui.attribute(scores, 0)
    assert scores.origin.probe is not None
    assert found.prediction == scores.origin.run.outputs(scores.origin.probe)[0, 0]
    with pytest.raises(InputError, match="there is no output 1"):
        ui.attribute(scores, 0, output=1)


def test_fewer_than_one_direction_is_refused() -> None:
    with pytest.raises(InputError, match="directions: expected 1 or more, got 0; sequence_margin needs none"):
        ui.sequence_likelihood(0)


def _changes(start: nn.Module, train: Tensor, asked: Tensor, recording: Path, outputs: Any) -> Floats:
    """What each sample did to the first number of everything asked about, (n, asked)."""
    training = ui.Recorded(recording)
    scores = ui.score(start, (train, None), asked, training=training, outputs=outputs, progress=False)
    found = np.empty((len(train), len(asked)))
    assert scores.origin.probe is not None
    for numbers, moved in scores.origin.run.leave_out().output_changes(scores.origin.probe):
        found[numbers] = moved.reshape(len(numbers), len(asked), -1)[..., 0]
    return found


def _slope(said: Floats, truth: Floats) -> float:
    """How many times too large."""
    return float((said * truth).sum() / (truth**2).sum())
