"""What training makes small: the loss ℓ(f, y) of one sample as a function of its k outputs.

A removal needs two derivatives of it, g = ∂ℓ/∂f and A = ∂²ℓ/∂f² ≥ 0 (k × k). Squared error has g = f − y and A = I, so
that everything is linear; the others change their curvature on the way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.func import grad, jacrev, vmap

from uniqueinfo.errors import InputError, cause
from uniqueinfo.training.loss_names import LIKELIHOOD, LossFunction, check_loss

_BELOW_ZERO = 1e-9
"""Curvature this far below zero, relative to the largest, is rounding; more is a loss that is not convex."""

_ROUNDED = 1e-6
"""Targets that were computed, as residuals and outputs added up, may be this far from what they stand for."""


class Loss(ABC):
    """The loss of single samples with its two derivatives; outputs and targets are (n, k)."""

    name: ClassVar[str]

    @abstractmethod
    def value(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """ℓ, (n,)."""

    @abstractmethod
    def gradient(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """g, (n, k)."""

    @abstractmethod
    def curvature(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """A, (n, k, k)."""

    @property
    def is_quadratic(self) -> bool:
        """Whether the curvature is the identity everywhere, so that one eigendecomposition tells all."""
        return False

    @property
    def has_probabilities(self) -> bool:
        """Whether outputs are logits, which say a distribution over classes."""
        return False

    def sees_differences(self, outputs: int) -> bool:
        """Whether only differences of so many outputs matter: adding a number to all of them changes nothing."""
        return False

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Of every class, (n, classes), where outputs are logits."""
        raise InputError(f"the loss {self.name!r} says no probabilities of classes; cross-entropy does")

    def check(self, targets: Tensor) -> None:  # noqa: B027
        """Refuse targets that the loss has no meaning for."""


@dataclass(frozen=True)
class SquaredError(Loss):
    """½‖f − y‖²."""

    name = "mse"

    @property
    def is_quadratic(self) -> bool:
        """It is."""
        return True

    def value(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Half the squared distance."""
        return (outputs - targets).square().sum(dim=1) / 2

    def gradient(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """f − y."""
        return outputs - targets

    def curvature(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The identity."""
        return torch.ones_like(outputs).diag_embed()


@dataclass(frozen=True)
class CrossEntropy(Loss):
    """−Σ y log softmax(f) of several outputs; −y log σ(f) − (1 − y) log(1 − σ(f)) of one, two classes sharing it.

    >>> loss = CrossEntropy()
    >>> loss.gradient(torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0]]))
    tensor([[-0.5000,  0.5000]])
    >>> loss.curvature(torch.tensor([[0.0]]), torch.tensor([[1.0]]))
    tensor([[[0.2500]]])
    """

    name = "cross-entropy"

    @property
    def has_probabilities(self) -> bool:
        """They are logits."""
        return True

    def sees_differences(self, outputs: int) -> bool:
        """softmax does not know of shifts; σ of one output does."""
        return outputs > 1

    def probabilities(self, outputs: Tensor) -> Tensor:
        """softmax; of one output 1 − σ and σ."""
        if outputs.shape[1] == 1:
            return torch.cat([torch.sigmoid(-outputs), torch.sigmoid(outputs)], dim=1)
        return torch.softmax(outputs, dim=1)

    def value(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """In nats."""
        if outputs.shape[1] == 1:
            found: Tensor = torch.nn.functional.softplus(outputs) - targets * outputs
            return found[:, 0]
        return -(targets * torch.log_softmax(outputs, dim=1)).sum(dim=1)

    def gradient(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """p − y."""
        if outputs.shape[1] == 1:
            return torch.sigmoid(outputs) - targets
        return torch.softmax(outputs, dim=1) - targets

    def curvature(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """diag(p) − ppᵀ; of one output p(1 − p)."""
        if outputs.shape[1] == 1:
            p = torch.sigmoid(outputs)
            return (p * torch.sigmoid(-outputs))[:, :, None]
        p = torch.softmax(outputs, dim=1)
        return p.diag_embed() - p[:, :, None] * p[:, None, :]

    def check(self, targets: Tensor) -> None:
        """Targets are probabilities: of one class, or of several that add up to one."""
        inside = _are_probabilities(targets)
        whole = targets.shape[1] == 1 or bool((targets.sum(dim=1) - 1).abs().max() < _ROUNDED)
        if not (inside and whole):
            raise InputError(
                'loss="cross-entropy": targets must be classes, or probabilities that add up to one; several '
                'labels of each sample want loss="logistic", numbers to predict "mse", "huber" or "poisson"'
            )


@dataclass(frozen=True)
class Logistic(Loss):
    """Σ −y log σ(f) − (1 − y) log(1 − σ(f)) over the outputs: each is a yes or no of its own, as of several labels.

    Of margins m, which are to be large, it is Σ log(1 + e⁻ᵐ), with targets 1.

    >>> Logistic().gradient(torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 1.0]]))
    tensor([[-0.5000, -0.5000]])
    """

    name = "logistic"

    def value(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """In nats."""
        return (torch.nn.functional.softplus(outputs) - targets * outputs).sum(dim=1)

    def gradient(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """p − y."""
        return torch.sigmoid(outputs) - targets

    def curvature(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """p(1 − p)."""
        return (torch.sigmoid(outputs) * torch.sigmoid(-outputs)).diag_embed()

    def check(self, targets: Tensor) -> None:
        """Every target is a probability."""
        if not _are_probabilities(targets):
            raise InputError('loss="logistic": targets must be 0, 1 or probabilities between, one for each output')


@dataclass(frozen=True)
class Huber(Loss):
    """½r² while |r| ≤ 1, |r| − ½ beyond, r = f − y: outliers pull no harder than others.

    >>> Huber().gradient(torch.tensor([[3.0]]), torch.tensor([[0.5]]))
    tensor([[1.]])
    """

    name = "huber"

    def value(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Summed over outputs."""
        size = (outputs - targets).abs()
        return torch.where(size <= 1, size.square() / 2, size - 0.5).sum(dim=1)

    def gradient(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """r, no larger than 1."""
        return (outputs - targets).clamp(-1, 1)

    def curvature(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """1 within reach, 0 beyond."""
        return ((outputs - targets).abs() <= 1).to(outputs.dtype).diag_embed()


@dataclass(frozen=True)
class Poisson(Loss):
    """e^f − y f: outputs are the logarithms of rates, targets are counts.

    >>> Poisson().gradient(torch.tensor([[0.0]]), torch.tensor([[3.0]]))
    tensor([[-2.]])
    """

    name = "poisson"

    def value(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Without the part that training cannot change."""
        return (outputs.exp() - targets * outputs).sum(dim=1)

    def gradient(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """e^f − y."""
        return outputs.exp() - targets

    def curvature(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """e^f."""
        return outputs.exp().diag_embed()

    def check(self, targets: Tensor) -> None:
        """Counts are not negative."""
        if bool((targets < 0).any()):
            raise InputError('loss="poisson": targets are counts, and some are below 0')


@dataclass(frozen=True)
class Likelihood(Loss):
    """−f₁ + ½ Σ_{j>1} f_j²: of log p̄ and the directions of its curvature (`sequence_likelihood`); nothing to aim at.

    >>> Likelihood().gradient(torch.tensor([[-2.0, 0.0, 3.0]]), torch.zeros(1, 3))
    tensor([[-1.,  0.,  3.]])
    """

    name = LIKELIHOOD

    def value(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """In nats for each token."""
        return outputs[:, 1:].square().sum(dim=1) / 2 - outputs[:, 0]

    def gradient(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """−1, and the others themselves."""
        return torch.cat([-torch.ones_like(outputs[:, :1]), outputs[:, 1:]], dim=1)

    def curvature(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """0, and the identity."""
        return torch.cat([torch.zeros_like(outputs[:, :1]), torch.ones_like(outputs[:, 1:])], dim=1).diag_embed()

    def check(self, targets: Tensor) -> None:
        """There are none but 0."""
        if bool(targets.any()):
            raise InputError('loss="likelihood": goes with outputs=ui.sequence_likelihood() alone; name another loss')


@dataclass(frozen=True)
class OwnLoss(Loss):
    """A user's function of (outputs, targets), differentiated twice by torch.

    >>> loss = OwnLoss(lambda f, y: (f - y).pow(4).sum(dim=1))
    >>> loss.curvature(torch.tensor([[2.0]]), torch.tensor([[1.0]]))
    tensor([[[12.]]])
    """

    name = "own"

    function: LossFunction

    def value(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """As the function says."""
        try:
            found = self.function(outputs, targets)
        except Exception as error:
            raise InputError(
                f"loss: your function fails with {type(error).__name__}: {cause(error)}; mend it"
            ) from error
        if not isinstance(found, Tensor) or found.shape != outputs.shape[:1]:
            got = f"shape {tuple(found.shape)}" if isinstance(found, Tensor) else type(found).__name__
            raise InputError(
                f"loss: expected a function of outputs and targets (n, k) that gives one number per sample, (n,); got "
                f"{got} for {tuple(outputs.shape)}"
            )
        return found

    def gradient(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """By torch.func."""
        found: Tensor = vmap(grad(self._one))(outputs, targets)
        return found

    def curvature(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """By torch.func; a loss that is not convex in the outputs is refused."""
        found: Tensor = vmap(jacrev(grad(self._one)))(outputs, targets)
        lowest = torch.linalg.eigvalsh(found).min()
        if lowest < -_BELOW_ZERO * found.abs().max():
            raise InputError(
                f"loss: its curvature in the outputs reaches {float(lowest):.3g}; only losses that are convex in the "
                "outputs can be followed"
            )
        return found

    def _one(self, output: Tensor, target: Tensor) -> Tensor:
        return self.value(output[None], target[None])[0]


_EVERY = (SquaredError(), CrossEntropy(), Logistic(), Huber(), Poisson(), Likelihood())
_KNOWN: dict[str, Loss] = {loss.name: loss for loss in _EVERY}


def _are_probabilities(targets: Tensor) -> bool:
    """
    >>> _are_probabilities(torch.tensor([1.0, -1e-9])), _are_probabilities(torch.tensor([-0.1]))
    (True, False)
    """
    return bool(((targets >= -_ROUNDED) & (targets <= 1 + _ROUNDED)).all())


def as_loss(loss: str | LossFunction) -> Loss:
    """By its name, or a function of one's own.

    >>> as_loss("huber")
    Huber()
    """
    check_loss(loss)
    return _KNOWN[loss] if isinstance(loss, str) else OwnLoss(loss)
