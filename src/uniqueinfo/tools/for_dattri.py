"""For the evaluations of dattri: an attributor that says what leaving out each sample does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.samples.samples import as_samples
from uniqueinfo.tools.effects import Effects, Target
from uniqueinfo.training import Training
from uniqueinfo.training.hooks import callback_class

_Base: Any = callback_class("BaseAttributor", ("dattri.algorithm.base",), "'uniqueinfo[dattri]'")


class DattriAttributor(_Base):  # type: ignore[misc]
    """An attributor of dattri: `cache(train_loader)`, then `attribute(train_loader, test_loader)` gives (train, test).

    `model`: the trained network. `before`: the same before its training, or its state_dict: scores then follow the real
    training more closely. `training`: how it was trained, or "auto". `target`: "loss" says what the loss of a test
    sample gains when a training sample leaves, "output" what the output of its label loses; both are positive where
    the training sample helps, so that a sum over samples (`dattri.metric.lds`) goes with −loss, or with the output.
    `options`: further ones of `ui.score`, such as projection, memory or device. Samples come in the order of the data
    set, also where a loader shuffles.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        before: nn.Module | Mapping[str, Tensor] | None = None,
        training: Training | Literal["auto"] = "auto",
        target: Target = "loss",
        **options: Any,
    ) -> None:
        if not hasattr(_Base, "attribute"):
            super().__init__()  # says what to install
        self.model, self.before, self.training, self.target, self.options = model, before, training, target, options
        self._kept: tuple[str, Effects] | None = None

    def cache(self, full_train_dataloader: Any) -> None:
        """Linearize and train, once for all test samples: `full_train_dataloader` are the training samples."""
        effects = Effects.of(
            self.model,
            full_train_dataloader,
            before=self.before,
            training=self.training,
            target=self.target,
            options=self.options,
        )
        self._kept = as_samples(full_train_dataloader).glance(), effects

    def attribute(self, train_dataloader: Any, test_dataloader: Any) -> Tensor:
        """Effects (train, test) of `train_dataloader` on `test_dataloader`; other training samples than cached are
        refused."""
        if self._kept is None:
            self.cache(train_dataloader)
        assert self._kept is not None
        known, effects = self._kept
        if as_samples(train_dataloader).glance() != known:
            raise InputError(
                "attribute: these are other training samples than were cached; cache them, or make a new attributor"
            )
        return torch.from_numpy(effects.on(test_dataloader))
