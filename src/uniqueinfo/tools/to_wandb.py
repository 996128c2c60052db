"""Scores in the log of Weights & Biases."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from uniqueinfo.applications.answer import Answer
from uniqueinfo.errors import InputError
from uniqueinfo.runs.page import Looks
from uniqueinfo.samples.border import takes
from uniqueinfo.scores.table import SCORES, Scores
from uniqueinfo.tools.logged import gathered
from uniqueinfo.tools.to_mlflow import library

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROWS = 1000  # of the table that is shown; the file has all


@takes(scores=SCORES)
def log_to_wandb(
    scores: Scores,
    *,
    answers: Iterable[Answer] = (),
    samples: Looks = None,
    run: Any = None,
    prefix: str = "uniqueinfo",
) -> str:
    """Log `scores` to a run of Weights & Biases: numbers, facts, figures, the most informative samples, and an artifact
    with the table and the page; gives back the run's id.

    `answers`: what questions gave, such as ``ui.mislabeled(scores)``: their figures are logged, and they go into the
    page. `samples`: what the samples look like, as `ui.report` takes it. `run`: the run; that of `wandb.init` where it
    is not handed over. `prefix` goes before all names.

        wandb.init(project="photos")
        ui.log_to_wandb(scores, answers=[ui.mislabeled(scores)])
    """
    wandb: Any = library("wandb")
    run = wandb.run if run is None else run
    if run is None:
        raise InputError("run: no run of Weights & Biases is active; call wandb.init() before, or hand a run over")
    first = scores.frame().iloc[(-scores.information).argsort(kind="stable")[:_ROWS]]
    with gathered(scores, answers, samples) as found:
        run.config.update({f"{prefix}/{name}": text for name, text in found.facts.items()}, allow_val_change=True)
        images = {f"{prefix}/{name}": wandb.Image(_picture(figure)) for name, figure in found.figures.items()}
        run.log(
            {f"{prefix}/{name}": number for name, number in found.numbers.items()}
            | images
            | {f"{prefix}/most_informative": wandb.Table(dataframe=first)}
            | {f"{prefix}/page": wandb.Html(found.page.read_text(encoding="utf-8"), inject=False)}
        )
        kept = wandb.Artifact(f"{prefix}-{run.id}", type="scores")
        for path in (found.table, found.page):
            kept.add_file(str(path))
        run.log_artifact(kept)
    return str(run.id)


def _picture(figure: Figure) -> Any:
    """As pixels: of figures W&B takes only those that pyplot made."""
    from PIL import Image

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=150)
    return Image.open(drawn)
