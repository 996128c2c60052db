"""Training algorithms, each of them a spectral filter; filters over poles."""

from uniqueinfo.training.algorithm import Filter, Reduction, Training, check_positive, trainings
from uniqueinfo.training.auto import Auto, as_training
from uniqueinfo.training.converged import Converged, ConvergedFilter
from uniqueinfo.training.descent import DescentFilter, GradientDescent, MomentumFilter
from uniqueinfo.training.flow import FlowFilter, GradientFlow
from uniqueinfo.training.recorded import Recorded

__all__ = [
    "Auto",
    "Converged",
    "ConvergedFilter",
    "DescentFilter",
    "Filter",
    "FlowFilter",
    "GradientDescent",
    "GradientFlow",
    "MomentumFilter",
    "Recorded",
    "Reduction",
    "Training",
    "as_training",
    "check_positive",
    "trainings",
]
