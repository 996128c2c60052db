"""Networks that are random, that couple samples, or that give what is not finite: noticed, and named by the sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import uniqueinfo as ui
from uniqueinfo.types import Floats

TRAINING = ui.Converged(1e-2)


@pytest.fixture(name="X")
def inputs() -> Floats:
    return np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)


class Strange(nn.Module):
    """A linear network with something about its inputs."""

    def __init__(self, kind: str, outputs: int = 2) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.kind, self.layer = kind, nn.Linear(4, outputs)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = getattr(self, self.kind)(x)
        return found

    def plain(self, x: Tensor) -> Tensor:
        return torch.as_tensor(self.layer(x))

    def dropout(self, x: Tensor) -> Tensor:
        return self.plain(functional.dropout(x, 0.5, training=True))

    def noise(self, x: Tensor) -> Tensor:
        """A thousandth of the outputs, which no comparison at 10 % sees."""
        found = self.plain(x)
        return found + 1e-3 * torch.randn_like(found)

    def statistics(self, x: Tensor) -> Tensor:
        return self.plain((x - x.mean(dim=0)) if len(x) > 1 else x)

    def weakly_coupled(self, x: Tensor) -> Tensor:
        """By a hundredth, and never the first sample of a batch."""
        found = self.plain(x)
        return found + 0.01 * found.roll(1, dims=0) * (torch.arange(len(x)) > 0)[:, None]

    def coupled_backwards(self, x: Tensor) -> Tensor:
        """The outputs of each sample alone, with gradients of another."""
        found = self.plain(x)
        others = found.roll(1, dims=0) * torch.arange(len(x))[:, None]
        return found + others - others.detach()

    def at_a_kink(self, x: Tensor) -> Tensor:
        """Rounds otherwise in a batch than alone, as convolutions do, where a unit is as near to its kink as that."""
        found, rounding = self.plain(x), torch.finfo(x.dtype).eps * (len(x) > 1)
        return found + 0.03 * (found - found.detach() + rounding - 1e-8).relu()

    def dead(self, x: Tensor) -> Tensor:
        """Units that nothing passes through."""
        return (self.plain(x) - 100).relu()

    def nowhere(self, x: Tensor) -> Tensor:
        """NaN for one sample of thirty."""
        return self.plain(torch.where(x[:, :1] > 4.5, torch.nan, x))

    def endless(self, x: Tensor) -> Tensor:
        """Infinity for it."""
        return self.plain(x * torch.where(x[:, :1] > 4.5, torch.inf, 1.0))

    def steep(self, x: Tensor) -> Tensor:
        """A finite output and a gradient that is not: the root at 0."""
        found, harmless = self.plain(x), (x[:, :1] < 4.5).float()
        return found + ((found - found.detach()).square() + harmless).sqrt()


@pytest.mark.parametrize("kind", ["dropout", "noise"])
@pytest.mark.parametrize("projection", [None, ui.RandomCoordinates(5)])
def test_a_random_network_is_refused(kind: str, projection: Any, X: Floats) -> None:
    with pytest.raises(ui.InputError, match=r"other outputs when it is asked a second time: it is random in eval mode"):
        ui.score(Strange(kind), (X, np.arange(30) % 2), training=TRAINING, projection=projection)


@pytest.mark.parametrize("kind", ["statistics", "weakly_coupled"])
@pytest.mark.parametrize("projection", [None, ui.RandomCoordinates(5)])
def test_a_network_that_couples_samples_is_refused(kind: str, projection: Any, X: Floats) -> None:
    with pytest.raises(
        ui.InputError, match=r"gives sample \d+ other outputs in a batch than alone: it couples samples"
    ):
        ui.score(Strange(kind), (X, np.arange(30) % 2), training=TRAINING, projection=projection)


def test_a_network_without_any_gradient_couples_nothing(X: Floats) -> None:
    linear = ui.linearize(Strange("dead"), (X, np.arange(30) % 2), progress=False)
    assert linear.system.largest == 0


def test_a_network_that_couples_gradients_alone_is_refused(X: Floats) -> None:
    with pytest.raises(ui.InputError, match=r"samples have other gradients in a batch than alone"):
        ui.linearize(Strange("coupled_backwards"), (X, np.arange(30) % 2), progress=False)


def test_a_unit_at_its_kink_that_rounds_otherwise_in_a_batch_is_no_coupling(X: Floats) -> None:
    network, data = Strange("at_a_kink"), torch.from_numpy(X[:5])

    def gradient(inputs: Tensor) -> Tensor:
        found: Tensor = torch.autograd.grad(network(inputs).sum(), network.layer.weight)[0]
        return found

    alone = torch.stack([gradient(each[None]) for each in data]).sum(dim=0)
    assert not torch.allclose(gradient(data), alone, rtol=1e-2)  # so that there is something to forgive
    ui.linearize(network, (X, np.arange(30) % 2), progress=False)


def test_looking_leaves_the_users_random_numbers_alone(X: Floats) -> None:
    network = Strange("plain")
    torch.manual_seed(3)
    wanted = torch.rand(1)
    torch.manual_seed(3)
    ui.linearize(network, (X, np.arange(30) % 2), progress=False)
    assert torch.equal(torch.rand(1), wanted)


WAYS: dict[str, dict[str, Any]] = {
    "kernels": {"projection": None},
    "rows": {"form": "primal"},
    "projected": {"projection": ui.RandomCoordinates(5)},
    "streamed": {"projection": ui.RandomCoordinates(5), "out": "run"},
    "kernels on disk": {"projection": None, "out": "run"},
}


@pytest.mark.parametrize(
    ("way", "where", "kind"),
    [
        *((way, 17, kind) for way in WAYS for kind in ("nowhere", "steep")),
        *((way, where, "endless") for way in ("kernels", "rows") for where in (0, 1)),
    ],
)
def test_one_sample_that_is_not_finite_is_named(way: str, where: int, kind: str, X: Floats, tmp_path: Path) -> None:
    X[where, 0] = 5.0
    options = {name: tmp_path / value if name == "out" else value for name, value in WAYS[way].items()}
    with pytest.raises(ui.InputError, match=rf"the network's (output|Jacobian): sample {where} holds NaN or infinity"):
        ui.score(Strange(kind, 9), (X, np.arange(30) % 9), training=TRAINING, progress=False, **options)


@pytest.mark.parametrize("way", ["kernels", "rows", "projected"])
def test_one_validation_sample_that_is_not_finite_is_named(way: str, X: Floats) -> None:
    val = X[:7].copy()
    val[4, 0] = 5.0
    with pytest.raises(ui.InputError, match=r"the network's output: sample 4 holds NaN or infinity"):
        ui.score(Strange("nowhere"), (X, np.arange(30) % 2), val, training=TRAINING, progress=False, **WAYS[way])


def test_a_recorded_training_that_is_not_finite_is_named(X: Floats, tmp_path: Path) -> None:
    model = Strange("nowhere")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    recording = ui.Recording(tmp_path / "recording", model, optimizer)
    for _ in range(3):
        optimizer.zero_grad()
        outputs = model(torch.from_numpy(X))
        torch.autograd.backward(outputs.square().mean())
        optimizer.step()
        recording.step(range(30), outputs)
    recording.finish()
    X[17, 0] = 5.0
    with pytest.raises(ui.InputError, match=r"the network's output: sample 17 holds NaN or infinity"):
        ui.score(
            model,
            (X, np.arange(30) % 2),
            training=ui.Recorded(str(tmp_path / "recording")),
            projection=None,
            progress=False,
        )
