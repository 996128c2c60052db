"""What a training algorithm is: a frozen value that knows its filter, its settings, its words and when it is stable.

Training a linearized network with the squared loss gives

    w − w0 = φ(H) Jᵀ r,    H = JᵀJ,    r = targets − initial outputs,

and the algorithm (descent, flow, run to the end) enters through the scalar function φ alone.

The loss of a sample is ½‖f(x) − y‖². With ``reduction="sum"`` the training loss is Σᵢ ½‖f(xᵢ) − yᵢ‖² + (λ/2)‖w − w0‖²,
with ``reduction="mean"`` the sum is divided by the number of samples. A mean over n samples with rate lr and decay λ is
the sum with rate lr/n and decay nλ, so under "mean" the filter changes when samples leave; under "sum" it does not.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, fields
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

from uniqueinfo.errors import InputError
from uniqueinfo.training.loss_names import SQUARED, LossFunction, loss_name
from uniqueinfo.types import Floats

if TYPE_CHECKING:
    from uniqueinfo.training.losses import Loss

Reduction = Literal["mean", "sum"]

_OWN = "own function "


class Filter(Protocol):
    """The scalar function φ of one training run, in the convention of the summed loss."""

    def __hash__(self) -> int: ...

    @property
    def decay(self) -> float:
        """The weight decay λ: φ depends on z through z + λ alone."""

    @property
    def horizon(self) -> float:
        """φ where z + λ = 0: the rate times the number of steps (infinite for training run to the end)."""

    def __call__(self, z: Floats) -> Floats:
        """φ(z) for eigenvalues z ≥ 0 of the kernel."""


class Training(ABC):
    """A training algorithm. A subclass is a frozen dataclass in a file of its own; `training/__init__` names it."""

    reduction: Reduction
    """Whether the training loss is a sum or a mean over samples."""
    loss: str | LossFunction
    """What is made small: the name of a loss (`LOSSES`), or a function of (outputs, targets)."""

    name: ClassVar[str]
    """What the command line calls it: ``--training NAME``."""
    options: ClassVar[Mapping[str, str]]
    """Options of the command line → the fields they fill."""

    _known: ClassVar[dict[str, type[Training]]] = {}

    def __init_subclass__(cls) -> None:
        Training._known[cls.__name__] = cls

    @abstractmethod
    def filter(self, samples: int) -> Filter:
        """The filter of training on this many samples."""

    @property
    def criterion(self) -> Loss:
        """The loss with its derivatives."""
        from uniqueinfo.training.losses import as_loss  # needs torch, which a command line's help does without

        return as_loss(self.loss)

    @property
    def in_closed_form(self) -> bool:
        """Whether one eigendecomposition tells all of it: the loss is squared error, and the curvature stays."""
        return self.loss == SQUARED

    @property
    def rate(self) -> float:
        """The learning rate as far as it can be too high; 0 where there is no such thing."""
        return 0.0

    @property
    def length(self) -> float:
        """Steps, or time counted in steps; infinite for training run to the end."""
        return math.inf

    def largest_stable_rate(self, largest: float, samples: int) -> float:
        """The learning rate from which on training diverges, given the largest eigenvalue of the kernel."""
        return math.inf

    def flow(self) -> Training:
        """A training of the same length that is stable whatever the data."""
        return self

    def stable(self, largest: float, samples: int) -> Training:
        """Itself where it converges for kernels up to this eigenvalue; else `flow`, which always does."""
        return self if self.rate < self.largest_stable_rate(largest, samples) else self.flow()

    def check_stable(self, largest: float, samples: int) -> None:
        """Refuse a learning rate at which training diverges, naming the largest at which it does not."""
        limit = self.largest_stable_rate(largest, samples)
        if self.rate >= limit:
            raise InputError(
                f"{type(self).__name__}(lr={self.rate:g}) diverges on {samples} samples: the kernel's largest "
                f"eigenvalue is {largest:.6g}, so lr must stay below {limit:.6g}. Lower lr (and raise steps to train "
                "as long)."
            )

    def settings(self) -> dict[str, Any]:
        """Plain values that `from_settings` takes back."""
        return {"algorithm": type(self).__name__, **self._fields()}

    @abstractmethod
    def words(self) -> str:
        """The training as one would tell it."""

    def in_words(self) -> str:
        """The loss, where it is not squared error, to go on with."""
        return "" if self.loss == SQUARED else f", loss {loss_name(self.loss)}"

    def _fields(self) -> dict[str, Any]:
        found = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        if callable(found["loss"]):
            found["loss"] = f"{_OWN}{loss_name(found['loss'])}"
        return found

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Training:
        """The training algorithm that the settings of scores name.

        >>> from uniqueinfo.training import Converged
        >>> Training.from_settings(Converged(weight_decay=0.1).settings())
        Converged(weight_decay=0.1, reduction='mean', loss='mse')
        """
        if str(settings.get("loss", SQUARED)).startswith(_OWN):
            raise InputError(
                f"training: the loss was a function of your own ({str(settings['loss'])[len(_OWN) :]}), which is not "
                "saved; score again to go on from the trained network"
            )
        kind = cls._known[settings["algorithm"]]
        return kind(**{name: value for name, value in settings.items() if name != "algorithm"})

    @classmethod
    def from_options(cls, given: Mapping[str, float], loss: str = "mse") -> Self:
        """From options of the command line; those that this algorithm does not have, or lacks, are named."""
        strange = [option for option in given if option not in cls.options]
        if strange:
            flag = strange[0].replace("_", "-")
            raise InputError(f"--training {cls.name}: has no --{flag}; drop it, or name another --training")
        required = {field.name for field in fields(cls) if field.default is MISSING}  # type: ignore[arg-type]
        lacking = [option for option, name in cls.options.items() if name in required and option not in given]
        if lacking:
            flags = " and ".join(f"--{option.replace('_', '-')}" for option in lacking)
            raise InputError(f"--training {cls.name}: needs {flags}; --training auto chooses for you")
        return cls(**{cls.options[option]: value for option, value in given.items()} | {"loss": loss})


def trainings() -> dict[str, type[Training]]:
    """Every training algorithm by the name the command line gives it."""
    return {kind.name: kind for kind in Training._known.values() if kind.name}


def per_sum(reduction: Reduction, samples: int, rate: float, decay: float) -> tuple[float, float]:
    """Rate and decay of the summed loss that train like the given ones do under this convention."""
    return (rate / samples, decay * samples) if reduction == "mean" else (rate, decay)


def check_positive(owner: object, name: str, value: float) -> None:
    """Refuse a setting that is not a finite number above 0, naming it."""
    if not (_is_finite(value) and value > 0):
        raise InputError(f"{type(owner).__name__}: {name} must be a finite number above 0, got {value!r}")


def check_not_negative(owner: object, name: str, value: float) -> None:
    """Refuse a setting that is not a finite number of at least 0, naming it."""
    if not (_is_finite(value) and value >= 0):
        raise InputError(f"{type(owner).__name__}: {name} must be a finite number of at least 0, got {value!r}")


def _is_finite(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def check_reduction(owner: object, reduction: str) -> None:
    """Refuse what is neither a mean nor a sum."""
    if not isinstance(reduction, str) or reduction not in ("mean", "sum"):
        raise InputError(f'{type(owner).__name__}: reduction must be "mean" or "sum", got {reduction!r}')


def training_words(settings: Mapping[str, Any]) -> str:
    """The training algorithm that the settings of scores name, as it describes itself.

    >>> import uniqueinfo.training
    >>> training_words({"training": {"algorithm": "GradientDescent", "lr": 0.1, "steps": 1000, "weight_decay": 0.0}})
    '1,000 steps of gradient descent at rate 0.1'
    """
    given = settings.get("training")
    if not isinstance(given, Mapping) or given.get("algorithm") not in Training._known:  # of a module not imported
        return str(given.get("algorithm", "unknown")) if isinstance(given, Mapping) else "unknown"
    try:
        return Training.from_settings(given).words()
    except InputError:  # a loss of the user's own, or a recording that is gone
        return str(given["algorithm"])
