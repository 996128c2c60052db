"""Summary → one self-contained HTML file. Render only."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from uniqueinfo.errors import InputError
from uniqueinfo.pages import svg, words
from uniqueinfo.pages.figures import natural
from uniqueinfo.pages.parts import digest, environment, part
from uniqueinfo.pages.summarize import Summary
from uniqueinfo.pages.suspects import to_decide
from uniqueinfo.pages.views import shorten
from uniqueinfo.scores.everyone import HELD
from uniqueinfo.store.files import replacing
from uniqueinfo.store.plain import plain

_DATA = 1_300_000
"""Bytes of table in the page; with everything else it stays below two million."""
_ID, _CELL, _CHOICES = 120, 60, 60
_DECIDED_ON = 500
"""Suspects that can be decided on in the page."""
_TITLES = {
    "id": ("Sample", "The sample's id"),
    "label": ("Label", "The label it came with"),
    "place": ("Place", "Whether it was trained on, or held out for validation: then scores say what it would add"),
    "prediction": ("Without it", "What the network trained without the sample says about it"),
    "functional": ("Information", "How much the predictions on the validation data change when the sample leaves"),
    "weight": ("In weights", "How much the weights change when the sample leaves"),
    "smoothed": ("Smoothed", "The same, measured with the smoothing named in the settings"),
    "value": ("Value", "What the validation loss gains when the sample leaves; positive samples help"),
    "loo_loss": ("Leave-one-out loss", "How wrong the network trained without the sample is about it"),
    "margin": ("Margin", "Output of the given label minus the largest other one, without the sample"),
    "suspect": ("Suspect", "Whether its label looks wrong"),
}


def write(summary: Summary, path: Path) -> Path:
    """Write the page to one file that needs nothing else; gives back its path."""
    page = render(summary)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as beside:
            beside.write_text(page, encoding="utf-8")
    except OSError as failed:
        raise InputError(f"the report cannot be written to {path} ({failed.strerror}); name another place") from failed
    return path


def render(summary: Summary) -> str:
    """The page as text."""
    script = part("decide.js") + part("page.js")
    data = _page_data(summary)
    information = summary.table[summary.measure].to_dict()
    return _template().render(
        summary=summary,
        titles=_TITLES,
        style=Markup(part("page.css") + part("decide.css")),
        script=Markup(script),
        script_digest=digest(script),
        data=data,
        shown=len(data["rows"]),
        held_out=0 if summary.scores.place is None else int((summary.scores.place == HELD).sum()),
        figures={
            "distribution": svg.distribution(summary.distribution),
            "concentration": svg.concentration(summary.concentration),
            "stopping": None if summary.stopping is None else svg.stopping(summary.stopping),
        },
        cell=_cell,
        doubt=words.doubt,
        times_mean=lambda sample: information[sample] / (summary.mean or 1.0),
        suggestions=_suggestions(summary),
        settings=_settings(summary.settings),
    )


@cache
def _template() -> jinja2.Template:
    """Compiling it takes longer than most pages."""
    page = environment()
    page.filters |= {"number": _number, "shorten": shorten}
    return page.get_template("page.html")


def _suggestions(summary: Summary) -> dict[int, Any]:
    """What each suspect shown might be instead."""
    if summary.suspects is None:
        return {}
    rows = summary.suspects.frame().itertuples()
    return dict(zip(summary.suspected.tolist(), rows, strict=False))  # the first of them are shown


def _page_data(summary: Summary) -> dict[str, Any]:
    """What the page's script works on; fewer samples, from the middle, where rows are large."""
    table = summary.table
    while True:
        data = _data_of(summary, table)
        if len(json.dumps([data["rows"], data["effects"]]).encode()) <= _DATA:
            return data
        wanted = {*summary.most.tolist(), *summary.least.tolist(), *summary.suspected.tolist()}
        quarter = len(table) // 4
        ends = {*table.index[:quarter], *table.index[-quarter:]}
        smaller = table.loc[[sample in ends or sample in wanted for sample in table.index]]
        if len(smaller) == len(table):
            return data
        table = smaller


def _data_of(summary: Summary, table: pd.DataFrame) -> dict[str, Any]:
    own = [name for name in table.columns if name.startswith("column:")][:8]
    columns = [_column(name, table[name]) for name in _TITLES if name in table] + [
        _column(name, table[name]) for name in own
    ]
    cells = zip(*(column.pop("cells") for column in columns), strict=True)
    on_cards = {*summary.most.tolist(), *summary.least.tolist(), *summary.suspected.tolist()}
    views = {  # the cards' pictures are in the page already
        sample: {name: shown for name, shown in view.items() if name != "picture" or sample not in on_cards}
        for sample, view in summary.views.items()
        if sample in table.index
    }
    return {
        "columns": columns,
        "rows": [[int(sample), *row] for sample, row in zip(table.index, cells, strict=True)],
        "sort": summary.measure,
        "samples": summary.samples,
        "outputs": summary.outputs,
        "effects": {
            sample: [[j, output, _rounded(change)] for j, output, change in summary.effects[sample]]
            for sample in table.index
            if sample in summary.effects
        },
        "views": views,
        "validation": summary.validation_views,
        "validation_names": _validation_names(summary, table),
        "suspects": _suspects(summary),
        "classes": list(summary.classes or ()),
    }


def _suspects(summary: Summary) -> list[dict[str, Any]]:
    """Those to decide on here."""
    if summary.suspects is None or summary.predictions is None:
        return []
    return to_decide(summary.suspects, summary.predictions, _DECIDED_ON)


def _validation_names(summary: Summary, table: pd.DataFrame) -> dict[int, str]:
    """What the validation samples are called that are felt by samples in the page; those that are counted are not."""
    felt = summary.scores.effects
    if felt is None or felt.ids is None:
        return {}
    trained_on = table.index[table.index < len(felt.change)]  # those held out come after them, and are felt by none
    numbers, ids = (each[trained_on].ravel().tolist() for each in (felt.validation, felt.ids))
    return {number: shorten(str(name), _ID) for number, name in zip(numbers, ids, strict=True)}


def _column(name: str, values: pd.Series[Any]) -> dict[str, Any]:
    """A column for the page: numbers rounded; a few distinct texts as numbers into a list, to filter by."""
    title, meaning = _TITLES.get(name, (shorten(name.removeprefix("column:"), 40), "A column of yours"))
    found: dict[str, Any] = {"name": name, "title": title, "meaning": meaning}
    if pd.api.types.is_float_dtype(values) or (pd.api.types.is_integer_dtype(values) and name != "id"):
        few = sorted(values.dropna().unique().tolist())
        if not (name.startswith("column:") and len(few) <= 12):
            return found | {"kind": "number", "cells": [_rounded(value) for value in values]}
    most = _ID if name == "id" else _CELL
    texts = [None if (value := plain(cell)) is None else shorten(_as_text(value), most) for cell in values]
    choices = list(dict.fromkeys(sorted((text for text in texts if text is not None), key=natural)))
    if name == "id" or len(choices) > _CHOICES:
        return found | {"kind": "text", "cells": texts}
    at = {text: number for number, text in enumerate(choices)}
    cells = [None if text is None else at[text] for text in texts]
    return found | {"kind": "choice", "choices": choices, "cells": cells}


def _as_text(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _rounded(value: Any) -> float | None:
    found = plain(value)
    return None if found is None else float(f"{found:.4g}")


def _number(value: float) -> str:
    """Three digits, with a power of ten where there would be many zeros.

    >>> _number(0.000267), _number(12.34), _number(1234567)
    ('2.67e-04', '12.3', '1,234,567')
    """
    if value == 0 or 1e-3 <= abs(value) < 1e3:
        return f"{value:.3g}"
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.2e}"


def _cell(value: Any) -> str:
    """A value of an answer's table."""
    if value is None:
        return "–"
    return _number(value) if isinstance(value, float) else shorten(_as_text(value), _CELL)


def _settings(settings: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and values to print; the curve is drawn, notes are told, classes are compared."""
    kept = {name: value for name, value in settings.items() if name not in ("stopping", "notes", "classes", "training")}
    return [(name.replace("_", " "), _setting(value)) for name, value in sorted(kept.items()) if value is not None]


def _setting(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_setting(one)}" for name, one in sorted(value.items()) if one is not None)
    return _number(value) if isinstance(value, float) else shorten(str(value), 400)
