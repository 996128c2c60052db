"""Argilla's records, as `dataset.records.to_json` writes them: fields, metadata, suggestions, responses by user id.

Argilla knows people by ids alone, so that their names are in the metadata too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from uuid import NAMESPACE_URL, uuid5

from uniqueinfo.review.formats.form import Answered, Format, Record, choice_of

_QUESTION, _NAME = "label", "decided_by_"


def _write(records: Sequence[Record], classes: Sequence[str]) -> str:
    found = []
    for record in records:
        people = {by: str(uuid5(NAMESPACE_URL, f"uniqueinfo:{by}")) for by in record.opinions}
        responses = [{"value": choice_of(one), "user_id": people[by]} for by, one in record.opinions.items()]
        found.append(
            {
                "id": record.id,
                "fields": {str(name): str(value) for name, value in record.fields.items()},
                "metadata": {"given": record.given, **{f"{_NAME}{number}": by for by, number in people.items()}},
                "suggestions": {_QUESTION: {"value": record.suggested, "score": record.chance, "agent": "uniqueinfo"}},
                "responses": {_QUESTION: responses} if responses else {},
                "vectors": {},
                "status": "completed" if record.opinions else "pending",
                "_server_id": None,
            }
        )
    return json.dumps(found, ensure_ascii=False, indent=1)


def _read(text: str) -> list[Answered]:
    found = []
    for record in json.loads(text):
        for response in record.get("responses", {}).get(_QUESTION, ()):
            number = response.get("user_id")
            by = record.get("metadata", {}).get(f"{_NAME}{number}") or (number and f"argilla {number}")
            found.append(Answered(str(record["id"]), str(response["value"]), by))
    return found


FORMATS = (Format("argilla", "records of Argilla, JSON", _write, _read),)
