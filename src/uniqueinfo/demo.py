"""A first look: handwritten digits with a few wrong labels, scored in seconds.

Run with ``python -m uniqueinfo.demo`` (or ``make demo``).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from uniqueinfo.errors import InputError
from uniqueinfo.scores import Scores
from uniqueinfo.scoring import score_features

_WRONG = 0.05


def main() -> None:
    """Score scikit-learn's digits and print what stands out."""
    console = Console()
    X, y, X_val, y_val = _digits()
    shown, wrong = _with_wrong_labels(y)
    started = time.perf_counter()
    scores = score_features(X, shown, X_val, y_val, columns={"true_label": y, "wrong": wrong})
    seconds = time.perf_counter() - started
    console.print(
        f"scikit-learn's digits: {len(X)} training images, {len(X_val)} for validation, ten classes; "
        f"{wrong.sum()} training labels made wrong on purpose.\n"
        f"Every image left out once, exactly, in {seconds:.1f} s. Trained by {_described(scores)}\n"
    )
    frame = scores.frame().assign(without_it=scores.loo_outputs.argmax(axis=1))
    console.print(
        _table("Most informative: what the network would lose most without", frame.nlargest(10, "functional"))
    )
    console.print(_table("Least informative: the rest of the data says the same", frame.nsmallest(5, "functional")))
    suspects = frame.nlargest(int(wrong.sum()), "loo_loss")
    console.print(
        f"Of the {len(suspects)} images whose label the network trained without them contradicts most, "
        f"[bold]{suspects.wrong.sum()}[/] are among the {wrong.sum()} with a wrong label."
    )


def _digits() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    try:
        from sklearn.datasets import load_digits
    except ImportError as missing:
        raise InputError("the demo reads scikit-learn's digits: pip install 'uniqueinfo[demo]'") from missing
    X, y = load_digits(return_X_y=True)
    X = np.column_stack([X / 16, np.ones(len(X))])  # the last column is the intercept
    order = np.random.default_rng(0).permutation(len(X))
    train, val = order[:1200], order[1200:]
    return X[train], y[train], X[val], y[val]


def _with_wrong_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    rng = np.random.default_rng(1)
    wrong = np.zeros(len(y), dtype=bool)
    wrong[rng.choice(len(y), int(_WRONG * len(y)), replace=False)] = True
    return np.where(wrong, (y + rng.integers(1, 10, len(y))) % 10, y), wrong


def _described(scores: Scores) -> str:
    training = scores.settings["training"]
    return (
        f"{training['steps']:,} steps of gradient descent at rate {training['lr']:.3g} "
        "(the stopping time with the least leave-one-out error)."
    )


def _table(title: str, frame: pd.DataFrame) -> Table:
    table = Table(title=title, title_justify="left")
    for column in ("image", "label", "true label", "predicted without it", "information", "value"):
        table.add_column(column, justify="right")
    for row in frame.itertuples():
        label = f"[red]{row.label}[/]" if row.wrong else f"{row.label}"
        table.add_row(
            f"{row.id}",
            label,
            f"{row.true_label}",
            f"{row.without_it}",
            f"{row.functional:.2e}",
            f"{row.value:+.2e}",
        )
    return table


if __name__ == "__main__":
    main()
