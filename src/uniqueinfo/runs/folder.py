"""The folder of a run: what was asked (run.json), scores.parquet, shards of Jacobian rows, answers to
questions asked later, report.html.

run.json is there from the start, so that a stopped run is known and gone on with; the scores are there at the end.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uniqueinfo.errors import InputError
from uniqueinfo.store.files import replacing

if TYPE_CHECKING:
    from uniqueinfo.applications.answer import Answer
    from uniqueinfo.linearization.origin import Origin
    from uniqueinfo.scores.table import Scores

_RECORD, _SCORES = "run.json", "scores.parquet"
_IDENTITY = ("settings", "data")


@dataclass(frozen=True)
class Run:
    """A run folder; made by `Run.open` or `Run.find`."""

    folder: Path
    record: Mapping[str, Any]
    """What was asked: `settings` and `data` (its fingerprints), which make it this run, and `paths`, where data lay."""

    @classmethod
    def open(cls, folder: Path, record: Mapping[str, Any]) -> Run:
        """Begin a run, or come back to it; a folder of another run, or of other things, is refused."""
        record = json.loads(json.dumps(record))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            names = [path.name for path in folder.iterdir()]
            if _RECORD in names:
                before = cls.find(folder)
                _check_same(folder, before.record, record)
                return before
            if names:
                raise InputError(f"--out {folder}: holds {sorted(names)[0]} and no run; name a new or empty folder")
            with replacing(folder / _RECORD) as beside:
                beside.write_text(json.dumps({"run": record}, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"--out {folder}: cannot be written to ({error.strerror}); name another folder") from error
        return cls(folder, record)

    @classmethod
    def find(cls, folder: Path) -> Run:
        """A run that was begun before."""
        path = folder / _RECORD
        try:
            record = json.loads(path.read_text(encoding="utf-8"))["run"]
            return cls(folder, {key: record[key] for key in (*_IDENTITY, "paths")})
        except OSError as error:
            raise InputError(
                f"{folder}: is no run folder ({_RECORD} is missing); uniqueinfo score makes one"
            ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}: is not the record of a run, or is damaged; score again into a new folder"
            ) from error

    @property
    def finished(self) -> bool:
        """Whether the scores are there."""
        return (self.folder / _SCORES).is_file()

    @property
    def shards(self) -> Path:
        """Where Jacobian rows go, to be gone on with after a stop."""
        return self.folder / "shards"

    @property
    def streamed(self) -> Path:
        """Where an engine leaves what is done so far."""
        return self.folder / "streamed"

    @property
    def report(self) -> Path:
        """Where the page goes."""
        return self.folder / "report.html"

    def finish(self, scores: Scores, *, notes: tuple[str, ...], timings: Mapping[str, float]) -> Scores:
        """Save the scores with what was asked, what a person should know, and how long it took."""
        record = {**self.record, "notes": list(notes), "timings": dict(timings)}
        kept = replace(scores, settings={**scores.settings, "run": record})
        kept.save(self.folder)
        shutil.rmtree(self.streamed, ignore_errors=True)
        return kept

    def scores(self) -> Scores:
        """The scores of a finished run, which come back to their network when a question needs it."""
        from uniqueinfo.scores.table import load

        if not self.finished:
            raise InputError(f"{self.folder}: this run is not finished; the command that began it goes on with it")
        found = load(self.folder)
        return replace(found, source=lambda: self._revived(found))

    def _revived(self, scores: Scores) -> Origin:
        from uniqueinfo.runs.reopening import revive

        return revive(self, scores.settings)

    def keep(self, answer: Answer) -> None:
        """Keep an answer for the report; asked again, the question replaces it."""
        self._answers.mkdir(exist_ok=True)
        with replacing(self._answers / f"{answer.name}.json") as beside:
            beside.write_text(json.dumps(answer.section(), ensure_ascii=False) + "\n", encoding="utf-8")

    def answers(self) -> list[dict[str, Any]]:
        """What was asked of this run before, as the report shows it."""
        return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(self._answers.glob("*.json"))]

    @property
    def _answers(self) -> Path:
        return self.folder / "answers"


def load(folder: str | Path) -> Scores:
    """Scores saved before, or those of a run folder."""
    from uniqueinfo.scores.table import load as load_table

    scores = load_table(folder)
    return Run.find(Path(folder)).scores() if "run" in scores.settings else scores


def _check_same(folder: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    changed = _difference({key: before[key] for key in _IDENTITY}, {key: now[key] for key in _IDENTITY})
    if changed is not None:
        name, was, wanted = changed
        raise InputError(
            f"--out {folder}: was run with {name} = {json.dumps(was)}, not {json.dumps(wanted)}; name another folder"
        )


def _difference(before: Any, now: Any, name: str = "") -> tuple[str, Any, Any] | None:
    """The first setting that differs, by its dotted name."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            found = _difference(before.get(key), now.get(key), f"{name}.{key}" if name else key)
            if found is not None:
                return found
        return None
    return None if before == now else (name, before, now)
