"""How much unique information does each training sample give a neural network?"""

from importlib import import_module
from typing import TYPE_CHECKING

from uniqueinfo._version import __version__
from uniqueinfo.errors import FitError, InputError, UniqueInfoError

if TYPE_CHECKING:
    from uniqueinfo.applications import (
        adversarial,
        attribute,
        compare,
        mislabeled,
        redundancy,
        shapley,
        subclasses,
        summarize,
    )
    from uniqueinfo.baselines.validation import Validation, validate
    from uniqueinfo.centring import centred
    from uniqueinfo.engine import DaskEngine, LocalEngine
    from uniqueinfo.jacobian import Factorized, OutputSketch, RandomCoordinates, VerySparse
    from uniqueinfo.linearized.linearization import Linearization
    from uniqueinfo.networks import LinearizedNetwork, linearize, score
    from uniqueinfo.runs import load
    from uniqueinfo.scores import Scores
    from uniqueinfo.scoring import score_features, score_jacobian
    from uniqueinfo.smoothing import SGD, Fisher, Isotropic, Langevin, gradient_covariance
    from uniqueinfo.stochastic import StochasticTraining
    from uniqueinfo.stopping import StoppingCurve, stopping_curve
    from uniqueinfo.training import Converged, GradientDescent, GradientFlow
else:
    # Imported when first asked for: torch takes seconds, and `uniqueinfo --help` should not.
    _HOMES = {
        "uniqueinfo.applications": (
            "adversarial",
            "attribute",
            "compare",
            "mislabeled",
            "redundancy",
            "shapley",
            "subclasses",
            "summarize",
        ),
        "uniqueinfo.baselines.validation": ("Validation", "validate"),
        "uniqueinfo.centring": ("centred",),
        "uniqueinfo.engine": ("DaskEngine", "LocalEngine"),
        "uniqueinfo.jacobian": ("Factorized", "OutputSketch", "RandomCoordinates", "VerySparse"),
        "uniqueinfo.linearized.linearization": ("Linearization",),
        "uniqueinfo.networks": ("LinearizedNetwork", "linearize", "score"),
        "uniqueinfo.runs": ("load",),
        "uniqueinfo.scores": ("Scores",),
        "uniqueinfo.scoring": ("score_features", "score_jacobian"),
        "uniqueinfo.smoothing": ("SGD", "Fisher", "Isotropic", "Langevin", "gradient_covariance"),
        "uniqueinfo.stochastic": ("StochasticTraining",),
        "uniqueinfo.stopping": ("StoppingCurve", "stopping_curve"),
        "uniqueinfo.training": ("Converged", "GradientDescent", "GradientFlow"),
    }

    def __getattr__(name: str) -> object:
        home = next((module for module, names in _HOMES.items() if name in names), None)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(home), name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "SGD",
    "Converged",
    "DaskEngine",
    "Factorized",
    "Fisher",
    "FitError",
    "GradientDescent",
    "GradientFlow",
    "InputError",
    "Isotropic",
    "Langevin",
    "Linearization",
    "LinearizedNetwork",
    "LocalEngine",
    "OutputSketch",
    "RandomCoordinates",
    "Scores",
    "StochasticTraining",
    "StoppingCurve",
    "UniqueInfoError",
    "Validation",
    "VerySparse",
    "__version__",
    "adversarial",
    "attribute",
    "centred",
    "compare",
    "gradient_covariance",
    "linearize",
    "load",
    "mislabeled",
    "redundancy",
    "score",
    "score_features",
    "score_jacobian",
    "shapley",
    "stopping_curve",
    "subclasses",
    "summarize",
    "validate",
]
