"""What every method is given: samples and a network before, during and after training, as plain files.

Read in every peer's environment: nothing but torch, numpy and safetensors is needed here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

Weights = Mapping[str, Tensor]

_TINY = 24


@dataclass(frozen=True, eq=False)
class Problem:
    """Samples with class numbers; two classes share one output (0 and 1), more have one each. Loss ½‖f(x) − y‖²."""

    X: Tensor
    y: Tensor
    X_val: Tensor
    y_val: Tensor
    classes: int
    lr: float
    steps: int
    """Full-batch descent on the mean loss."""
    start: Weights
    trained: Weights
    between: Sequence[Weights]
    """The weights at the beginning of each equal stretch of the training."""

    @property
    def outputs(self) -> int:
        return 1 if self.classes == 2 else self.classes

    @property
    def damping(self) -> float:
        """What stopping early does to influence functions, which know no time: of a user's choices the kindest."""
        return 1 / (self.lr * self.steps)

    @cached_property
    def targets(self) -> Tensor:
        return self._encoded(self.y)

    @cached_property
    def val_targets(self) -> Tensor:
        return self._encoded(self.y_val)

    def tiny(self) -> Problem:
        """A problem of the same kind that costs nothing: few samples, inputs and hidden units."""
        start, trained, *between = (_cut(weights) for weights in (self.start, self.trained, *self.between))
        return replace(
            self,
            X=self.X[:_TINY, :_TINY],
            y=self.y[:_TINY],
            X_val=self.X_val[:_TINY, :_TINY],
            y_val=self.y_val[:_TINY],
            start=start,
            trained=trained,
            between=between,
        )

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        samples = {"X": self.X, "y": self.y, "X_val": self.X_val, "y_val": self.y_val}
        np.savez(folder / "samples.npz", allow_pickle=False, **{name: held.numpy() for name, held in samples.items()})
        save_file(dict(self.start), folder / "start.safetensors")
        save_file(dict(self.trained), folder / "trained.safetensors")
        for number, weights in enumerate(self.between):
            save_file(dict(weights), folder / f"between-{number}.safetensors")
        settings = {"classes": self.classes, "lr": self.lr, "steps": self.steps, "between": len(self.between)}
        (folder / "settings.json").write_text(json.dumps(settings) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Problem:
        settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
        with np.load(folder / "samples.npz", allow_pickle=False) as held:
            samples: dict[str, Any] = {name: torch.from_numpy(held[name]) for name in held.files}
        settings["between"] = [load_file(folder / f"between-{k}.safetensors") for k in range(settings["between"])]
        start, trained = (load_file(folder / f"{name}.safetensors") for name in ("start", "trained"))
        return cls(**samples, start=start, trained=trained, **settings)

    def _encoded(self, labels: Tensor) -> Tensor:
        if self.classes == 2:
            return labels.to(self.X.dtype)[:, None]
        return nn.functional.one_hot(labels, self.classes).to(self.X.dtype)


def network(weights: Weights) -> nn.Sequential:
    """Linear layers with ReLU between them, holding a copy of these weights.

    >>> network({"0.weight": torch.ones(3, 2), "0.bias": torch.ones(3), "2.weight": torch.ones(1, 3)})
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
      (2): Linear(in_features=3, out_features=1, bias=False)
    )
    """
    layers: list[nn.Module] = []
    for name in sorted(name for name in weights if name.endswith("weight")):
        width, inputs = weights[name].shape
        bias = name.replace("weight", "bias") in weights
        layers += [nn.Linear(inputs, width, bias=bias, dtype=weights[name].dtype), nn.ReLU()]
    model = nn.Sequential(*layers[:-1])
    model.load_state_dict(dict(weights))
    return model.eval()


def batches(*tensors: Tensor, size: int = 100) -> Iterator[tuple[Tensor, ...]]:
    """The same rows of several tensors, a few at a time."""
    for start in range(0, len(tensors[0]), size):
        yield tuple(tensor[start : start + size] for tensor in tensors)


def _cut(weights: Weights) -> Weights:
    """The first inputs and hidden units; all outputs, as these are few."""
    return {name: w[:_TINY, :_TINY].clone() if w.ndim == 2 else w[:_TINY].clone() for name, w in weights.items()}


def half_squares(outputs: Tensor, targets: Tensor) -> Tensor:
    """½‖f(x) − y‖² of each sample."""
    return (outputs - targets).square().sum(dim=-1) / 2
