"""scikit-learn's data sets through one call: as good as its own linear models, with planted wrong labels found."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import LeaveOneOut, cross_val_predict, cross_val_score
from sklearn.preprocessing import StandardScaler

import uniqueinfo as ui
from benchmarks.newcomers.story import Setting, Story, Told, flips, judged

_ALPHAS = tuple(10.0**power for power in range(-3, 6))
_WITHIN = 0.01
_NAMES = ("breast_cancer", "wine", "digits", "diabetes")


def sklearn_data(setting: Setting) -> Iterator[Told]:
    """Standardized, as most would hand them over; then as they come."""
    for name in _NAMES[1:2] if setting.small else _NAMES:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield _told(f"scikit-learn's {name}, standardized", StandardScaler().fit_transform(X), y)
        if not setting.small:
            yield _told(f"scikit-learn's {name}, as it comes", X, y)


def _told(story: str, X: NDArray[Any], y: NDArray[Any]) -> Told:
    return _numbers(story, X, y) if y.dtype.kind == "f" else _classes(story, X, y)


def _classes(story: str, X: NDArray[Any], y: NDArray[Any]) -> Told:
    clean = ui.score_features(X, y, progress=False)
    ours = float((clean.loo_probabilities().argmax(axis=1) == y).mean())
    wanted = float(cross_val_score(RidgeClassifierCV(_ALPHAS), X, y, cv=10).mean())
    turned, wrong = flips(y, max(3, len(y) // 50))
    began = time.perf_counter()
    answer = ui.mislabeled(ui.score_features(X, turned, progress=False))
    seconds = time.perf_counter() - began
    found, accused = judged(answer, wrong)
    missed = (f"accuracy {ours:.3f}, {wanted - ours:.3f} below",) if ours < wanted - _WITHIN else ()
    return Told(
        story,
        2,
        seconds,
        len(wrong),
        found,
        accused,
        withheld=answer.withheld,
        figures=f"leave-one-out accuracy {ours:.3f}, RidgeClassifierCV {wanted:.3f}",
        missed=missed,
    )


def _numbers(story: str, X: NDArray[Any], y: NDArray[Any]) -> Told:
    started = time.perf_counter()
    scores = ui.score_features(X, y, progress=False)
    seconds = time.perf_counter() - started
    squares = float(np.square(y - y.mean()).sum())
    ours = 1 - 2 * float(scores.loo_loss.sum()) / squares
    predicted = cross_val_predict(RidgeCV(_ALPHAS), X, y, cv=LeaveOneOut())
    wanted = 1 - float(np.square(y - predicted).sum()) / squares
    missed = (f"R² {ours:.3f}, {wanted - ours:.3f} below",) if ours < wanted - _WITHIN else ()
    return Told(story, 1, seconds, figures=f"leave-one-out R² {ours:.3f}, RidgeCV {wanted:.3f}", missed=missed)


STORY = Story("sklearn", sklearn_data)
