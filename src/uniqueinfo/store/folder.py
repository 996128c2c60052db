"""One kind of folder on disk: it belongs to one piece of work, says which, and is gone on with after a kill.

    owner.json            what the folder is of: its kind, its identity, and what was fixed when the work began
    NAME.safetensors, …   what is done so far

Files appear whole or not at all. Arrays carry a checksum, and a mark of what they were made from: those that are
damaged, or of something else, are as good as absent. A folder of another piece of work, or of other things, is
refused before anything in it is touched.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from uniqueinfo.errors import InputError
from uniqueinfo.store.files import held, is_leftover, replacing
from uniqueinfo.store.plain import digest

WORK = "work"
"""The kind of folders that hold what is done so far: Jacobian rows, kernels, sums, eigenvectors."""
FORMAT = "uniqueinfo-2"
"""Of every folder; 0.1 wrote none, and its folders are refused."""
_OWNER = "owner.json"


@dataclass(frozen=True)
class OwnedFolder:
    """A folder that belongs to one piece of work; made by `open` or `find`.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "squares"
    >>> folder = OwnedFolder.open(place, "squares", {"count": 3})
    >>> folder.write_arrays("all", {"squares": np.arange(3) ** 2})
    >>> OwnedFolder.open(place, "squares", {"count": 3}).read_arrays("all")
    {'squares': array([0, 1, 4])}
    >>> OwnedFolder.open(place, "squares", {"count": 4})
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: ...: holds squares made with count = 3, not 4; name another folder
    """

    path: Path
    kind: str
    record: str = _OWNER
    """The file that says what the folder is of."""

    @classmethod
    def open(cls, path: Path, kind: str, identity: Mapping[str, Any], *, record: str = _OWNER) -> OwnedFolder:
        """Begin a piece of work in a new or empty folder, or come back to it."""
        folder = cls(path, kind, record)
        wanted = json.loads(json.dumps(dict(identity)))
        folder.check(wanted)
        try:
            path.mkdir(parents=True, exist_ok=True)
            folder.tidy()
            if not folder.has(record):
                folder._say({"format": FORMAT, "kind": kind, "identity": wanted})
        except OSError as error:
            raise InputError(f"{path}: cannot be written to ({error.strerror}); name another folder") from error
        return folder

    @classmethod
    def find(cls, path: Path, kind: str, *, record: str = _OWNER) -> OwnedFolder:
        """A folder of this kind that is there."""
        folder = cls(path, kind, record)
        if folder.owner() is None:
            raise InputError(f"{path}: is no folder of {kind} ({record} is missing); check the path")
        return folder

    def check(self, identity: Mapping[str, Any]) -> None:
        """Refuse a folder of other work, or of other things; writes nothing."""
        before = self.owner()
        if before is None:
            names = [] if not self.path.is_dir() else self._names()
            if names:
                raise InputError(f"{self.path}: holds {names[0]} and no {self.kind}; name a new or empty folder")
            return
        changed = difference(before["identity"], identity)
        if changed is not None:
            name, was, wanted = changed
            raise InputError(
                f"{self.path}: holds {self.kind} made with {name} = {json.dumps(was)}, not {json.dumps(wanted)}; name "
                "another folder"
            )

    def owner(self) -> dict[str, Any] | None:
        """What the folder says it is of; None where it says nothing."""
        path = self.path / self.record
        if not path.is_file():
            return None
        try:
            found = json.loads(path.read_bytes())
            made_by = found.get("format")
            wanted = found.pop("sha256", None)
        except (ValueError, AttributeError) as error:
            raise InputError(f"{path}: is damaged; name another folder, or remove this one") from error
        if wanted is not None and wanted != digest(found):
            raise InputError(f"{path}: is damaged, as its checksum says; name another folder, or remove this one")
        if made_by != FORMAT:
            told = "uniqueinfo 0.1" if made_by is None else f"another version ({made_by})"
            raise InputError(f"{self.path}: was made by {told}, which this one does not read; name a new folder")
        if not isinstance(found.get("identity"), dict):
            raise InputError(f"{path}: is damaged; name another folder, or remove this one")
        if found.get("kind") != self.kind:
            raise InputError(f"{self.path}: holds {found.get('kind')}, not {self.kind}; name another folder")
        return dict(found)

    def note(self, about: Mapping[str, Any]) -> None:
        """Add to what the folder says of itself."""
        self._say({**(self.owner() or {}), **about})

    def _say(self, content: Mapping[str, Any]) -> None:
        """With a checksum of all it says."""
        self.write_json(self.record, {**content, "sha256": digest(json.loads(json.dumps(content)))})

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes out meanwhile."""
        with held(self.path):
            yield

    def tidy(self) -> None:
        """Remove what a process that was killed had begun to write; not while another one is at work."""
        with suppress(InputError), self.held():
            for path in self.path.rglob(".*.part"):
                if is_leftover(path.name):
                    path.unlink(missing_ok=True)

    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return (self.path / name).is_file()

    def read_json(self, name: str) -> Any:
        """What `write_json` wrote, or None."""
        path = self.path / name
        return json.loads(path.read_bytes()) if path.is_file() else None

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Plain values, for people to read too."""
        self.write_bytes(name, (json.dumps(content, indent=2, sort_keys=True) + "\n").encode())

    def write_bytes(self, name: str, content: bytes) -> None:
        """A file of any kind; its folder is made."""
        path = self.path / name
        self.inside(str(Path(name).parent)).mkdir(exist_ok=True)
        with replacing(path) as beside:
            beside.write_bytes(content)

    def inside(self, name: str) -> Path:
        """A folder in this one; one that is a link is refused, for what is written there would land elsewhere."""
        path = self.path / name
        if path != self.path and path.is_symlink():
            raise InputError(
                f"{path}: is a link to {path.readlink()}, and nothing is written through it; remove the link"
            )
        return path

    def read_arrays(self, name: str, of: str = "", only: str | None = None) -> dict[str, NDArray[Any]] | None:
        """Arrays that `write_arrays` wrote under the same mark; None where they are absent, damaged or others.

        `only` one of them is read without looking at the rest.
        """
        path = self.path / f"{name}.safetensors"
        if not path.is_file():
            return None
        try:
            with safe_open(path, framework="numpy") as file:
                marks = json.loads((file.metadata() or {}).get("marks", "{}"))
                if marks.get("of") != of:
                    return None
                names = [only] if only is not None else list(file.keys())
                found = {each: file.get_tensor(each) for each in names}
        except (SafetensorError, ValueError):
            return None
        whole = all(marks.get("sha256", {}).get(each) == _digest(array) for each, array in found.items())
        return found if whole else None

    def write_arrays(self, name: str, arrays: Mapping[str, NDArray[Any]], of: str = "") -> None:
        """Keep arrays under a name, with a mark of what they were made from."""
        plain = {each: np.ascontiguousarray(array) for each, array in arrays.items()}
        marks = {"of": of, "sha256": {each: _digest(array) for each, array in plain.items()}}
        # As one text: safetensors writes several in any order, and the same arrays are to give the same bytes.
        self.write_bytes(f"{name}.safetensors", save(plain, {"marks": json.dumps(marks, sort_keys=True)}))

    def remove(self, pattern: str) -> None:
        """Remove files and folders of this folder by a pattern."""
        for path in self.path.glob(pattern):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def _names(self) -> list[str]:
        return sorted(path.name for path in self.path.iterdir() if not is_leftover(path.name))


def difference(before: Any, now: Any, name: str = "") -> tuple[str, Any, Any] | None:
    """The first setting that differs, by its dotted name.

    >>> difference({"training": {"lr": 0.1}}, {"training": {"lr": 0.2}})
    ('training.lr', 0.1, 0.2)
    """
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            found = difference(before.get(key), now.get(key), f"{name}.{key}" if name else key)
            if found is not None:
                return found
        return None
    return None if before == now else (name, before, now)


def _digest(array: NDArray[Any]) -> str:
    return hashlib.sha256(array.reshape(-1).view(np.uint8).data if array.size else b"").hexdigest()
