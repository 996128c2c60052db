"""The benchmark of the package dattri, made again here: 5,000 digits, trained again without one or without half of all.

As its code does it (0.3.0, `retrain_loo` and `retrain_lds`): without one sample the loader goes through the rest in
order, from the same seed, so all later samples move up by one place, and to other masks of dropout; a half is drawn by
a seed of its own, which also sets initial weights, dropout and the order of samples. Judged are losses of 500 queries.
Its `num_runs_per_subset` trains every half from several seeds and takes the mean: here one run, and the mean of five.

``python -m benchmarks.real_training.dattri_protocol FOLDER`` computes the truths.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import rankdata
from torch import Tensor

from benchmarks.real_training.dattri_training import SETTINGS, Digits, Setting, digits, train
from benchmarks.real_training.side_by_side import train_all
from benchmarks.real_training.truth import spread
from uniqueinfo.store.files import replacing
from uniqueinfo.types import Floats

LEFT_OUT, HALVES, RUNS = 100, 50, 5
_TOGETHER = 10
"""Trainings at a time."""
_AGAIN = 1000
"""From the seed of a half's training to that of its next."""


@dataclass(frozen=True, eq=False)
class Truths:
    """Losses of the queries after each training."""

    whole: Floats
    """(m,)."""
    samples: tuple[int, ...]
    without: Floats
    """Without each of the samples, (samples, m)."""
    without_again: Floats
    """From another seed."""
    subsets: NDArray[np.int64]
    """The samples in each half, (halves, n // 2)."""
    halves: Floats
    """Every half from several seeds, (runs, halves, m)."""


@dataclass(frozen=True)
class Agreement:
    """Spearman's correlation with trainings that happened, the mean over queries."""

    leave_one_out: float
    halves: float
    """With one training of each half."""
    halves_mean: float
    """With the mean of several."""


def agreement(effects: Floats, truths: Truths) -> Agreement:
    """Of what each sample's leaving is said to add to each query's loss, (n, m); a half has those that are in it."""
    inside = np.stack([effects[subset].sum(axis=0) for subset in truths.subsets])
    return agreement_of(effects[list(truths.samples)], -inside, truths)


def agreement_of(without: Floats, halves: Floats, truths: Truths) -> Agreement:
    """Of what losses are said to be without each sample, (samples, m), and with each half alone, (halves, m)."""
    return Agreement(
        mean_spearman(without, truths.without),
        mean_spearman(halves, truths.halves[0]),
        mean_spearman(halves, truths.halves.mean(axis=0)),
    )


def of_other_seeds(truths: Truths) -> Agreement:
    """Of the same trainings from other seeds: one other, and the mean of all but the first."""
    first, *others = truths.halves
    return Agreement(
        mean_spearman(truths.without_again, truths.without),
        float(np.mean([mean_spearman(other, first) for other in others])),
        mean_spearman(np.mean(others, axis=0), first),
    )


def ceiling(alike: float, runs: int) -> float:
    """How well what knows a half and no seed can agree with the mean of so many runs, of which two agree by `alike`.

    Of the mean's variance r·ρ / (1 + (r − 1)·ρ) is common to all seeds (Spearman and Brown); the rest nobody can know.

    >>> ceiling(0.5, 1), ceiling(0.64, 1), round(ceiling(0.5, 100), 2)
    (0.7071067811865476, 0.8, 1.0)
    """
    return float((runs * alike / (1 + (runs - 1) * alike)) ** 0.5)


def mean_spearman(said: Floats, true: Floats) -> float:
    """Over the columns, without those where all is equal, as dattri has it.

    >>> mean_spearman(np.array([[1.0, 1, 1], [2, 2, 1], [3, 0, 1]]), np.array([[1.0, 0, 1], [2, -5, 2], [9, 7, 3]]))
    0.0
    """
    ranks = [rankdata(part, axis=0) for part in (said, true)]
    left, right = (rank - rank.mean(axis=0) for rank in ranks)
    scale = np.sqrt(np.square(left).sum(axis=0) * np.square(right).sum(axis=0))
    return float(((left * right).sum(axis=0)[scale > 0] / scale[scale > 0]).mean())


def half(seed: int, samples: int) -> NDArray[np.int64]:
    """The samples of a half, as its seed draws them."""
    return np.random.default_rng(seed).choice(samples, samples // 2, replace=False)


def truths(
    setting: Setting,
    data: Digits,
    folder: Path,
    *,
    left_out: int = LEFT_OUT,
    halves: int = HALVES,
    runs: int = RUNS,
    seed: int = 0,
) -> Truths:
    """Every training is kept in the folder, and found there."""
    count = len(data.X)
    samples = spread(count, left_out)
    rests = torch.stack([_without(count, sample) for sample in samples])
    subsets = np.stack([half(seed + number, count) for number in range(halves)])
    whole = folder / f"whole-{seed}.npy"
    if not whole.is_file():
        _keep(whole, data.losses(train(setting, data, seed)))

    def without(seed: int) -> Floats:
        places = [folder / f"without-{sample}-{seed}.npy" for sample in samples]
        return _losses(setting, data, places, [seed] * len(samples), rests, shuffled=False)

    def of_halves(first: int) -> Floats:
        places = [folder / f"half-{number}-{first + number}.npy" for number in range(halves)]
        seeds = [first + number for number in range(halves)]
        return _losses(setting, data, places, seeds, torch.from_numpy(subsets), shuffled=True)

    return Truths(
        whole=np.load(whole),
        samples=tuple(samples),
        without=without(seed),
        without_again=without(seed + 1),
        subsets=subsets,
        halves=np.stack([of_halves(seed + run * _AGAIN) for run in range(runs)]),
    )


def _losses(
    setting: Setting, data: Digits, places: Sequence[Path], seeds: Sequence[int], kept: Tensor, *, shuffled: bool
) -> Floats:
    """Of the queries after each training, (trainings, m); those that are not in their place are trained."""
    missing = [number for number, place in enumerate(places) if not place.is_file()]
    for start in range(0, len(missing), _TOGETHER):
        now = missing[start : start + _TOGETHER]
        networks = train_all(setting, data, [seeds[number] for number in now], kept[now], shuffled=shuffled)
        for number, outputs in zip(now, networks.outputs(data.X_query), strict=True):
            _keep(places[number], data.losses_of(outputs))
    return np.stack([np.load(place) for place in places])


def _without(count: int, sample: int) -> Tensor:
    every = torch.arange(count)
    return every[every != sample]


def _keep(place: Path, losses: Floats) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with replacing(place) as beside, beside.open("wb") as file:
        np.save(file, losses)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where losses are kept, and found again")
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    data = digits()
    for name in arguments.settings:
        started = time.process_time()
        found = truths(SETTINGS[name], data, arguments.folder / name)
        print(f"{name}: loss {found.whole.mean():.4f}, {time.process_time() - started:.0f} s of the processor")


if __name__ == "__main__":
    main()
