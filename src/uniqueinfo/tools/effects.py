"""What every training sample does for every one of other samples: the matrix that evaluations of attribution ask for.

    effect of i on j = ℓ(f₋ᵢ(x_j), y_j) − ℓ(f(x_j), y_j),    or    f(x_j)[y_j] − f₋ᵢ(x_j)[y_j]:

what the loss of j gains when i leaves, or what the output of its label loses. Both are positive where i helps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.centring import centred
from uniqueinfo.linearization.network import LinearizedNetwork
from uniqueinfo.scores.table import Scores
from uniqueinfo.scoring.network import score
from uniqueinfo.training import Training
from uniqueinfo.types import Floats

Target = Literal["loss", "output"]


@dataclass(frozen=True, eq=False)
class Effects:
    """A network linearized and trained on its samples, to be asked about others; made by `of`."""

    scores: Scores
    target: Target

    @classmethod
    def of(
        cls,
        model: nn.Module,
        train: Any,
        *,
        before: nn.Module | Mapping[str, Tensor] | None,
        training: Training | Literal["auto"],
        target: Target,
        options: Mapping[str, Any],
    ) -> Effects:
        """`model` is the trained network; `before`, the same one before its training, brings the scores closer to it.

        Without it the network as it is starts from zero outputs, and learns its labels anew with the features it has.
        """
        if target not in get_args(Target):
            raise InputError(f'target: expected "loss" or "output", got {target!r}')
        settings: dict[str, Any] = {"training": training, "progress": False, **options}
        if before is None:
            return cls(score(centred(model), train, **settings), target)
        start = before if isinstance(before, nn.Module) else _with(model, before)
        return cls(score(start, train, trained=model, **settings), target)

    def on(self, samples: Any) -> Floats:
        """(training samples, samples): of samples with their labels."""
        run = self.scores.origin.run
        linearization = run.linearization
        assert isinstance(linearization, LinearizedNetwork)
        probe = linearization.probe(samples)
        if probe.targets is None:
            raise InputError("test data: there are no labels to judge by; hand over (inputs, labels)")
        said, wanted = torch.from_numpy(run.outputs(probe)), probe.targets.flatten(1).cpu()
        found = np.empty((run.samples, probe.samples))
        with_all = run.training.criterion.value(said, wanted).numpy()
        for numbers, change in run.leave_out().output_changes(probe):
            moved = torch.from_numpy(np.ascontiguousarray(change)).reshape(len(numbers), *said.shape)
            if self.target == "loss":
                without = run.training.criterion.value((said - moved).flatten(0, 1), wanted.repeat(len(numbers), 1))
                found[numbers] = without.reshape(len(numbers), -1).numpy() - with_all
            else:
                found[numbers] = (moved * _towards(wanted)).sum(dim=2).numpy()
        return found

    def on_itself(self) -> Floats:
        """Of every training sample on itself, (n,)."""
        scores = self.scores
        outputs, targets = torch.from_numpy(scores.outputs), torch.from_numpy(scores.targets)
        if self.target == "loss":
            trained: Floats = scores.origin.run.training.criterion.value(outputs, targets).numpy()
            return scores.loo_loss - trained
        moved = (outputs - torch.from_numpy(scores.loo_outputs)) * _towards(targets)
        found: Floats = moved.sum(dim=1).numpy()
        return found


def _towards(targets: Tensor) -> Tensor:
    """Which way each output speaks for the label: that of its class; of one output up or down; of numbers all."""
    if targets.shape[1] == 1 and bool(((targets == 0) | (targets == 1)).all()):
        return 2 * targets - 1
    return targets if bool((targets.sum(dim=1) == 1).all()) else torch.ones_like(targets)


def _with(model: nn.Module, state: Mapping[str, Tensor]) -> nn.Module:
    from copy import deepcopy

    found = deepcopy(model)
    found.load_state_dict(dict(state))
    return found
