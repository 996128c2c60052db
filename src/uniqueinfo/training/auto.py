"""Training that is stopped where samples it has not seen are predicted best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from uniqueinfo.errors import InputError
from uniqueinfo.training.algorithm import Filter, Reduction, Training, check_reduction
from uniqueinfo.training.loss_names import SQUARED, LossFunction, check_loss


@dataclass(frozen=True)
class Auto(Training):
    """A stable rate, and the stopping time with the least leave-one-out loss: chosen when samples are scored.

    Under another loss than squared error the weight decay is chosen with the time, 0 unless another is clearly better.

    >>> Auto(loss="cross-entropy").words()
    'stopped where the leave-one-out loss is least, loss cross-entropy'
    """

    name: ClassVar[str] = "auto"
    options: ClassVar[dict[str, str]] = {}

    loss: str | LossFunction = "mse"
    reduction: Reduction = "mean"

    def __post_init__(self) -> None:
        check_reduction(self, self.reduction)
        check_loss(self.loss)

    def filter(self, samples: int) -> Filter:
        """There is none before the time is chosen."""
        raise InputError("Auto: the stopping time is chosen by score; train with what scores.settings['training'] says")

    @classmethod
    def from_options(cls, given: Mapping[str, float], loss: str = SQUARED) -> Self:
        """Nothing is left to say but the loss."""
        if given:
            flag = next(iter(given)).replace("_", "-")
            raise InputError(
                f"--training auto: chooses for itself and has no --{flag}; drop it, or say --training descent"
            )
        return cls(loss=loss)

    def words(self) -> str:
        """What decides."""
        return "stopped where the leave-one-out loss is least" + self.in_words()


def as_training(training: Training | Literal["auto"]) -> Training:
    """As users name it.

    >>> as_training("auto")
    Auto(loss='mse', reduction='mean')
    """
    if isinstance(training, str) and training == "auto":
        return Auto()
    if not isinstance(training, Training):
        raise InputError(
            f'training: expected a training algorithm such as GradientDescent, or "auto", got {training!r}'
        )
    return training
