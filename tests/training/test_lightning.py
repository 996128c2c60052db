"""A recording made by Lightning's own Trainer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import uniqueinfo as ui
from uniqueinfo.errors import InputError

L: Any = pytest.importorskip("lightning.pytorch", reason="pip install 'uniqueinfo[lightning]'")

SAMPLES, BATCH = 24, 4

pytestmark = [  # what Lightning itself warns of
    pytest.mark.filterwarnings("ignore:.*LeafSpec.* is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*does not have many workers which may be a bottleneck"),
]


class Network(L.LightningModule):  # type: ignore[misc]
    """A small network, with a schedule that moves at every step; or with two optimizers, stepped by hand."""

    def __init__(self, optimizers: int = 1) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
        self.optimizers_wanted, self.automatic_optimization = optimizers, optimizers == 1
        self.rates: list[float] = []

    def forward(self, inputs: Tensor) -> Any:
        return self.layers(inputs)

    def training_step(self, batch: tuple[Tensor, Tensor], _: int) -> Tensor:
        inputs, labels = batch
        return nn.functional.cross_entropy(self(inputs), labels)

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.rates.append(optimizer.param_groups[0]["lr"])

    def configure_optimizers(self) -> Any:
        if self.optimizers_wanted > 1:
            return [torch.optim.SGD(self.parameters(), lr=0.1) for _ in range(self.optimizers_wanted)]
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.1, weight_decay=0.0)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


class Killed(L.Callback):  # type: ignore[misc]
    """Ends a training before its end."""

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        raise RuntimeError("killed")


def data(seed: int = 0) -> TensorDataset:
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(SAMPLES, 3, generator=generator)
    return TensorDataset(inputs, (inputs[:, 0] > 0).long())


def trainer(folder: Path, *callbacks: Any, **options: Any) -> Any:
    given: dict[str, Any] = {
        "max_epochs": 2,
        "accelerator": "cpu",
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "default_root_dir": folder,
    }
    return L.Trainer(callbacks=list(callbacks), **(given | options))


def loader() -> DataLoader[Any]:
    return DataLoader(data(), batch_size=BATCH)


@pytest.mark.parametrize(("accumulated", "steps"), [(1, 12), (3, 4), (4, 4)])
def test_steps_and_rates_are_those_of_the_optimizer(tmp_path: Path, accumulated: int, steps: int) -> None:
    """Lightning moves the schedule before it says that the batch is over."""
    network = Network()
    made = trainer(tmp_path, ui.LightningRecording(tmp_path / "r"), accumulate_grad_batches=accumulated)
    made.fit(network, loader())
    assert made.global_step == steps
    assert network.rates == [pytest.approx(0.1 / (1 + step)) for step in range(steps)]
    found = ui.Recorded(tmp_path / "r")
    assert found.points[-1]["step"] == steps
    assert found.steps.rates[:, 0].tolist() == network.rates


def test_the_ends_are_the_network_before_and_after(tmp_path: Path) -> None:
    network = Network()
    trainer(tmp_path, ui.LightningRecording(tmp_path / "r", checkpoints=3)).fit(network, loader())
    found = ui.Recorded(tmp_path / "r")
    assert len(found.points) <= 3 + 2
    for number, expected in ((0, Network()), (-1, network)):
        torch.testing.assert_close(found.state(number), dict(expected.state_dict()))


def test_a_training_resumed_from_a_checkpoint_goes_on_with_its_recording(tmp_path: Path) -> None:
    made = trainer(tmp_path, ui.LightningRecording(tmp_path / "r"), max_epochs=1)
    made.fit(Network(), loader())
    made.save_checkpoint(tmp_path / "six.ckpt")
    network = Network()
    trainer(tmp_path, ui.LightningRecording(tmp_path / "r")).fit(network, loader(), ckpt_path=tmp_path / "six.ckpt")
    found = ui.Recorded(tmp_path / "r")
    assert found.points[-1]["step"] == 12
    assert found.steps.rates[:, 0].tolist() == pytest.approx([0.1 / (1 + step) for step in range(12)])
    torch.testing.assert_close(found.state(-1), dict(network.state_dict()))


def test_a_training_that_fails_leaves_what_it_reached(tmp_path: Path) -> None:
    network = Network()
    made = trainer(tmp_path, ui.LightningRecording(tmp_path / "r"), Killed())
    with pytest.raises(RuntimeError, match="killed"):
        made.fit(network, loader())
    for _ in range(6):
        made.optimizers[0].step()  # the user's own, no longer counted
    assert 6 / 1.5 <= ui.Recorded(tmp_path / "r").points[-1]["step"] <= 6


def test_two_optimizers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected one optimizer, and configure_optimizers gave 2"):
        trainer(tmp_path, ui.LightningRecording(tmp_path / "r")).fit(Network(2), loader())


def test_scores_along_a_training_of_lightning(tmp_path: Path) -> None:
    network = Network()
    trainer(tmp_path, ui.LightningRecording(tmp_path / "r")).fit(network, loader())
    scores = ui.score(network, data(), data(1), training=ui.Recorded(tmp_path / "r"))
    assert len(scores) == SAMPLES
    assert scores.functional is not None
    assert scores.functional.max() > 0
