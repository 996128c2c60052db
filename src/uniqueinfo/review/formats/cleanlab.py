"""cleanlab's table of label issues, as `Datalab.get_issues("label")` gives it, with ids; written as CSV.

In: a label that is called an issue becomes the predicted one; the others are not decided on.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

import pandas as pd

from uniqueinfo.review.agreement import Outcome
from uniqueinfo.review.cleaning import unarmed
from uniqueinfo.review.formats.form import Answered, Format, Record

_COLUMNS = ("is_label_issue", "label_score", "given_label", "predicted_label")


def _write(records: Sequence[Record], classes: Sequence[str]) -> str:
    rows = []
    for record in records:
        outcome = Outcome.of(record.opinions)
        issue = outcome.decision == "relabel" if record.opinions else record.suggested != record.given
        predicted = outcome.label or (record.suggested if issue else record.given)
        score = 1.0 if record.opinions and not issue else 1 - (record.chance if record.chance is not None else 1.0)
        rows.append((record.id, issue, score, record.given, predicted))
    table = pd.DataFrame(rows, columns=["id", *_COLUMNS])
    return str(table.map(unarmed).to_csv(index=False))


def _read(text: str) -> list[Answered]:
    table = pd.read_csv(io.StringIO(text), dtype={"id": str, "given_label": str, "predicted_label": str})
    table = table.rename(columns={"Unnamed: 0": "id"})  # the index, where it was written along
    issues = table[table["is_label_issue"].astype(str) == "True"]
    pairs = zip(issues["id"].astype(str), issues["predicted_label"], strict=True)
    return [Answered(_armed(name), _armed(label), "cleanlab") for name, label in pairs]


def _armed(cell: str) -> str:
    """What `unarmed` wrote, as it was."""
    return cell[1:] if cell.startswith("'") and unarmed(cell[1:]) == cell else cell


FORMATS = (Format("cleanlab", "cleanlab's table of label issues, CSV", _write, _read),)
