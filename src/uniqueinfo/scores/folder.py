"""The folder of a run: what it is of, the scores part by part, and what is done so far while it goes on.

    run.json          what the run is of, from its start; at its end the settings, and checksums of the parts
    scores.parquet/   the scores, a file for each partition of the samples
    held_out.parquet/ the same of samples that were held out for validation, each as if it were added
    features/         what a frozen network sees in the samples
    work/             what a stopped run is gone on with: sums, eigenvectors, Jacobian rows
    answers/          answers to questions asked later
    report.html       the page

Files appear whole or not at all, and what is in them depends on the data, the settings and the cut into partitions
alone, so that a run that was killed and gone on with ends with the bytes of one that was not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from uniqueinfo.errors import InputError, UniqueInfoError
from uniqueinfo.scores.saving import HELD_OUT, KIND, RECORD, TABLE
from uniqueinfo.scores.stored import StoredScores
from uniqueinfo.store.folder import OwnedFolder


@dataclass(frozen=True)
class RunFolder:
    """A run folder; made by `open` or `find`."""

    folder: OwnedFolder
    made: bool = False
    """Whether there was no such folder before."""

    @classmethod
    def open(cls, path: Path, identity: Mapping[str, Any]) -> RunFolder:
        """Begin a run, or come back to it; a folder of another run, or of other things, is refused."""
        there = path.exists()
        return cls(OwnedFolder.open(path, KIND, identity, record=RECORD), made=not there)

    @classmethod
    def find(cls, path: Path) -> RunFolder:
        """A run that was begun before."""
        if OwnedFolder(path, KIND, RECORD).owner() is None:
            raise InputError(
                f"{path}: is no run folder ({RECORD} is missing); uniqueinfo score makes one, or scores.save"
            )
        return cls(OwnedFolder(path, KIND, RECORD))

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.folder.path

    @property
    def record(self) -> dict[str, Any]:
        """What run.json says."""
        found = self.folder.owner()
        assert found is not None
        return found

    @property
    def finished(self) -> bool:
        """Whether all scores are there."""
        return "parts" in self.record

    @property
    def work(self) -> Path:
        """What a stopped run is gone on with."""
        return self.folder.inside("work")

    def has_part(self, number: int) -> bool:
        """Whether the scores of a partition are there."""
        return self.folder.has(_part(number))

    def keep_part(self, number: int, content: bytes) -> None:
        """Keep the scores of a partition, a table in Parquet."""
        self.folder.write_bytes(_part(number), content)

    @property
    def features(self) -> Path:
        """What a frozen network sees in the samples."""
        return self.folder.inside("features")

    def keep_held_out(self, content: bytes) -> None:
        """Keep the scores of samples that were held out, a table in Parquet."""
        self.folder.write_bytes(_HELD_OUT, content)

    def finish(self, settings: Mapping[str, Any], parts: int) -> None:
        """All parts are there: say so, with the settings and how to know the parts again."""
        names = [_part(number) for number in range(parts)]
        others = [_HELD_OUT] if self.folder.has(_HELD_OUT) else []
        self.folder.note(
            {
                "settings": dict(settings),
                "parts": {name: self._checksum(name) for name in names},
                "held_out": {name: self._checksum(name) for name in others},
            }
        )

    @classmethod
    def clear(cls, path: Path) -> None:
        """Remove what a run left in a folder; a folder of other things is refused, and left alone."""
        folder = OwnedFolder(path, KIND, RECORD)
        if folder.owner() is None:
            folder.check({})
            return
        if folder.has("decisions.jsonl"):
            raise InputError(
                f"{path}: holds decisions of people (decisions.jsonl), which would be lost; move that file away first"
            )
        with folder.held():
            for name in (TABLE, HELD_OUT, "work", "features", "answers", "retraining", "report.html", RECORD):
                folder.remove(name)

    @contextmanager
    def attempted(self) -> Iterator[None]:
        """What is refused meanwhile, such as a rate that diverges, leaves the folder free for a better try.

        A run that is stopped or killed leaves all it has done, and so does one of which scores are there already.
        """
        try:
            yield
        except UniqueInfoError:
            self._abandon()
            raise

    def _abandon(self) -> None:
        if any((self.path / TABLE).glob("*")):
            return
        for name in ("work", "features", RECORD):
            self.folder.remove(name)
        if self.made:
            with suppress(OSError):  # someone has put something there
                self.path.rmdir()

    def scores(self) -> StoredScores:
        """The scores of a finished run; every part is held against its checksum."""
        record = self.record
        if "parts" not in record:
            raise InputError(f"{self.path}: this run is not finished; the command that began it goes on with it")
        held_out = self._stored(record.get("held_out", {}), record["settings"])
        scores = self._stored(record["parts"], record["settings"])
        assert scores is not None
        return replace(scores, held_out=held_out)

    def _stored(self, files: Mapping[str, str], settings: Mapping[str, Any]) -> StoredScores | None:
        """A table in one or several files, each with its checksum; None where there are none."""
        for name, wanted in files.items():
            if not self.folder.has(name) or self._checksum(name) != wanted:
                raise InputError(f"{self.path / name}: is missing or damaged; score again into a new folder")
        return StoredScores(tuple(self.path / name for name in files), settings) if files else None

    def _checksum(self, name: str) -> str:
        with (self.path / name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def load_table(folder: str | Path) -> StoredScores:
    """Scores saved before, or those of a run folder, without a way back to their network."""
    path = Path(folder)
    if OwnedFolder(path, KIND, RECORD).owner() is None:
        raise InputError(
            f"{folder}: there are no scores here ({RECORD} is missing); save them with scores.save(folder)"
        )
    return RunFolder.find(path).scores()


_HELD_OUT = f"{HELD_OUT}/part-000000.parquet"


def _part(number: int) -> str:
    return f"{TABLE}/part-{number:06}.parquet"
