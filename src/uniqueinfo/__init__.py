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
    from uniqueinfo.applications.validate import Validation, validate
    from uniqueinfo.information.smoothing import SGD, Fisher, Isotropic, Langevin, gradient_covariance
    from uniqueinfo.information.stochastic import StochasticTraining
    from uniqueinfo.jacobian import Factorized, OutputSketch, RandomCoordinates, VerySparse
    from uniqueinfo.jacobian.centring import centred
    from uniqueinfo.linearization.linearization import Linearization
    from uniqueinfo.removal.stopping import StoppingCurve, stopping_curve
    from uniqueinfo.runs.folder import load
    from uniqueinfo.scores.table import Scores
    from uniqueinfo.scoring.arrays import score_features, score_jacobian
    from uniqueinfo.scoring.cluster import DaskEngine
    from uniqueinfo.scoring.engine import LocalEngine
    from uniqueinfo.scoring.network import LinearizedNetwork, linearize, score
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
        "uniqueinfo.applications.validate": ("Validation", "validate"),
        "uniqueinfo.jacobian.centring": ("centred",),
        "uniqueinfo.scoring.cluster": ("DaskEngine",),
        "uniqueinfo.scoring.engine": ("LocalEngine",),
        "uniqueinfo.jacobian": ("Factorized", "OutputSketch", "RandomCoordinates", "VerySparse"),
        "uniqueinfo.linearization.linearization": ("Linearization",),
        "uniqueinfo.scoring.network": ("LinearizedNetwork", "linearize", "score"),
        "uniqueinfo.runs.folder": ("load",),
        "uniqueinfo.scores.table": ("Scores",),
        "uniqueinfo.scoring.arrays": ("score_features", "score_jacobian"),
        "uniqueinfo.information.smoothing": ("SGD", "Fisher", "Isotropic", "Langevin", "gradient_covariance"),
        "uniqueinfo.information.stochastic": ("StochasticTraining",),
        "uniqueinfo.removal.stopping": ("StoppingCurve", "stopping_curve"),
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
