"""Scores in the log of MLflow."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from uniqueinfo.applications.answer import Answer
from uniqueinfo.errors import InputError, cause
from uniqueinfo.runs.page import Looks
from uniqueinfo.samples.border import takes
from uniqueinfo.scores.table import SCORES, Scores
from uniqueinfo.tools.logged import gathered

_LONGEST = 500  # of the text of a parameter, which MLflow takes everywhere


@takes(scores=SCORES)
def log_to_mlflow(
    scores: Scores,
    *,
    answers: Iterable[Answer] = (),
    samples: Looks = None,
    run_id: str | None = None,
    prefix: str = "uniqueinfo",
) -> str:
    """Log `scores` to a run of MLflow: numbers and facts, the table, figures, and the page; gives back the run's id.

    `answers`: what questions gave, such as ``ui.mislabeled(scores)``: their figures are logged, and they go into the
    page. `samples`: what the samples look like, as `ui.report` takes it. `run_id`: the run; the active one where it is
    not named. `prefix` goes before all names.

        with mlflow.start_run():
            ui.log_to_mlflow(scores, answers=[ui.mislabeled(scores)])
    """
    mlflow: Any = library("mlflow")
    active = mlflow.active_run()
    if run_id is None and active is None:
        raise InputError("run_id: no run of MLflow is active; call it inside `with mlflow.start_run():`, or name one")
    run, client = run_id or active.info.run_id, mlflow.MlflowClient()
    with gathered(scores, answers, samples) as found:
        for name, number in found.numbers.items():
            client.log_metric(run, f"{prefix}/{name}", number)
        for name, text in found.facts.items():
            client.log_param(run, f"{prefix}/{name}", text[:_LONGEST])
        for name, figure in found.figures.items():
            client.log_figure(run, figure, f"{prefix}/{name}.png")
        for path in (found.table, found.page):
            client.log_artifact(run, str(path), prefix)
    return str(run)


def library(name: str) -> Any:
    """A library that may be missing, which is an extra of the same name."""
    try:
        return import_module(name)
    except ImportError as absent:
        raise InputError(f"{name} cannot be imported ({cause(absent)}): pip install 'uniqueinfo[{name}]'") from absent
