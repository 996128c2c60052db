"""`training="auto"` by another loss than squared error: the decay and the time with the least leave-one-out loss.

Every weight decay is one long flow, followed once; the loss of samples that leave alone is looked at on its way. Flow
has the rate 1/c, with c the largest curvature of the mean loss at the start, and decays are shares of c: a share is
felt after a time of 1/share. Shares far below 1/(the longest time) are none, and above the grid stopping early does the
same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from uniqueinfo.removal.blocks import Block
from uniqueinfo.removal.course import Summed, follow
from uniqueinfo.removal.following import Following
from uniqueinfo.training import Auto, GradientFlow
from uniqueinfo.training.loss_names import LossFunction
from uniqueinfo.types import Floats

LONGEST = 1e5
"""In times that the fastest direction takes."""
TIMES = 40
"""Ends of stretches at which stopping is looked at."""
DECAYS = (0.0, 1e-4, 1e-3, 1e-2)
"""Of the largest curvature, in the order they are tried."""
MOST_LOOKED_AT = 500
"""Samples whose leave-one-out loss is averaged."""
_WORTH = 0.01  # of the loss: what a decay must gain to be taken


@dataclass(frozen=True, eq=False)
class LossCurve:
    """Leave-one-out loss against training time under some weight decays, by another loss than squared error.

    A decay is taken where it gains more than a hundredth of the loss without: less is of no use. The standard error of
    the gain is no better judge: a few samples make most of it, and it keeps out gains that fresh samples confirm.

    >>> error = np.array([[0.9, 0.5, 0.6], [0.8, 0.498, 0.5]])  # decays × times
    >>> curve = LossCurve(1.0, np.array([1.0, 9.0, 99.0]), np.array([0.0, 0.1]), error, "cross-entropy")
    >>> curve.best  # 0.4 % less is not worth a decay
    GradientFlow(lr=1.0, time=9.0, weight_decay=0.0, reduction='mean', loss='cross-entropy')
    """

    lr: float
    times: Floats
    decays: Floats
    """Those tried, the first of them 0."""
    error: Floats
    """Mean over samples of ℓ(f₋ᵢ(xᵢ), yᵢ), (decays, times)."""
    loss: str | LossFunction

    @property
    def best(self) -> GradientFlow:
        """The training with the least loss."""
        time = float(self.times[self.error[self.chosen].argmin()])
        return GradientFlow(self.lr, time, float(self.decays[self.chosen]), loss=self.loss)

    @property
    def chosen(self) -> int:
        """The number of the decay."""
        least = self.error.min(axis=1)
        return int(least.argmin()) if least[0] - least.min() > _WORTH * abs(least[0]) else 0

    def settings(self) -> dict[str, Any]:
        """For the settings of scores: the curve of the decay chosen, and the least loss of all that were tried."""
        return {
            "lr": self.lr,
            "steps": self.times.tolist(),
            "loo_loss": self.error[self.chosen].tolist(),
            "decays": self.decays.tolist(),
            "least_loss": self.error.min(axis=1).tolist(),
        }


def stopping_curve(summed: Summed, training: Auto, block: Block) -> LossCurve:
    """How well samples that leave alone are predicted without them, at the ends of many stretches of long flows.

    Once the least loss rises over two decays, one after the other, further ones are not tried.
    """
    start = summed.gradient(torch.zeros(summed.size, dtype=torch.float64))
    largest = float(torch.linalg.eigvalsh(summed.curvature(nothing := torch.zeros_like(start), nothing))[-1])
    lr = summed.samples / largest if largest > 0 else 1.0
    decays = [share / lr for share in DECAYS] if largest > 0 else [0.0]
    found: list[Floats] = []
    for decay in decays:
        times, error = _along(summed, GradientFlow(lr, LONGEST, decay, loss=training.loss), block)
        found.append(error)
        least = [float(each.min()) for each in found]
        if len(least) > 2 and least[-3] < least[-2] < least[-1]:
            break
    return LossCurve(lr, times, np.array(decays[: len(found)]), np.stack(found), training.loss)


def _along(summed: Summed, training: GradientFlow, block: Block) -> tuple[Floats, Floats]:
    """The ends of a flow's stretches, and the mean loss there of the samples that left, both (times,)."""
    loss = training.criterion
    course = follow(summed, training, TIMES)
    error = []
    for stretch, delta in zip(course.stretches, Following(course, loss).along(block)[1:], strict=True):
        outputs = block.some.outputs(stretch.end) - block.some.rows.each_moved(delta)
        error.append(float(loss.value(outputs, block.some.targets).mean()))
    return np.cumsum([stretch.training.length for stretch in course.stretches]), np.array(error)
