"""Whatever a user gets wrong is told in one line, cause and remedy, with exit code 2."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.cli.calling import Caller
from tests.runs.readers import files

Arguments = tuple[Any, ...]


def _score(*arguments: Any) -> Callable[[Path], Arguments]:
    """`score` with an --out of its own; callables are given the folder to work in."""
    return lambda folder: (
        "score",
        *(argument(folder) if callable(argument) else argument for argument in arguments),
        "--out",
        folder / "run",
    )


def _csv(**changes: Any) -> Callable[[Path], Path]:
    """A table in which columns are changed, or single cells given as {row: value}."""

    def write(folder: Path) -> Path:
        frame = files.table()
        for name, change in changes.items():
            if change is None:
                frame = frame.drop(columns=name)
            elif isinstance(change, dict):
                column = frame[name].astype(object)
                for row, value in change.items():
                    column[row] = value
                frame[name] = column
            else:
                frame[name] = change
        return files.csv(folder / f"{'-'.join(changes) or 'table'}.csv", frame)

    return write


def _npz(name: str = "train.npz", **options: Any) -> Callable[[Path], Path]:
    return lambda folder: files.npz(folder / name, **options)


def _written(name: str, content: bytes | str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def _pictures(change: Callable[[Path], object]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        made = files.pictures(folder / "pictures")
        change(made)
        return made

    return write


def _without_x(folder: Path) -> Path:
    np.savez(folder / "a.npz", features=np.ones(3))
    return folder / "a.npz"


def _of_objects(folder: Path) -> Path:
    np.savez(folder / "o.npz", X=np.array([{}, {}]), y=np.arange(2))
    return folder / "o.npz"


def _of_nan(folder: Path) -> Path:
    return files.npz(folder / "train.npz", X=np.full((24, 2), np.nan))


def _other_weights(folder: Path) -> Path:
    """Those of a network that has nothing to do with the one asked for."""
    torch.save(torch.nn.Linear(3, 8).state_dict(), folder / "weights.pth")
    return folder / "weights.pth"


def _truncated_idx(folder: Path) -> Path:
    path = files.idx(folder / "train-images-idx3-ubyte", np.zeros((9, 4, 4), np.uint8))
    path.write_bytes(path.read_bytes()[:-5])
    return path


def _unequal_idx(folder: Path) -> Path:
    files.idx(folder / "train-labels-idx1-ubyte", np.zeros(8, np.uint8))
    return files.idx(folder / "train-images-idx3-ubyte", np.zeros((9, 4, 4), np.uint8))


def _model(code: str) -> Callable[[Path], str]:
    return lambda folder: f"{_written('net.py', code)(folder)}:make"


def _full_folder(folder: Path) -> Path:
    (folder / "full").mkdir()
    return _written("a.txt", "")(folder / "full")


def _into(make: Callable[[Path], object], out: str) -> Callable[[Path], Arguments]:
    def arguments(folder: Path) -> Arguments:
        make(folder)
        return ("score", files.npz(folder / "train.npz"), "--out", folder / out)

    return arguments


MISTAKES: dict[str, tuple[Callable[[Path], Arguments], str, str]] = {
    "no such file": (_score("nowhere.csv"), "no such file", "check the path"),
    "file of no known kind": (_score(_written("notes.txt", "hello")), "no known kind", ".parquet"),
    "pickle as data": (_score(_written("data.pkl", pickle.dumps([1]))), "never opened", "np.savez"),
    "missing label column": (_score(_csv(), "--label", "price"), "no label column 'price'", "size, colour, kind"),
    "no label column to guess": (_score(_csv()), "no column named label", "--label"),
    "one class": (_score(_csv(kind="round"), "--label", "kind"), "are of class round", "another class"),
    "a number for a label": (_score(_csv(label=range(24))), "which are no classes", "--task regression"),
    "missing label": (_score(_csv(kind={5: None}), "--label", "kind"), "row 5", "--fill drop"),
    "NaN cell": (_score(_csv(size={7: None}), "--label", "kind"), "'size' in 1 row (first row 7)", "--fill median"),
    "empty cells in several columns": (
        _score(_csv(size={7: None}, width=[*range(23), None], kind={4: None, 5: None}), "--label", "kind"),
        "'size' in 1 row (first row 7), 'width' in 1 row (first row 23) and the label 'kind' in 2 rows (first row 4)",
        "--fill drop",
    ),
    "label that is not there, and a median for it": (
        _score(_csv(kind={4: None}), "--label", "kind", "--fill", "median"),
        "the label 'kind' in 1 row (first row 4)",
        "--fill drop",
    ),
    "nothing to take a median of": (
        _score(_csv(width=[None] * 24), "--label", "kind", "--fill", "median"),
        "'width' has no value in the training rows",
        "--extra",
    ),
    "no row without an empty cell": (
        _score(_csv(width=[None] * 24), "--label", "kind", "--fill", "drop"),
        "every row has an empty cell ('width' in 24 rows",
        "--fill median",
    ),
    "duplicate ids": (
        _score(_csv(id=[3, *range(1, 24)]), "--label", "kind"),
        "id 3 names 2 samples (rows 0, 3, counted from 0)",
        "--number",
    ),
    "empty id": (_score(_csv(id=[None, *range(1, 24)]), "--label", "kind"), "the id 'id' is empty", "--number"),
    "misspelt label": (_score(_csv(), "--label", "knid"), "no label column 'knid'", "did you mean 'kind'?"),
    "misspelt id": (_score(_csv(), "--label", "kind", "--id", "sise"), "--id: there is no", "did you mean 'size'?"),
    "misspelt text": (_score(_csv(), "--label", "kind", "--text", "color"), "--text: there is", "mean 'colour'?"),
    "misspelt extra": (_score(_csv(), "--label", "kind", "--extra", "Colour"), "--extra: there", "mean 'colour'?"),
    "embedding that is not there": (
        _score(_csv(review=["a film that is very dull"] * 24), "--label", "kind", "--embed", "/gone/model"),
        "--embed /gone/model",
        "name a folder that holds one",
    ),
    "no such id column": (_score(_csv(), "--label", "kind", "--id", "who"), "no column 'who'", "size, colour"),
    "empty table": (_score(_written("empty.csv", "")), "empty", ""),
    "table without rows": (_score(_written("head.csv", "size,label\n")), "no rows", ""),
    "text posing as Parquet": (_score(_written("t.parquet", "a,b\n1,2\n")), "cannot be read as PARQUET", "convert"),
    "npz without X": (_score(_without_x), "no array X", "np.savez"),
    "objects in an npz": (
        _score(_of_objects),
        "plain arrays",
        "np.savez",
    ),
    "NaN in an array": (_score(_of_nan), "sample 0 holds NaN", "mend it"),
    "fewer labels than samples": (_score(_unequal_idx), "9 samples and 8 labels", "one label for each"),
    "truncated IDX": (_score(_truncated_idx), "where its header says", "fetch it again"),
    "other features in validation": (
        _score(_npz(), "--val", _npz("val.npz", features=4)),
        "of shape (4,)",
        "make them alike",
    ),
    "column missing in validation": (
        _score(_csv(), "--label", "kind", "--val", _csv(size=None)),
        "column 'size' is missing",
        "--extra",
    ),
    "unknown label in validation": (
        _score(_csv(), "--label", "kind", "--val", _csv(kind={2: "oval"})),
        "'oval'",
        "mend it",
    ),
    "too few to hold out": (_score(_npz(samples=2)), "too few", "--val"),
    "empty folder": (lambda f: ("score", f, "--out", f / "run"), "no pictures", "class folders"),
    "empty class folder": (_score(_pictures(lambda f: (f / "gray").mkdir())), "gray: this class folder", "fill it"),
    "picture beside class folders": (
        _score(_pictures(lambda f: (f / "dark" / "0.jpg").rename(f / "0.jpg"))),
        "0.jpg lies beside",
        "move it",
    ),
    "corrupt JPEG": (
        _score(_pictures(lambda f: (f / "dark" / "1.jpg").write_bytes((f / "dark" / "2.jpg").read_bytes()[:300]))),
        "1.jpg: cannot be read",
        "--skip-broken",
    ),
    "text posing as JPEG": (
        _score(_pictures(lambda f: (f / "dark" / "1.jpg").write_text("hello"))),
        "not a picture",
        "--skip-broken",
    ),
    "unknown model": (_score(_npz(), "--model", "forest"), "--model forest: unknown", "mlp:WIDTH"),
    "width that is no number": (_score(_npz(), "--model", "mlp:wide"), "mlp:wide", "mlp:1024"),
    "library that is not there": (_score(_npz(), "--model", "timm:vit"), "timm cannot be imported", "uniqueinfo[timm]"),
    "model file that is not there": (_score(_npz(), "--model", "net.py:make"), "no file net.py", "check"),
    "model file without the function": (_score(_npz(), "--model", _model("x = 1")), "no function 'make'", "check"),
    "model function that fails": (_score(_npz(), "--model", _model("def make(): 1 / 0")), "ZeroDivision", "--debug"),
    "model function without a network": (_score(_npz(), "--model", _model("def make(): ...")), "NoneType", "nn.Module"),
    "weights of another network": (
        _score(_npz(), "--model", "mlp:8", "--weights", _other_weights),
        "the network's 1.weight",
        "another network",
    ),
    "trained weights of another network": (
        _score(_npz(), "--model", "mlp:8", "--trained", _other_weights),
        "does not fit the network",
        "state_dict()",
    ),
    "trained weights that are not there": (
        _score(_npz(), "--model", "mlp:8", "--trained", "gone.pth"),
        "--trained gone.pth: there is no such file",
        "check",
    ),
    "trained weights of a centred network": (
        _score(_npz(), "--model", "mlp:8", "--centred", "--trained", _other_weights),
        "--centred, --trained",
        "drop one",
    ),
    "pickle posing as weights": (
        _score(_npz(), "--model", "mlp:8", "--weights", _written("w.pth", pickle.dumps(Path("x")))),
        "more than tensors",
        "state_dict()",
    ),
    "text posing as safetensors": (
        _score(_npz(), "--model", "mlp:8", "--weights", _written("w.safetensors", "hello")),
        "not a safetensors file",
        "",
    ),
    "weights for a linear model": (
        _score(_npz(), "--weights", _written("w.pth", b"")),
        "takes no weights",
        "drop",
    ),
    "rate that diverges": (
        _score(_npz(), "--model", "mlp:8", "--lr", 1e3, "--steps", 10),
        "diverges",
        "lr must stay below",
    ),
    "rate without steps": (_score(_npz(), "--lr", 0.1), "descent: needs --steps", "--training auto"),
    "descent without anything": (_score(_npz(), "--training", "descent"), "needs --lr and --steps", "--training auto"),
    "rate of auto": (
        _score(_npz(), "--training", "auto", "--lr", 0.1),
        "auto: chooses for itself and has no --lr",
        "--training descent",
    ),
    "decay of auto": (_score(_npz(), "--weight-decay", 0.1), "has no --weight-decay", "--training descent"),
    "rate of training to the end": (_score(_npz(), "--training", "converged", "--lr", 0.1), "has no --lr", "drop it"),
    "momentum of flow": (
        _score(_npz(), "--training", "flow", "--lr", 0.1, "--steps", 3, "--momentum", 0.5),
        "flow: has no --momentum",
        "drop it",
    ),
    "dropped from no export": (lambda f: ("mislabeled", f, "--drop"), "--drop", "--export too"),
    "export into no folder": (
        lambda f: ("summarize", f, "--export", f / "gone" / "kept.csv"),
        "--export",
        "a folder that is there",
    ),
    "share above one": (_score(_npz(), "--holdout", 2), "--holdout 2", "below 1"),
    "out below a file": (_into(_written("taken", ""), "taken/run"), "cannot be written", "another folder"),
    "out full of other things": (
        _into(_full_folder, "full"),
        "holds a.txt",
        "empty folder",
    ),
    "no run to show": (lambda f: ("show", f), "no run folder", "uniqueinfo score"),
    "no run to report": (lambda f: ("report", f), "no run folder", "uniqueinfo score"),
}


@pytest.mark.parametrize(("arguments", "cause", "remedy"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_in_one_line(
    tmp_path: Path, uniqueinfo: Caller, arguments: Callable[[Path], Arguments], cause: str, remedy: str
) -> None:
    answer = uniqueinfo(*arguments(tmp_path))
    assert answer.code == 2
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1
    assert cause in answer.err
    assert remedy in answer.err


def test_an_unknown_option_is_a_mistake_too(uniqueinfo: Caller) -> None:
    assert uniqueinfo("score", "--nonsense").code == 2
