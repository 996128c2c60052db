"""Scores and views to make reports of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

import uniqueinfo as ui
from uniqueinfo.pages import SampleViews, View, summarize, write
from uniqueinfo.scores.table import HeldScores

SCRIPT = "<script>alert(1)</script>"


def digits(n: int = 120, wrong: int = 6, **given: Any) -> tuple[ui.Scores, SampleViews]:
    """A linear head on scikit-learn's digits, the first labels made wrong, with effects and pictures."""
    X, y = load_digits(return_X_y=True)
    labels = y[:n].copy()
    labels[:wrong] = (labels[:wrong] + 5) % 10
    features = np.column_stack([X / 16, np.ones(len(X))])
    settings: dict[str, Any] = {
        "training": ui.GradientDescent(0.1, 400),
        "head": "paper",
        "effects": 4,
        "ids": [f"digit-{i:03d}" for i in range(n)],
        "columns": {"source": np.where(np.arange(n) % 3 == 0, "paper", "screen"), "ink": X[:n].mean(axis=1)},
    }
    scores = ui.score_features(features[:n], labels, features[n : n + 40], y[n : n + 40], **(settings | given))
    pictures = (255 - X.reshape(-1, 8, 8) * 15).astype(np.uint8)
    views = SampleViews(lambda i: pictures[i], lambda j: View(picture=pictures[n + j], caption=f"a {y[n + j]}"))
    return scores, views


def hostile() -> tuple[ui.Scores, SampleViews]:
    """Labels, ids, columns, texts and captions that are markup."""
    rng = np.random.default_rng(0)
    labels = np.array([SCRIPT, "</script><img src=x onerror=alert(2)>", "a & b"] * 20)
    scores = ui.score_features(
        pd.DataFrame(rng.normal(size=(60, 4))),
        labels,
        pd.DataFrame(rng.normal(size=(9, 4)), index=[f"{SCRIPT} felt {j}" for j in range(9)]),
        effects=3,
        ids=[f"{SCRIPT}{i}" for i in range(60)],
        columns={SCRIPT: [SCRIPT, "'\"><b>bold</b>"] * 30, "note": [f"<i>{i}</i>\u2028" for i in range(60)]},
    )
    views = SampleViews(lambda i: f"{SCRIPT} text {i}", lambda j: View(row={SCRIPT: SCRIPT}, caption="<b>"))
    return scores, views


def synthetic(n: int, k: int = 3, **given: Any) -> ui.Scores:
    """Scores of any size, without computing them."""
    rng = np.random.default_rng(0)
    targets = np.eye(k)[np.arange(n) % k]
    outputs = targets * 0.7 + rng.normal(scale=0.2, size=(n, k))
    settings: dict[str, Any] = {
        "weight": rng.lognormal(size=n),
        "functional": rng.lognormal(sigma=2, size=n),
        "value": rng.normal(size=n),
        "loo_outputs": outputs,
        "outputs": targets,
        "targets": targets,
        "labels": np.arange(n) % k,
    }
    return HeldScores(**(settings | given))


def written(
    scores: ui.Scores, path: Path, *, samples: SampleViews | None = None, answers: Sequence[Mapping[str, Any]] = ()
) -> Path:
    """The page of scores."""
    return write(summarize(scores, samples, answers), path)
