"""Label Studio's tasks: a list of {data, predictions, annotations}; answers are choices of the tag `label`.

The labelling interface to set up there is in `interface`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from uniqueinfo.review.formats.form import DROP, UNSURE, Answered, Format, Record, choice_of

_TAG, _OBJECT = "label", "sample"


def interface(records: Sequence[Record], classes: Sequence[str]) -> str:
    """The labelling interface for such tasks, in Label Studio's XML."""
    kind = "Image" if records and "image" in records[0].fields else "Text"
    choices = "".join(f"<Choice value={quoteattr(name)}/>" for name in (*classes, DROP, UNSURE))
    shown = f'<{kind} name="{_OBJECT}" value="${kind.lower()}"/>'
    return f'<View>{shown}<Choices name="{_TAG}" toName="{_OBJECT}" choice="single">{choices}</Choices></View>'


def _write(records: Sequence[Record], classes: Sequence[str]) -> str:
    tasks: list[dict[str, Any]] = [
        {
            "data": {"id": record.id, "given": record.given, **_shown(record.fields)},
            "predictions": [
                {"model_version": "uniqueinfo", "score": record.chance, "result": _result(record.suggested)}
            ],
            "annotations": [
                {"completed_by": {"email": by}, "result": _result(choice_of(one))}
                for by, one in record.opinions.items()
            ],
        }
        for record in records
    ]
    return json.dumps(tasks, ensure_ascii=False, indent=1)


def _shown(fields: Mapping[str, Any]) -> dict[str, str]:
    if "image" in fields or "text" in fields:
        return {name: str(value) for name, value in fields.items()}
    return {"text": "\n".join(f"{name}: {value}" for name, value in fields.items())}


def _result(choice: str) -> list[dict[str, Any]]:
    return [{"from_name": _TAG, "to_name": _OBJECT, "type": "choices", "value": {"choices": [choice]}}]


def _read(text: str) -> list[Answered]:
    found = []
    for task in json.loads(text):
        for made in task.get("annotations", ()):
            who = made.get("completed_by")
            by = who.get("email") if isinstance(who, Mapping) else None if who is None else f"label-studio {who}"
            chosen = [part["value"]["choices"][0] for part in made["result"] if part["type"] == "choices"]
            if made.get("was_cancelled"):
                chosen = [UNSURE]
            if chosen:
                found.append(Answered(str(task["data"]["id"]), str(chosen[0]), by))
    return found


FORMATS = (Format("label-studio", "tasks of Label Studio, JSON", _write, _read),)
