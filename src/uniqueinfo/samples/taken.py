"""What each argument was taken for, in words: whoever hands over something else than meant can see it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from torch.utils.data import DataLoader

from uniqueinfo.samples.datasets import is_hugging_face, leaves
from uniqueinfo.samples.frames import FrameColumns
from uniqueinfo.samples.samples import Samples
from uniqueinfo.samples.targets import Encoding
from uniqueinfo.types import Labels

TAKEN = "taken_as"
"""Where the settings say it, by argument."""
_MOST = 6  # names that are listed


def samples_words(data: Any, samples: Samples, outputs: int, *, asked: bool = False) -> str:
    """Of data for a network; `asked`: outputs are numbers of a function, which is given the labels.

    >>> import numpy as np
    >>> from uniqueinfo.samples.samples import as_samples
    >>> pair = (np.zeros((3, 2)), [0, 1, 1])
    >>> samples_words(pair, as_samples(pair), 1)
    'a pair of arrays (inputs, labels): 3 samples; input (2) float64; two classes on one output'
    """
    batch = samples.read([0])
    if asked:
        told = "targets go to the function of the outputs"
    else:
        told = labels_words(batch.labels, outputs)
        inputs = (f"{name} {_shape(leaf)}" for name, leaf in leaves(batch.inputs).items())
        told = f"{', '.join(inputs)}; {told}"
    return f"{_kind(data)}: {len(samples):,} samples; {told}"


def labels_words(labels: Labels, outputs: int) -> str:
    """What labels of a network are, by a few of them.

    >>> import numpy as np
    >>> labels_words(np.array([2]), 3), labels_words(np.array([[1, 0]]), 2), labels_words(np.array([0.5]), 1)
    ('classes 0 … 2, one output each', '2 labels of each sample, there or not', 'a number to predict')
    """
    if labels is None:
        return "no labels"
    if labels.dtype.kind == "f":
        return "a number to predict" if outputs == 1 else f"{outputs} numbers to predict"
    if labels.ndim > 1 and labels.shape[1] > 1:
        return f"{outputs} labels of each sample, there or not"
    return "two classes on one output" if outputs == 1 else f"classes 0 … {outputs - 1}, one output each"


def features_words(X: Any, table: FrameColumns | None, shape: tuple[int, ...]) -> str:
    """Of features.

    >>> features_words(None, FrameColumns(("size",), {"kind": ("a", "b")}), (9, 3))
    'a table: 9 samples; 1 number and 1 category, 3 features'
    """
    if table is None:
        return f"{_kind(X)}: {shape[0]:,} samples; {shape[1]:,} features"
    parts = [f"{len(table.numbers)} {'number' if len(table.numbers) == 1 else 'numbers'}"] if table.numbers else []
    if table.categories:
        parts.append(f"{len(table.categories)} {'category' if len(table.categories) == 1 else 'categories'}")
    where = "a table" if table.known == "X" else table.known
    return f"{where}: {shape[0]:,} samples; {' and '.join(parts)}, {shape[1]:,} features"


def encoding_words(encoding: Encoding, shape: tuple[int, ...], kind: str) -> str:
    """Of labels for a linear head; `kind` of their numpy dtype.

    >>> import numpy as np
    >>> encoding_words(Encoding(np.array(["cat", "dog"])), (9,), "U")
    'two classes on one output: cat, dog'
    >>> encoding_words(Encoding(None, ("wet", "cold")), (9, 2), "i")
    '2 labels of each sample, there or not: wet, cold'
    """
    outputs = encoding.outputs(shape)
    if encoding.classes is not None:
        named = _listed([str(name) for name in encoding.classes])
        what = "two classes on one output" if outputs == 1 else f"{outputs} classes, one output each"
        return f"{what}: {named}"
    told = "" if encoding.columns is None else f": {_listed(list(encoding.columns))}"
    if kind != "f":
        return f"{outputs} labels of each sample, there or not{told}"
    return f"a number to predict{told}" if outputs == 1 else f"{outputs} numbers to predict{told}"


def _kind(data: Any) -> str:
    if isinstance(data, DataLoader):
        return f"a DataLoader of {_kind(data.dataset)}, in the data set's own order"
    if is_hugging_face(data, "Dataset"):
        return "a data set of Hugging Face"
    if isinstance(data, str | Path):
        return f"the file {Path(data).name}"
    if isinstance(data, tuple):
        return "a pair of arrays (inputs, labels)" if len(data) == 2 else "a tuple of arrays"
    if isinstance(data, Mapping):
        return "a dict of arrays"
    if isinstance(data, pd.DataFrame):
        return "a table"
    return "an array" if hasattr(data, "__array__") or hasattr(data, "dtype") else f"a data set ({type(data).__name__})"


def _shape(leaf: Any) -> str:
    size = " × ".join(map(str, leaf.shape[1:])) or "1"
    return f"({size}) {str(leaf.dtype).removeprefix('torch.')}"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_MOST]) + (", …" if len(names) > _MOST else "")
