"""For the evaluations of quanda: an explainer that says what leaving out each sample does."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from uniqueinfo.tools.effects import Effects, Target
from uniqueinfo.training import Training
from uniqueinfo.training.hooks import callback_class

_Base: Any = callback_class("Explainer", ("quanda.explainers.base",), "quanda omegaconf")


class QuandaExplainer(_Base):  # type: ignore[misc]
    """An explainer of quanda: `explain(test_data, targets)` gives (test samples, training samples).

    `model`: the trained network, or one that the last of `checkpoints` is loaded into, by `checkpoints_load_func` where
    it is given. `train_dataset`: its training samples. `task`: as quanda names it. `before`: the network before its
    training, or its state_dict: scores then follow the real training more closely. `training`: how it was trained, or
    "auto". `target`: "loss" says what the loss of a test sample gains when a training sample leaves, "output" what the
    output of its label loses; both are positive where the training sample helps. `options`: further ones of `ui.score`,
    such as projection, memory or device.

    quanda 0.5 asks pip for a captum that asks for numpy 1, and works with numpy 2 all the same.
    """

    accepted_tasks: ClassVar[list[str]] = ["image_classification", "text_classification"]

    def __init__(
        self,
        model: nn.Module,
        train_dataset: Any,
        task: str = "image_classification",
        checkpoints: str | list[str] | None = None,
        checkpoints_load_func: Any = None,
        *,
        before: nn.Module | Mapping[str, Tensor] | None = None,
        training: Training | Literal["auto"] = "auto",
        target: Target = "loss",
        **options: Any,
    ) -> None:
        if not hasattr(_Base, "explain"):
            super().__init__()  # says what to install
        super().__init__(model, train_dataset, task, checkpoints, checkpoints_load_func)
        if self.checkpoints:
            self.load_last_checkpoint()
        self.before, self.training, self.target, self.options = before, training, target, options

    def explain(self, test_data: Any, targets: Any) -> Tensor:
        """Effects (test, train) on `test_data`, whose labels are `targets`."""
        labels = torch.as_tensor(targets).detach().cpu()
        return torch.from_numpy(self._effects.on((test_data, labels)).T).to(self.device, torch.float32)

    def self_influence(self, batch_size: int = 32) -> Tensor:
        """Effects of the training samples on themselves, (train,); `batch_size` makes no difference."""
        return torch.from_numpy(self._effects.on_itself()).to(self.device, torch.float32)

    @cached_property
    def _effects(self) -> Effects:
        return Effects.of(
            self.model,
            self.train_dataset,
            before=self.before,
            training=self.training,
            target=self.target,
            options=self.options,
        )
