"""Our own file, decisions.jsonl: what stands, one line for each person and sample."""

from __future__ import annotations

import json
from collections.abc import Sequence

from uniqueinfo.review.decisions import Decision, standing
from uniqueinfo.review.formats.form import Answered, Format, Record, choice_of


def _write(records: Sequence[Record], classes: Sequence[str]) -> str:
    return "".join(decision.line() for record in records for decision in record.opinions.values())


def _read(text: str) -> list[Answered]:
    found = standing(Decision.from_record(json.loads(line)) for line in text.split("\n") if line.strip())
    return [Answered(one.sample, choice_of(one), one.by) for opinions in found.values() for one in opinions.values()]


FORMATS = (Format("decisions", "decisions.jsonl", _write, _read),)
