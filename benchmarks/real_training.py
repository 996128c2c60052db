"""Trainings people really run: do scores follow training again, under the loss and the optimizer really used?

    python -m benchmarks.real_training --out results/real_training                # about half an hour on one core
    python -m benchmarks.real_training --only diabetes                           # some of it; the rest stays
    python -m benchmarks.real_training --page docs/real-training.md              # the page, from what was run

Each problem is trained by the user's own loop (mini-batches), recorded by `ui.Recording`, and trained again without
each of 40 samples (the same batches, the sample's weight 0), for three seeds of the order of the batches. Agreement is
Spearman's correlation with the truth of the same seed; the ceiling is that of the truths of two seeds with each other.
Settings were fixed before any result; the number of checkpoints is the default. The page says what was changed after.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr
from sklearn.datasets import load_diabetes
from torch import Tensor, nn

import uniqueinfo as ui
from benchmarks.data import FOLDER
from benchmarks.real_training_page import write_page
from uniqueinfo.experiments.networks import paper_cnn
from uniqueinfo.store.files import replacing

_SEEDS = (0, 1, 2)
_LEFT_OUT = 40


@dataclass(frozen=True, eq=False)
class Task:
    """Data, a network at its start, and the user's own loop around it."""

    title: str
    X: Tensor
    y: Tensor
    X_val: Tensor
    y_val: Tensor
    start: nn.Module
    loss: str
    steps: int
    batch: int
    optimizer: Callable[[nn.Module], tuple[torch.optim.Optimizer, Any]]

    def each_loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """As PyTorch has it, of each sample."""
        if self.loss == "cross-entropy":
            return nn.functional.cross_entropy(outputs, targets, reduction="none")
        return nn.functional.mse_loss(outputs[:, 0], targets, reduction="none") / 2

    def train(self, seed: int, left: int | None = None, folder: Path | None = None) -> tuple[nn.Module, float]:
        """The trained network, and how long that took."""
        model, weight = deepcopy(self.start), torch.ones(len(self.X))
        if left is not None:
            weight[left] = 0
        optimizer, schedule = self.optimizer(model)
        recording = None if folder is None else ui.Recording(folder, model, optimizer, loss=self.loss)
        started = time.perf_counter()
        for batch in self._batches(seed):
            loss = (self.each_loss(model(self.X[batch]), self.y[batch]) * weight[batch]).sum() / self.batch
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            if schedule is not None:
                schedule.step()
            if recording is not None:
                recording.step()
        if recording is not None:
            recording.finish()
        return model.eval(), time.perf_counter() - started

    def _batches(self, seed: int) -> Iterator[Tensor]:
        order, waiting = torch.Generator().manual_seed(seed), list[Tensor]()
        for _ in range(self.steps):
            if not waiting:
                drawn = torch.randperm(len(self.X), generator=order)
                waiting = [drawn[start : start + self.batch] for start in range(0, len(drawn), self.batch)]
            yield waiting.pop(0)

    def outputs(self, model: nn.Module) -> Tensor:
        """On the validation samples."""
        with torch.no_grad():
            found: Tensor = model(self.X_val).double()
        return found


def _digits(title: str, optimizer: Callable[[nn.Module], tuple[torch.optim.Optimizer, Any]]) -> Task:
    """Ten digits by the paper's CNN, pretrained on letters: 120 to train on, 200 to validate on, 200 steps of 40."""
    with np.load(FOLDER / "mnist_10c.npz") as file:
        X = torch.from_numpy(file["x_train"]).float() / 255
        y = torch.from_numpy(file["y_train"]).long()
    X = ((X - 0.456) / 0.224)[:, None].transpose(2, 3)
    order = torch.randperm(len(X), generator=torch.Generator().manual_seed(0))
    train, val = order[:120], order[120:320]
    torch.manual_seed(0)
    network = paper_cnn(10, FOLDER / "emnist_letters_cnn_pretrained.npz")
    return Task(title, X[train], y[train], X[val], y[val], network, "cross-entropy", 200, 40, optimizer)


def sgd() -> Task:
    """SGD with momentum."""
    return _digits(
        "pretrained CNN, ten digits, cross-entropy, SGD .002 with momentum .9",
        lambda model: (torch.optim.SGD(model.parameters(), lr=0.002, momentum=0.9), None),
    )


def adamw() -> Task:
    """AdamW with warm-up and cosine."""

    def make(model: nn.Module) -> tuple[torch.optim.Optimizer, Any]:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01)
        shape = lambda step: min(1.0, (step + 1) / 20) * 0.5 * (1 + np.cos(np.pi * step / 200))  # noqa: E731
        return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, shape)

    return _digits("pretrained CNN, ten digits, cross-entropy, AdamW 1e-4 with warm-up and cosine", make)


def diabetes() -> Task:
    """An MLP of 3 × 128 on scikit-learn's diabetes, squared error."""
    X, y = (torch.from_numpy(array).float() for array in load_diabetes(return_X_y=True))
    X, y = (X - X.mean(dim=0)) / X.std(dim=0), (y - y.mean()) / y.std()
    order = torch.randperm(len(X), generator=torch.Generator().manual_seed(0))
    train, val = order[:354], order[354:]
    torch.manual_seed(0)
    widths = [10, 128, 128, 128]
    layers = [layer for a, b in pairwise(widths) for layer in (nn.Linear(a, b), nn.ReLU())]
    network = nn.Sequential(*layers, nn.Linear(128, 1))
    return Task(
        "MLP of 3 × 128, diabetes, squared error, SGD .03, decay 1e-5, 20 epochs",
        X[train], y[train], X[val], y[val], network, "mse", 20 * 12, 32,
        lambda model: (torch.optim.SGD(model.parameters(), lr=0.03, weight_decay=1e-5), None),
    )  # fmt: skip


def logistic() -> Task:
    """Logistic regression on the CNN's features: what is linear is followed exactly but for its mini-batches."""
    task = sgd()
    with torch.no_grad():
        front = nn.Sequential(*list(task.start.children())[:-1]).eval()
        X, X_val = front(task.X), front(task.X_val)
    torch.manual_seed(0)
    return Task(
        "logistic regression on 256 features, ten digits, SGD .01 with momentum .9",
        X, task.y, X_val, task.y_val, nn.Linear(256, 10), "cross-entropy", 200, 40,
        lambda model: (torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9), None),
    )  # fmt: skip


TASKS: dict[str, Callable[[], Task]] = {"logistic": logistic, "diabetes": diabetes, "sgd": sgd, "adamw": adamw}


def truth(task: Task, seed: int) -> dict[str, Any]:
    """Training again without each of some samples."""
    full, seconds = task.train(seed)
    before = task.outputs(full)
    left = np.linspace(0, len(task.X) - 1, _LEFT_OUT).round().astype(int).tolist()
    amounts, values = [], []
    for sample in left:
        after = task.outputs(task.train(seed, sample)[0])
        amounts.append(float((before - after).square().sum(dim=1).mean() / 2))
        losses = [float(task.each_loss(outputs, task.y_val.to(outputs) if task.loss == "mse" else task.y_val).mean())
                  for outputs in (before, after)]  # fmt: skip
        values.append(losses[1] - losses[0])
    return {"samples": left, "true_amount": amounts, "true_value": values, "training_seconds": seconds}


def scored(task: Task, seed: int) -> dict[str, Any]:
    """Scores by three ways: along the recording, at the defaults, and with the trained network's gradients."""
    data = ((task.X, task.y), (task.X_val, task.y_val))
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        end, recording_seconds = task.train(seed, folder=Path(folder) / "recording")
        ways: dict[str, dict[str, Any]] = {
            "recorded": {"training": ui.Recorded(Path(folder) / "recording")},
            "default": {},
            "trained": {"trained": end},
        }
        for name, options in ways.items():
            started = time.perf_counter()
            scores = ui.score(task.start, *data, progress=False, **options)
            seconds = time.perf_counter() - started
            assert scores.functional is not None
            assert scores.value is not None
            about = scores.settings.get("learnt")
            found[name] = {
                "amount": scores.functional.tolist(),
                "value": scores.value.tolist(),
                "seconds": seconds,
                "learnt": about,
            }
    return {**found, "recording_seconds": recording_seconds}


def agreement(one: list[float], other: list[float]) -> float:
    """Spearman's correlation."""
    return float(spearmanr(one, other)[0])


def summary(name: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over the seeds, with their range."""
    lines: dict[str, Any] = {}
    for way in ("recorded", "default", "trained"):
        for measure in ("amount", "value"):
            each = [agreement([run[way][measure][at] for at in run["samples"]], run[f"true_{measure}"]) for run in runs]
            lines[f"{way} {measure}"] = each
    for measure in ("amount", "value"):
        pairs = combinations(runs, 2)
        lines[f"ceiling {measure}"] = [agreement(a[f"true_{measure}"], b[f"true_{measure}"]) for a, b in pairs]
    return {"task": name, "agreement": lines, "runs": runs}


def _kept(place: Path, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a file holds, or what it then does."""
    if not place.is_file():
        with replacing(place) as beside:
            beside.write_text(json.dumps(compute()) + "\n", encoding="utf-8")
    found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--out", type=Path, default=Path("results/real_training"))
    parser.add_argument("--page", type=Path)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    for name in asked.only:
        runs = []
        for seed in _SEEDS:
            task = TASKS[name]()
            real = _kept(asked.out / f"{name}-{seed}-truth.json", partial(truth, task, seed))
            found = _kept(asked.out / f"{name}-{seed}-scores.json", partial(scored, task, seed))
            runs.append({"title": task.title, "loss": task.loss, "count": len(task.X), **real, **found})
        told = summary(name, runs)
        with replacing(asked.out / f"{name}.json") as beside:
            beside.write_text(json.dumps(told) + "\n", encoding="utf-8")
        for line, values in told["agreement"].items():
            print(f"{name:9} {line:16} {np.mean(values):.2f}  ({', '.join(f'{value:.2f}' for value in values)})")
    if asked.page is not None:
        write_page([json.loads((asked.out / f"{name}.json").read_text()) for name in asked.only], asked.page)


if __name__ == "__main__":
    main()
