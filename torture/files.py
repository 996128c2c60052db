"""Small data in files of every kind, and what can go wrong with them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

SAMPLES = 24
ODD = (
    "",
    "NaN",
    "inf",
    "-inf",
    "1e999",
    "1e308",
    "1e-320",
    "'",
    '"',
    "\x1b[2J",
    "=1+1",
    "é",
    "\u202e",
    "9" * 400,
    "0x10",
    "1,5",
    " ",
    "None",
    "true",
    "2024-01-31",
    "-",
    "a\nb",
    "\t",
    "N/A",
    "🙂",
    "[1, 2]",
    "{}",
)
Maker = Callable[[Path, np.random.Generator], Path]


def table(rng: np.random.Generator) -> pd.DataFrame:
    """Two kinds of things that differ in size."""
    kind = np.arange(SAMPLES) % 2
    size = rng.normal(size=SAMPLES) + 2 * kind
    colour = rng.choice(["red", "blue"], SAMPLES)
    return pd.DataFrame({"size": size.round(4), "colour": colour, "label": np.array(["round", "square"])[kind]})


def _cells(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Some cells are something else."""
    frame = frame.astype(object)
    for _ in range(rng.integers(0, 4)):
        frame.iat[int(rng.integers(len(frame))), int(rng.integers(frame.shape[1]))] = str(rng.choice(ODD))
    return frame


def _columns(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Columns go, are renamed, are there twice; rows go, or are of one class."""
    names = list(frame.columns)
    match int(rng.integers(9)):
        case 0:
            return frame.drop(columns=str(rng.choice(names)))
        case 1:
            names[int(rng.integers(len(names)))] = str(rng.choice([*ODD, "id", "label", "weight", "functional"]))
            return frame.set_axis(names, axis=1)
        case 2:
            return frame.iloc[: int(rng.integers(0, 4))]
        case 3:
            return frame.assign(label="round")
        case 4:
            return frame.assign(label=[f"kind {row}" for row in range(len(frame))])
        case 5:
            return frame.assign(id=0)
        case 6:
            return frame.assign(id=[f"{rng.choice(ODD)}{row}" for row in range(len(frame))])
        case _:
            return frame


def _damaged(path: Path, rng: np.random.Generator) -> Path:
    """Cut off, flipped, filled with noise, or encoded otherwise."""
    content = bytearray(path.read_bytes())
    if not content:
        return path
    match int(rng.integers(8)):
        case 0:
            content = content[: int(rng.integers(len(content)))]
        case 1:
            for at in rng.integers(len(content), size=3):
                content[at] ^= 1 << int(rng.integers(8))
        case 2:
            at = int(rng.integers(len(content)))
            content[at:at] = rng.bytes(int(rng.integers(1, 40)))
        case 3 if path.suffix in (".csv", ".tsv", ".jsonl"):
            content = bytearray(content.decode().encode(str(rng.choice(["utf-16", "utf-8-sig", "utf-32"]))))
        case 4 if path.suffix in (".csv", ".tsv", ".jsonl"):
            lines = content.split(b"\n")
            lines[int(rng.integers(len(lines)))] += rng.choice([b",extra,extra", b"\x00", b'"', b"{", b"\t"])
            content = bytearray(b"\n".join(lines))
        case _:
            pass
    path.write_bytes(content)
    return path


def _text(suffix: str) -> Maker:
    def make(folder: Path, rng: np.random.Generator) -> Path:
        frame, path = _columns(_cells(table(rng), rng), rng), folder / f"table{suffix}"
        if suffix == ".jsonl":
            rows = [
                json.dumps(row)
                for row in frame.set_axis([str(name) for name in frame.columns], axis=1).to_dict("records")
            ]
            if rows and rng.random() < 0.2:
                rows[0] = json.dumps({"size": {"deep": [1]}, "colour": [1, "a"], "label": rng.choice(["a", ""])})
            path.write_text("\n".join(rows))
        else:
            frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
        return _damaged(path, rng)

    return make


def _parquet(folder: Path, rng: np.random.Generator) -> Path:
    frame, path = _columns(table(rng), rng), folder / "table.parquet"
    frame.loc[:, ~frame.columns.duplicated()].to_parquet(path)
    return _damaged(path, rng)


def _arrays(folder: Path, rng: np.random.Generator) -> Path:
    X: Any = rng.normal(size=(SAMPLES, 3))
    y: Any = np.arange(SAMPLES) % 2
    X[:, 0] += y
    path = folder / "arrays.npz"
    more: dict[str, Any] = {}
    match int(rng.integers(14)):
        case 0:
            X[int(rng.integers(SAMPLES)), 1] = rng.choice([np.nan, np.inf, 1e308, -1e39])
        case 1:
            X = X[:, :0] if rng.random() < 0.5 else X[:0]
        case 2:
            X = X.astype(rng.choice(["f2", "u1", "i8", "c16", "U8", "?", "f4"]))
        case 3:
            y = y.astype(rng.choice(["f4", "u1", "S2", "U2", "c16", "?", "M8[s]", "m8[s]"]))
        case 4:
            y = rng.choice([0, 1], (SAMPLES, int(rng.integers(0, 4))))
        case 5:
            y = rng.normal(size=(SAMPLES, 2, 2)) if rng.random() < 0.5 else np.array(1)
        case 6:
            y = y[: int(rng.integers(SAMPLES))]
        case 7:
            more = {"id": rng.choice([1, 2], SAMPLES)} if rng.random() < 0.5 else {"id": np.ones((SAMPLES, 2))}
        case 8:
            y = np.where(np.arange(SAMPLES) == 3, np.nan, y)
        case 9:
            X = X.reshape(SAMPLES, 3, 1, 1)
        case _:
            pass
    np.savez(path, X=X, y=y, **more)
    return _damaged(path, rng)


def _pictures(folder: Path, rng: np.random.Generator) -> Path:
    home = folder / "pictures"
    for name, level in (("dark", 60), ("light", 190)):
        (home / name).mkdir(parents=True)
        for number in range(5):
            pixels = (level + rng.normal(0, 20, (8, 8, 3))).clip(0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(home / name / f"{number}.jpg")
    first = home / "dark" / "0.jpg"
    match int(rng.integers(10)):
        case 0:
            _damaged(first, rng)
        case 1:
            first.write_bytes(b"")
        case 2:
            first.write_bytes(
                first.read_bytes()[:2] + b"\xff\xe1\x00\x20Exif\x00\x00" + rng.bytes(24) + first.read_bytes()[2:]
            )
        case 3:
            first.rename(os.fsdecode(os.fsencode(home / "dark") + b"/\xff\xfe.jpg"))
        case 4:
            first.unlink()
            os.mkfifo(first)
        case 5:
            (home / "empty").mkdir()
        case 6:
            (home / "dark" / "loop").symlink_to(home)
        case 7:
            (home / "stray.png").write_bytes(b"\x89PNG")
        case _:
            Image.new("CMYK", (1, 1)).save(first)
    return home


MAKERS: tuple[Maker, ...] = (_text(".csv"), _text(".csv"), _text(".tsv"), _text(".jsonl"), _parquet, _arrays, _pictures)
