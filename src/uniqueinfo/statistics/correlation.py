"""Correlations with bootstrap intervals, and the datamodeling score: how well scores agree with the truth.

Every interval redraws samples, all measures of a sample together, and takes the correlations (and ranks) anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from uniqueinfo.errors import InputError
from uniqueinfo.statistics.bootstrap import bootstrap, redrawn
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats, Indices

_FEWEST = 3
"""Samples; of two, any two measures are perfectly correlated."""
_DIGITS = 15
"""Decimals of a correlation that are more than rounding: perfect agreement is 1, not 1 − 10⁻¹⁶."""


def pearson(x: ArrayLike, y: ArrayLike, *, seed: int = 0) -> Interval:
    """The correlation of two measures of the same samples.

    With several numbers per sample, (n, each), all of them are correlated and whole samples are redrawn.

    >>> pearson([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]).value
    1.0
    """
    return _of_matrix(_measures(x, y), lambda found: found[..., 0, 1], seed)


def spearman(x: ArrayLike, y: ArrayLike, *, seed: int = 0) -> Interval:
    """The correlation of ranks, which a few large values do not rule; equal values share their rank.

    >>> spearman([1.0, 2.0, 3.0], [1.0, 10.0, 11.0]).value
    1.0
    """
    return _of_matrix(_measures(x, y), lambda found: found[..., 0, 1], seed, ranked=True)


def partial(x: ArrayLike, y: ArrayLike, given: ArrayLike, *, seed: int = 0) -> Interval:
    """The correlation of what is left of x and y once a straight line in `given` is fitted to each and subtracted.

        (r_xy − r_xz r_yz) / √((1 − r_xz²)(1 − r_yz²)),   z = given

    >>> given, other = np.arange(4.0), np.array([1.0, -1.0, -1.0, 1.0])
    >>> round(partial(given + other, given - other, given).value, 9)
    -1.0
    """

    def left(found: Floats) -> Floats:
        xy, xz, yz = found[..., 0, 1], found[..., 0, 2], found[..., 1, 2]
        size = np.sqrt((1 - xz**2) * (1 - yz**2))
        return np.divide(xy - xz * yz, size, out=np.full_like(size, np.nan), where=size > 0).clip(-1, 1)

    return _of_matrix(_measures(x, y, given), left, seed)


def lead(ours: ArrayLike, theirs: ArrayLike, truth: ArrayLike, *, seed: int = 0) -> Interval:
    """How much more closely one measure follows the truth than another: the difference of their correlations with it.

    >>> lead([1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0]).value
    2.0
    """
    return _of_matrix(_measures(ours, theirs, truth), lambda found: found[..., 0, 2] - found[..., 1, 2], seed)


def mean_correlation(scores: ArrayLike, pairs: Sequence[tuple[int, int]], *, seed: int = 0) -> Interval:
    """The mean, over pairs of rows of `scores` (measures, n), of their correlation.

    >>> mean_correlation([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0]], [(0, 1), (0, 2)]).value
    0.0
    """
    first, second = np.array(pairs).T
    return _of_matrix(_measures(*np.asarray(scores)), lambda found: found[..., first, second].mean(axis=-1), seed)


def correlation_matrix(scores: Floats) -> Floats:
    """Correlations (…, k, k) of all pairs of rows of (…, k, n); NaN where a row is constant.

    >>> correlation_matrix(np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).round(9).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    centred = scores - scores.mean(axis=-1, keepdims=True)
    size = np.linalg.norm(centred, axis=-1, keepdims=True)
    unit = np.divide(centred, size, out=np.full_like(centred, np.nan), where=size > 0)
    found: Floats = (unit @ np.swapaxes(unit, -1, -2)).clip(-1, 1)
    return found


def leave_one_out_correlation(changes: ArrayLike, truth: ArrayLike, *, seed: int = 0) -> Interval:
    """Spearman's correlation of predicted and real changes (removals, m), for each validation sample, averaged.

    Validation samples that no removal changes are left out of the mean; the interval redraws the others.

    >>> effects = np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]])
    >>> leave_one_out_correlation(effects, 10 * effects).value
    1.0
    """
    predicted, real = np.asarray(changes, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if predicted.shape != real.shape or predicted.ndim != 2 or len(predicted) < _FEWEST:
        raise InputError(
            f"changes, truth: expected (removals, validation samples) twice, with {_FEWEST} removals or more, got "
            f"{predicted.shape} and {real.shape}; check that both are of the same removals"
        )
    ranks = rankdata(np.stack([predicted.T, real.T], axis=1), axis=-1)
    each = correlation_matrix(ranks)[:, 0, 1].round(_DIGITS)
    each = each[np.isfinite(each)]
    if len(each) == 0:
        raise InputError(
            "changes, truth: for every validation sample one of them is the same whatever is removed, so there is "
            "nothing to rank; give other removals or validation samples"
        )
    return bootstrap(each, lambda drawn: drawn.mean(axis=-1), seed=seed)


def linear_datamodeling_score(
    attributions: ArrayLike, left_out: ArrayLike, truth: ArrayLike, *, seed: int = 0
) -> Interval:
    """LDS: are subsets' outputs ranked by the sum of their members' attributions?

    `attributions` (n, m): what each sample's being there adds to each validation sample's output (or margin, or
    loss). `left_out` (subsets, n): True where a sample is missing. `truth` (subsets, m): what training without them
    really gives. Spearman's correlation over subsets, for each validation sample, averaged. (Park et al. 2023.)

    >>> left_out = np.array([[True, False, False], [False, True, False], [False, False, True], [True, True, False]])
    >>> effect = np.array([[1.0], [2.0], [4.0]])
    >>> linear_datamodeling_score(effect, left_out, 7.0 - left_out @ effect).value
    1.0
    """
    effects, missing = np.asarray(attributions, dtype=np.float64), np.asarray(left_out, dtype=bool)
    if effects.ndim != 2 or missing.ndim != 2 or missing.shape[1] != len(effects):
        raise InputError(
            f"attributions (n, m) and left_out (subsets, n) do not go together: {effects.shape} and {missing.shape}; "
            "give both for the same n samples"
        )
    return leave_one_out_correlation(-(missing.astype(np.float64) @ effects), truth, seed=seed)


def random_subsets(samples: int, subsets: int, share: float = 0.5, *, seed: int = 0) -> NDArray[np.bool_]:
    """Which samples each of some random subsets leaves out, (subsets, n): this share of all, drawn without repeats.

    >>> random_subsets(10, 3, share=0.2).sum(axis=1)
    array([2, 2, 2])
    """
    size = round(share * samples)
    if not 0 < size < samples:
        raise InputError(
            f"share: {share} of {samples} samples leaves out {size}; choose one that leaves some out, and not all"
        )
    order = np.random.default_rng(seed).random((subsets, samples)).argsort(axis=1)
    return order < size


def _of_matrix(measures: Floats, figure: Callable[[Floats], Floats], seed: int, ranked: bool = False) -> Interval:
    """A figure of the correlation matrix of measures (k, n, …), or of their ranks."""

    def of(scores: Floats) -> Floats:
        return figure(correlation_matrix(rankdata(scores, axis=-1) if ranked else scores))

    def of_draws(drawn: Indices) -> Floats:
        return of(np.moveaxis(measures[:, drawn].reshape(len(measures), len(drawn), -1), 0, 1))

    samples = measures.shape[1]
    redraws = redrawn(samples, of_draws, np.random.default_rng(seed), rows=measures.size // samples)
    whole = float(of(measures.reshape(len(measures), -1)))
    return Interval.percentile(round(whole, _DIGITS), redraws)


def _measures(*given: ArrayLike) -> Floats:
    """Measures of the same samples as rows, (k, n, …), checked."""
    rows = [np.asarray(row, dtype=np.float64) for row in given]
    shapes = [row.shape for row in rows]
    if len(set(shapes)) > 1 or len(shapes[0]) == 0 or shapes[0][0] < _FEWEST:
        told = " and ".join(map(str, dict.fromkeys(shapes)))
        raise InputError(
            f"expected measures of at least {_FEWEST} samples, all of one shape, got {told}; give every measure of the "
            "same samples"
        )
    if not all(np.isfinite(row).all() for row in rows):
        raise InputError("some of the numbers to correlate are not finite; leave those samples out of every measure")
    return np.stack(rows)
