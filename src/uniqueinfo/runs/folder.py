"""The folder of a run of the command line: beside the scores, what was asked, and the answers to later questions."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from uniqueinfo.applications.answer import Answer
from uniqueinfo.scores.folder import RunFolder
from uniqueinfo.scores.stored import StoredScores
from uniqueinfo.store.plain import digest

_IDENTITY = ("settings", "data")
_ANSWERS = "answers"


@dataclass(frozen=True)
class Run:
    """A run folder; made by `Run.open` or `Run.find`."""

    folder: RunFolder

    @classmethod
    def open(cls, path: Path, record: Mapping[str, Any]) -> Run:
        """Begin a run, or come back to it: `settings` and `data` make it this run; `paths` are where its data lies."""
        identity = {key: record[key] for key in _IDENTITY}
        run = cls(RunFolder.open(path, identity))
        if "paths" not in run.folder.record:
            run.folder.folder.note({"paths": dict(record["paths"])})
        return run

    @classmethod
    def find(cls, path: Path) -> Run:
        """A run that was begun before."""
        return cls(RunFolder.find(path))

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.folder.path

    @property
    def asked(self) -> bool:
        """Whether the command line made it, so that its data and network can be come back to."""
        return set(_IDENTITY) <= set(self.folder.record["identity"])

    @property
    def record(self) -> dict[str, Any]:
        """What was asked: `settings`, `data` (fingerprints) and `paths`; once it is done also what `told` was told."""
        found = self.folder.record
        also = {key: found[key] for key in ("paths", "notes", "timings", "copies") if key in found}
        return {**found["identity"], **also}

    @property
    def finished(self) -> bool:
        """Whether the scores are there; of a run of the command line also what it tells of them, which comes last."""
        return self.folder.finished and (not self.asked or "timings" in self.folder.record)

    @property
    def report(self) -> Path:
        """Where the page goes."""
        return self.path / "report.html"

    def told(self, *, notes: tuple[str, ...], timings: Mapping[str, float], copies: Mapping[str, Any]) -> None:
        """What a person should know, how long it took, and which samples are there twice."""
        self.folder.folder.note({"notes": list(notes), "timings": dict(timings), "copies": dict(copies)})

    def scores(self) -> StoredScores:
        """The scores, with what was asked among their settings where the command line made them."""
        found = self.folder.scores()
        return replace(found, settings={**found.settings, "run": self.record}) if self.asked else found

    def keep(self, answer: Answer) -> None:
        """Keep an answer for the report, with its checksum; asked again, the question replaces it."""
        section = answer.section()
        content = json.dumps(section | {"sha256": digest(section)}, ensure_ascii=False) + "\n"
        self.folder.folder.write_bytes(f"{_ANSWERS}/{answer.name}.json", content.encode())

    @property
    def retraining(self) -> Path:
        """Where trainings without a few samples are kept."""
        return self.folder.folder.inside("retraining")

    def answers(self) -> list[dict[str, Any]]:
        """What was asked of this run before, as the report shows it; what is damaged is set aside, and said."""
        found = []
        for path in sorted((self.path / _ANSWERS).glob("*.json")):
            if not path.is_file():  # a pipe would be waited for
                continue
            section = _whole(path)
            if section is None:
                aside = path.with_suffix(".damaged")
                path.replace(aside)
                warnings.warn(
                    f"{path}: is damaged, and set aside as {aside.name}; ask {path.stem} of this run again",
                    stacklevel=2,
                )
            else:
                found.append(section)
        return found


def _whole(path: Path) -> dict[str, Any] | None:
    """An answer as it was kept; None where it is not what it was."""
    try:
        kept: dict[str, Any] = json.loads(path.read_bytes())
        return kept if kept.pop("sha256") == digest(kept) else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
