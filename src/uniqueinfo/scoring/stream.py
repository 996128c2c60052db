"""Scores of samples that need not fit in memory: sums over partitions, eigenvectors, scores of partitions."""

from __future__ import annotations

import hashlib
import io
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.progress import progress
from uniqueinfo.removal.stopping import Grid, looked_at
from uniqueinfo.scores.table import Scores, load, versions
from uniqueinfo.scoring.cut import partition, slices
from uniqueinfo.scoring.engine import Engine, Session
from uniqueinfo.scoring.folder import RunFolder
from uniqueinfo.scoring.solver import Solver, Spectrum
from uniqueinfo.scoring.sources import Name, Piece, Source, Sources, digest_of
from uniqueinfo.scoring.sums import Sums
from uniqueinfo.scoring.tree import groups, tree
from uniqueinfo.spectrum import rows
from uniqueinfo.store.files import held
from uniqueinfo.training import Training


@dataclass(frozen=True, eq=False)
class Stream:
    """All that the scores depend on."""

    sources: Sources
    training: Training | Literal["auto"]
    engine: Engine
    memory: int
    ids: NDArray[Any] | None = None
    columns: pd.DataFrame | None = None
    factor: float = 1.0
    """Squared changes of mixed outputs are counted for all outputs by it."""
    settings: Mapping[str, Any] | None = None

    def scores(self, out: Path | None) -> Scores:
        """Write the scores to a folder, part by part, and leave them there; without one they come back in memory.

        The same call on the folder of a killed run goes on with it.
        """
        if out is not None:
            return self._into(out)
        with tempfile.TemporaryDirectory(prefix="uniqueinfo-") as place:
            stored = self._into(Path(place))
            return Scores(**{field.name: getattr(stored, field.name) for field in fields(Scores)})

    def _into(self, out: Path) -> Scores:
        with self.engine.open(self.sources) as session:
            folder = RunFolder(out, self._identity(session))
            with held(out):
                if not folder.finished:
                    cut = folder.begin({name: partition(source, self.memory) for name, source in self._named()})
                    _Run(self, session, folder, cut).go()
        return load(out)

    def _identity(self, session: Session) -> dict[str, Any]:
        """What makes this run another than others: looks at every sample once."""
        training = self.training if isinstance(self.training, str) else _settings(self.training)
        found: dict[str, Any] = {"training": training, "factor": self.factor, "settings": self.settings}
        for name, source in self._named():
            each = 8 * source.per_sample * source.width
            pieces = {number: Piece(name, part) for number, part in enumerate(rows.slices(source.samples, each))}
            digests = dict(_shown("Looking at every sample", session.map(digest_of, None, pieces), _sizes(pieces)))
            sha = hashlib.sha256(" ".join(digests[number] for number in pieces).encode()).hexdigest()
            found[name] = {"samples": source.samples, "content": sha, **source.identity()}
        for own, table in (("ids", self.ids), ("columns", self.columns)):
            if table is not None:
                values = pd.util.hash_pandas_object(pd.DataFrame(table), index=False).to_numpy()
                found[own] = hashlib.sha256(values.tobytes()).hexdigest()
        return found

    def _named(self) -> Iterator[tuple[Name, Source]]:
        yield "train", self.sources.train
        if self.sources.val is not None:
            yield "val", self.sources.val


@dataclass(frozen=True, eq=False)
class _Run:
    """A stream on its way into a folder; every step finds what was done before."""

    stream: Stream
    session: Session
    folder: RunFolder
    cut: Mapping[str, int]

    def go(self) -> None:
        """Everything that is not done yet."""
        spectrum = self._spectrum()
        training, about = self._training(spectrum)
        val = None if self.stream.sources.val is None else self._sums("val")
        solver = Solver.of(spectrum, training, val, self.stream.factor)
        settings = self._settings(solver, about)
        pieces = self._pieces("train")
        missing = {number: self._own(piece) for number, piece in pieces.items() if not self.folder.has_part(number)}
        found = self.session.map(_part_of, _Parts(solver, settings), missing)
        for number, part in _shown("Leaving out", found, _sizes(missing)):
            self.folder.keep_part(number, part)
        self.folder.finish(settings)

    def _spectrum(self) -> Spectrum:
        found = self.folder.spectrum
        if found is None:
            found = Spectrum.of(self._sums("train"))
            self.folder.keep_spectrum(found)
        self.folder.forget_sums("train")
        return found

    def _sums(self, name: Name) -> Sums:
        """Over all partitions: those of whole groups may lie in the folder."""
        pieces = self._pieces(name)
        wanted = groups(len(pieces))
        missing = {
            number: [pieces[at] for at in group]
            for number, group in enumerate(wanted)
            if not self.folder.has_sums(name, number)
        }
        sizes = {number: sum(map(len, parts)) for number, parts in missing.items()}
        for number, sums in _shown("Products of the rows", self.session.sums(missing), sizes):
            self.folder.keep_sums(name, number, sums)
            del sums  # read again below, a few at a time
        return tree(range(len(wanted)), partial(self.folder.sums, name), Sums.__add__)

    def _training(self, spectrum: Spectrum) -> tuple[Training, dict[str, Any]]:
        """The training, and the settings that tell about it."""
        samples, largest = spectrum.samples, float(spectrum.values.max())
        if isinstance(self.stream.training, Training):
            # Without a sample the mean is over fewer, and the rate of each larger.
            self.stream.training.check_stable(largest, max(1, samples - 1))
            return self.stream.training, {"training": _settings(self.stream.training), "stopping": None}
        about = self.folder.training
        if about is None:
            about = self._stopping(spectrum)
            self.folder.keep_training(about)
        return Training.from_settings(about["training"]), about

    def _stopping(self, spectrum: Spectrum) -> dict[str, Any]:
        source, chosen = self.stream.sources.train, looked_at(spectrum.samples)
        grid = Grid.of(spectrum.system(rows.Rows(np.empty((0, source.per_sample, source.width)))), spectrum.samples)
        each = grid.bytes_per_sample(source.width, source.per_sample, source.columns)
        pieces = {number: Piece("train", chosen[part]) for number, part in enumerate(rows.slices(len(chosen), each))}
        errors = self.session.map(_error_of, _Times(spectrum, grid), pieces)
        found = dict(_shown("Stopping time", errors, _sizes(pieces)))
        curve = grid.curve(torch.stack([found[number] for number in pieces]).sum(dim=0) / len(chosen))
        return {"training": _settings(curve.best), "stopping": curve.settings()}

    def _settings(self, solver: Solver, about: Mapping[str, Any]) -> dict[str, Any]:
        source, val = self.stream.sources.train, self.stream.sources.val
        return {
            **about,
            "smoothing": None,
            "form": "primal",
            "samples": source.samples,
            "outputs": source.per_sample * source.columns,
            "width": source.width,
            "validation_samples": None if val is None else val.samples,
            "largest_eigenvalue": float(solver.spectrum.values.max()),
            "fit_error": solver.fit_error,
            "versions": versions(),
            "stream": {"identity": self.folder.identity, "partition": self.cut["train"]},
            **(self.stream.settings or {}),
        }

    def _own(self, piece: Piece) -> _Own:
        at, ids, columns = piece.index, self.stream.ids, self.stream.columns
        assert isinstance(at, slice)
        return _Own(piece.name, at, None if ids is None else ids[at], None if columns is None else columns.iloc[at])

    def _pieces(self, name: Name) -> dict[int, Piece]:
        source = self.stream.sources.train if name == "train" else self.stream.sources.val
        assert source is not None
        return {number: Piece(name, part) for number, part in enumerate(slices(source.samples, self.cut[name]))}


@dataclass(frozen=True)
class _Own(Piece):
    """Samples with what the user says of them; without ids they are called by their places."""

    ids: NDArray[Any] | None
    columns: pd.DataFrame | None


@dataclass(frozen=True, eq=False)
class _Parts:
    """What every part of the table needs to know beside its samples."""

    solver: Solver
    settings: Mapping[str, Any]

    def __sizeof__(self) -> int:
        return sys.getsizeof(self.solver)


def _part_of(sources: Sources, parts: _Parts, piece: _Own) -> bytes:
    """A task: the scores of a partition, as they are to lie in the folder."""
    assert isinstance(piece.index, slice)
    ids = np.arange(piece.index.start, piece.index.stop) if piece.ids is None else piece.ids
    found = parts.solver.scores(sources.read(piece))
    written = io.BytesIO()
    Scores(**found, ids=ids, columns=piece.columns, settings=parts.settings).write(written)
    return written.getvalue()


@dataclass(frozen=True, eq=False)
class _Times:
    """What the error of a stopping time needs to know beside the samples."""

    spectrum: Spectrum
    grid: Grid


def _error_of(sources: Sources, times: _Times, piece: Piece) -> Tensor:
    """A task: the leave-one-out error of some samples, for every stopping time."""
    part = sources.read(piece)
    assert part.targets is not None
    system = times.spectrum.system(rows.Rows(part.rows, part.rows.device))
    return times.grid.error(system, system.left(slice(None)), part.targets - part.initial).cpu()


def _shown(what: str, found: Iterator[tuple[int, Any]], sizes: Mapping[int, int]) -> Iterator[tuple[int, Any]]:
    """What comes in, with a bar that counts its samples."""
    with progress(what, sum(sizes.values())) as advance:
        for number, result in found:
            yield number, result
            advance(sizes[number])


def _sizes(pieces: Mapping[int, Piece]) -> dict[int, int]:
    return {number: len(piece) for number, piece in pieces.items()}


def _settings(training: Training) -> dict[str, Any]:
    return training.settings()
