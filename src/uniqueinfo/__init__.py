"""How much unique information does each training sample give a neural network?"""

from uniqueinfo._version import __version__
from uniqueinfo.errors import FitError, InputError, UniqueInfoError
from uniqueinfo.jacobian import Factorized, OutputSketch, RandomCoordinates, VerySparse
from uniqueinfo.linearized.linearization import Linearization
from uniqueinfo.networks import LinearizedNetwork, linearize, score
from uniqueinfo.scores import Scores, load
from uniqueinfo.scoring import score_features, score_jacobian
from uniqueinfo.smoothing import SGD, Fisher, Isotropic, Langevin, gradient_covariance
from uniqueinfo.stopping import StoppingCurve, stopping_curve
from uniqueinfo.training import Converged, GradientDescent, GradientFlow

__all__ = [
    "SGD",
    "Converged",
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
    "OutputSketch",
    "RandomCoordinates",
    "Scores",
    "StoppingCurve",
    "UniqueInfoError",
    "VerySparse",
    "__version__",
    "gradient_covariance",
    "linearize",
    "load",
    "score",
    "score_features",
    "score_jacobian",
    "stopping_curve",
]
