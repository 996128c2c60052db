"""Kullback–Leibler divergences, in nats, from draws of two distributions, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import solve_triangular
from scipy.spatial import KDTree
from scipy.special import logsumexp

from uniqueinfo.errors import InputError
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats

_HALVES = 100
_LEVEL = 0.95


def gaussian_divergence(p: Floats, q: Floats) -> float:
    """KL between the Gaussians fitted to draws (n, d) and (m, d): ½ [δᵀΣ_q⁻¹δ + tr Σ_q⁻¹Σ_p − d + log|Σ_q|/|Σ_p|].

    >>> rng = np.random.default_rng(0)
    >>> draws = rng.normal(size=(100_000, 2))
    >>> abs(gaussian_divergence(draws + [1.0, 0.0], draws[::-1]) - 0.5) < 0.02
    True
    """
    return float(gaussian_divergences(p[None], q)[0])


def gaussian_divergences(parts: Floats, q: Floats) -> Floats:
    """The same from each of the parts (parts, n, d).

    >>> rng = np.random.default_rng(0)
    >>> parts, q = rng.normal(size=(3, 100, 2)), rng.normal(size=(100, 2))
    >>> bool(np.isclose(gaussian_divergences(parts, q)[1], gaussian_divergence(parts[1], q)))
    True
    """
    mean, root = _fit(parts)
    other_mean, other_root = _fit(q)
    inverse = np.linalg.inv(other_root)
    moved, spread = (mean - other_mean) @ inverse.T, inverse @ root
    logs = _half_log_determinant(other_root) - _half_log_determinant(root)
    squares = np.square(moved).sum(axis=1) + np.square(spread).sum(axis=(1, 2))
    divergences: Floats = (squares - mean.shape[1]) / 2 + logs
    return divergences


def mixture_divergence(p: Floats, parts: Floats) -> float:
    """KL from a Gaussian fitted to draws (n, d) to the mixture of Gaussians fitted to each of the parts (parts, m, d).

    The mean over the draws of log p(w) − log (1/M) Σ_j N_j(w).

    >>> rng = np.random.default_rng(0)
    >>> far = rng.normal(size=(4, 5000, 1)) + 100 * np.arange(4)[:, None, None]
    >>> bool(abs(mixture_divergence(far[0], far) - np.log(4)) < 0.01)  # one part in four is where p is
    True
    """
    own = _log_densities(p, p[None])[:, 0]
    return float(np.mean(own - logsumexp(_log_densities(p, parts), axis=1) + np.log(len(parts))))


def mixture_information(parts: Floats) -> float:
    """What a draw tells of its part: the mean divergence of Gaussians fitted to parts (parts, m, d) from their mixture.

    >>> rng = np.random.default_rng(0)
    >>> far = rng.normal(size=(4, 5000, 1)) + 100 * np.arange(4)[:, None, None]
    >>> bool(abs(mixture_information(far) - np.log(4)) < 0.01)
    True
    """
    count, draws, d = parts.shape
    densities = _log_densities(parts.reshape(-1, d), parts)
    own = densities[np.arange(count * draws), np.repeat(np.arange(count), draws)]
    return float(np.mean(own - logsumexp(densities, axis=1) + np.log(count)))


def knn_divergence(p: Floats, q: Floats, neighbours: int = 5) -> float:
    """KL from distances to the k-th neighbour, among the other draws of p (ρ) and among those of q (ν).

    (d/n) Σ log(ν_i/ρ_i) + log(m/(n − 1)): consistent whatever the two shapes are. Distances are taken where p is round.

    >>> rng = np.random.default_rng(0)
    >>> abs(knn_divergence(rng.normal(size=(20_000, 2)) + [1.0, 0.0], rng.normal(size=(20_000, 2))) - 0.5) < 0.05
    True
    """
    mean, root = _fit(p)
    here, there = (solve_triangular(root, (draws - mean).T, lower=True).T for draws in (p, q))
    own = KDTree(here).query(here, [neighbours + 1])[0][:, 0]
    other = KDTree(there).query(here, [neighbours])[0][:, 0]
    if not (own.all() and other.all()):
        raise InputError(
            f"nearest neighbours: {neighbours} runs and more ended at the very same weights, so these have no density "
            "and the divergence is infinite; is the training random enough?"
        )
    n, d = p.shape
    return float(d * np.mean(np.log(other / own)) + np.log(len(q) / (n - 1)))


def intervals(
    estimate: Callable[..., Sequence[float]], samples: Sequence[Floats], rng: np.random.Generator
) -> list[Interval]:
    """Intervals from several samples of draws, with intervals and less bias, from random halves of every sample.

    Drawing half without putting back spreads an estimate as much as the bootstrap does, and makes no ties, which would
    put nearest neighbours at distance zero. A bias that falls like one over the number of draws is twice as large for
    halves: what halves add on average is taken off (the jackknife).
    """
    whole = np.array(estimate(*samples))
    halves = np.array([estimate(*(_half(draws, rng) for draws in samples)) for _ in range(_HALVES)])
    spread = np.quantile(halves - halves.mean(axis=0), [(1 + _LEVEL) / 2, (1 - _LEVEL) / 2], axis=0)
    values = 2 * whole - halves.mean(axis=0)
    lows, highs = values - spread
    return [Interval(*map(float, found)) for found in zip(values, lows, highs, strict=True)]


def _half(draws: Floats, rng: np.random.Generator) -> Floats:
    return draws[rng.permutation(len(draws))[: len(draws) // 2]]


def _fit(draws: Floats) -> tuple[Floats, Floats]:
    """Means and lower roots of the covariances of draws (…, m, d)."""
    mean = draws.mean(axis=-2)
    away = draws - mean[..., None, :]
    covariance = np.swapaxes(away, -1, -2) @ away / (draws.shape[-2] - 1)
    try:
        return mean, np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError as flat:
        raise InputError(
            f"{draws.shape[-2]} runs ended at weights that do not vary in each of their {draws.shape[-1]} directions: "
            "run more often than there are weights; or training is not random there, and the divergence is infinite"
        ) from flat


def _half_log_determinant(root: Floats) -> Floats:
    """½ log|Σ| from the roots of covariances Σ (…, d, d)."""
    logs: Floats = np.log(root.diagonal(axis1=-2, axis2=-1)).sum(axis=-1)
    return logs


def _log_densities(points: Floats, parts: Floats) -> Floats:
    """log N_j(w) of the Gaussians fitted to the parts at points (n, d): (n, parts)."""
    mean, root = _fit(parts)
    count, d = mean.shape
    inverse = np.linalg.inv(root)
    away = (points @ inverse.reshape(-1, d).T).reshape(-1, count, d) - np.einsum("jab,jb->ja", inverse, mean)
    constant = _half_log_determinant(root) + d * np.log(2 * np.pi) / 2
    densities: Floats = -np.square(away).sum(axis=2) / 2 - constant
    return densities
