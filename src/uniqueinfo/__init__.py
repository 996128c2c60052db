"""How much unique information does each training sample give a neural network?"""

from uniqueinfo._version import __version__
from uniqueinfo.errors import FitError, InputError, UniqueInfoError
from uniqueinfo.linearized.linearization import Linearization
from uniqueinfo.scores import Scores, load
from uniqueinfo.scoring import score_features, score_jacobian
from uniqueinfo.stopping import StoppingCurve, stopping_curve
from uniqueinfo.training import Converged, GradientDescent, GradientFlow

__all__ = [
    "Converged",
    "FitError",
    "GradientDescent",
    "GradientFlow",
    "InputError",
    "Linearization",
    "Scores",
    "StoppingCurve",
    "UniqueInfoError",
    "__version__",
    "load",
    "score_features",
    "score_jacobian",
    "stopping_curve",
]
