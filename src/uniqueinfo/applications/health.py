"""Whether scores can be gone by, in two short lines: accuracy against chance, trust, copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from uniqueinfo.applications.copies import Copies
from uniqueinfo.applications.validate import agreement
from uniqueinfo.scores.several import said_of
from uniqueinfo.scores.table import Scores


def health(scores: Scores, copies: Copies | None, answers: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """For people; `answers` are what was asked of the scores before, as the page shows it.

    >>> import numpy as np
    >>> from uniqueinfo.scores.table import HeldScores
    >>> outputs = np.array([[0.1], [0.2], [0.9]])
    >>> scores = HeldScores(weight=np.ones(3), loo_outputs=outputs, outputs=outputs, targets=outputs.round(),
    ...                     labels=np.array([0, 0, 1]))
    >>> for line in health(scores, Copies(leaks=1, exact=1, first=("b",), twice=0)): print(line)
    Leave-one-out accuracy is 100 %; always naming the commonest class gives 67 %. How far to trust the scores was not \
measured: uniqueinfo validate does.
    1 training sample is also in the validation data: b; no training sample is there twice.
    """
    known = said_of(scores)
    first = [] if known is None else [known.health.sentence]
    said = "; ".join(Copies(None).sentences if copies is None else copies.sentences)
    return [" ".join([*first, _trust(scores, answers)]), f"{said[0].upper()}{said[1:]}."]


def is_linear(settings: Mapping[str, Any]) -> bool:
    """Whether a linear head is all that the run trains, on the inputs or on what a pretrained network sees in them.

    >>> [is_linear({"run": {"settings": {"model": {"name": name}}}}) for name in ("linear", "features:lite", "mlp:8")]
    [True, True, False]
    """
    model = str(settings.get("run", {}).get("settings", {}).get("model", {}).get("name"))
    return model == "linear" or model.startswith("features:")


def _trust(scores: Scores, answers: Sequence[Mapping[str, Any]]) -> str:
    validated = next((answer for answer in answers if answer["name"] == "validate"), None)
    if validated is not None:
        word = agreement(validated["spearman"]["functional"]["value"])
        return f"Held against training again, the scores agree {word}."
    if is_linear(scores.settings):
        return "The model is linear, so the scores are exact."
    return "How far to trust the scores was not measured: uniqueinfo validate does."
