"""FiftyOne's samples.json: samples with classifications, as `fo.Sample.from_dict` and its dataset importers read them.

`ground_truth` is the given label, `suggested` ours, `decided` what people decided (the first person's, where there are
several; all of them are in `decisions`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from uniqueinfo.errors import InputError
from uniqueinfo.review.formats.form import Answered, Format, Record, choice_of


def _classified(label: str, confidence: float | None = None) -> dict[str, Any]:
    found = {"_cls": "Classification", "tags": [], "label": label}
    return found if confidence is None else {**found, "confidence": confidence}


def _write(records: Sequence[Record], classes: Sequence[str]) -> str:
    pictureless = next((record.id for record in records if "image" not in record.fields), None)
    if pictureless is not None:
        raise InputError(f"--format fiftyone: is of pictures, and sample {pictureless} is none; take another format")
    samples = [
        {
            "filepath": str(record.fields["image"]),
            "tags": sorted({one.decision for one in record.opinions.values()}),
            "sample_id": record.id,
            "ground_truth": _classified(record.given),
            "suggested": _classified(record.suggested, record.chance),
            **({"decided": _classified(next(iter(made.values())))} if made else {}),
            "decisions": made,
        }
        for record in records
        for made in [{by: choice_of(one) for by, one in record.opinions.items()}]
    ]
    return json.dumps({"samples": samples}, ensure_ascii=False, indent=1)


def _read(text: str) -> list[Answered]:
    found = []
    for sample in json.loads(text)["samples"]:
        made, name = sample.get("decisions") or {}, str(sample["sample_id"])
        now = (sample.get("decided") or {}).get("label")
        found += [Answered(name, str(choice), str(by)) for by, choice in made.items()]
        if now is not None and now not in made.values():  # changed in FiftyOne
            found = [one for one in found if one.id != name] + [Answered(name, str(now))]
    return found


FORMATS = (Format("fiftyone", "samples of FiftyOne, JSON", _write, _read),)
