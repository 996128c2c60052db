"""How much unique information does each training sample give a neural network?"""

from typing import TYPE_CHECKING

from uniqueinfo._version import __version__ as __version__
from uniqueinfo.above import answered_by as _answered_by
from uniqueinfo.errors import FitError as FitError
from uniqueinfo.errors import InputError as InputError
from uniqueinfo.errors import UniqueInfoError as UniqueInfoError
from uniqueinfo.threads import wait_asleep as _wait_asleep

_wait_asleep()  # before any of the modules below loads torch


def _review(*given: object, **options: object) -> object:
    from uniqueinfo.review.opening import review

    return review(*given, **options)  # type: ignore[arg-type]


_answered_by("review", _review)

# The public names and where they come from, once: type checkers read these imports, and so does `_homes` below.
if TYPE_CHECKING:
    from uniqueinfo.applications.acquire import acquire as acquire
    from uniqueinfo.applications.adversarial import adversarial as adversarial
    from uniqueinfo.applications.attribute import attribute as attribute
    from uniqueinfo.applications.compare import compare as compare
    from uniqueinfo.applications.mislabeled import mislabeled as mislabeled
    from uniqueinfo.applications.redundancy import redundancy as redundancy
    from uniqueinfo.applications.shapley import shapley as shapley
    from uniqueinfo.applications.subclasses import subclasses as subclasses
    from uniqueinfo.applications.summarize import summarize as summarize
    from uniqueinfo.applications.suspicion.label_errors import LabelErrors as LabelErrors
    from uniqueinfo.applications.validate import Validation as Validation
    from uniqueinfo.applications.validate import validate as validate
    from uniqueinfo.information.smoothing import SGD as SGD
    from uniqueinfo.information.smoothing import Fisher as Fisher
    from uniqueinfo.information.smoothing import Isotropic as Isotropic
    from uniqueinfo.information.smoothing import Langevin as Langevin
    from uniqueinfo.information.smoothing import gradient_covariance as gradient_covariance
    from uniqueinfo.information.stochastic import StochasticTraining as StochasticTraining
    from uniqueinfo.jacobian import Factorized as Factorized
    from uniqueinfo.jacobian import OutputAverage as OutputAverage
    from uniqueinfo.jacobian import OutputSketch as OutputSketch
    from uniqueinfo.jacobian import RandomCoordinates as RandomCoordinates
    from uniqueinfo.jacobian import VerySparse as VerySparse
    from uniqueinfo.jacobian.centring import centred as centred
    from uniqueinfo.jacobian.coordinates import KernelCoordinates as KernelCoordinates
    from uniqueinfo.jacobian.functions import OutputFunction as OutputFunction
    from uniqueinfo.jacobian.language import log_probability as log_probability
    from uniqueinfo.jacobian.language import sequence_margin as sequence_margin
    from uniqueinfo.jacobian.likelihood import sequence_likelihood as sequence_likelihood
    from uniqueinfo.jacobian.margins import class_margin as class_margin
    from uniqueinfo.linearization.linearization import Linearization as Linearization
    from uniqueinfo.linearization.network import LinearizedNetwork as LinearizedNetwork
    from uniqueinfo.linearization.network import linearize as linearize
    from uniqueinfo.removal.stopping import StoppingCurve as StoppingCurve
    from uniqueinfo.runs.page import report as report
    from uniqueinfo.runs.reopening import load as load
    from uniqueinfo.scores.everyone import everyone as everyone
    from uniqueinfo.scores.table import Scores as Scores
    from uniqueinfo.scoring.arrays import score_features as score_features
    from uniqueinfo.scoring.arrays import score_jacobian as score_jacobian
    from uniqueinfo.scoring.cluster import DaskEngine as DaskEngine
    from uniqueinfo.scoring.engine import LocalEngine as LocalEngine
    from uniqueinfo.scoring.estimator import UniqueInformation as UniqueInformation
    from uniqueinfo.scoring.network import score as score
    from uniqueinfo.scoring.stopping import stopping_curve as stopping_curve
    from uniqueinfo.tools.for_dattri import DattriAttributor as DattriAttributor
    from uniqueinfo.tools.for_quanda import QuandaExplainer as QuandaExplainer
    from uniqueinfo.tools.to_mlflow import log_to_mlflow as log_to_mlflow
    from uniqueinfo.tools.to_wandb import log_to_wandb as log_to_wandb
    from uniqueinfo.training import Auto as Auto
    from uniqueinfo.training import Converged as Converged
    from uniqueinfo.training import GradientDescent as GradientDescent
    from uniqueinfo.training import GradientFlow as GradientFlow
    from uniqueinfo.training import Recorded as Recorded
    from uniqueinfo.training.huggingface import RecordingCallback as RecordingCallback
    from uniqueinfo.training.lightning import LightningRecording as LightningRecording
    from uniqueinfo.training.recording import Recording as Recording
else:
    # Imported when first asked for: torch takes seconds, and `uniqueinfo --help` should not.
    from functools import cache as _cache

    @_cache
    def _homes() -> dict[str, str]:
        """Public name → module: every question of the registry, and what the imports of this file say."""
        import ast
        from pathlib import Path

        from uniqueinfo.applications.registry import questions

        found = {name: question.module for name, question in questions().items()}
        for node in ast.walk(ast.parse(Path(__file__).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                found |= {one.name: node.module for one in node.names if one.asname == one.name}
        return found

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name == "__all__":
            found = sorted(_homes())
        elif name.startswith("__") or name not in _homes():  # Python itself looks for names such as __path__
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        else:
            found = getattr(import_module(_homes()[name]), name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *_homes()})
