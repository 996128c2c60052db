"""The samples most like a given one, as the network sees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.linearization.points import Points
from uniqueinfo.scores.table import Scores
from uniqueinfo.types import Indices

_MOST_BYTES = 2**31
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Directions in which samples lie from their middle: the closer two are, the more alike the network sees them."""

    directions: NDArray[np.float32]
    """Of length one, (samples, width)."""

    @classmethod
    def of(cls, scores: Scores) -> Neighbours | None:
        """Training samples, and after them those held out; None where scores do not lead back to their network.

        None, too, where there are too many to hold.
        """
        if scores.source is None:
            return None
        origin = scores.origin
        sets = [Points.of_training(origin)]
        if scores.held_out is not None and origin.probe is not None:
            sets.append(Points.of_probe(origin.probe))
        if 4 * sum(points.count for points in sets) * sets[0].width > _MOST_BYTES:
            return None
        parts = [points.read(part).cpu().numpy().astype(np.float32) for points in sets for part in points.parts()]
        return cls.between(np.concatenate(parts))

    @classmethod
    def between(cls, points: NDArray[np.float32]) -> Neighbours:
        """From points, (samples, width).

        >>> found = Neighbours.between(np.array([[1, 0], [2, 0.1], [-3, 0], [0, 1]], dtype=np.float32))
        >>> found.closest(0, np.array([1, 2, 3]), most=2)
        array([1, 3])
        """
        middle = points - points.mean(axis=0)
        lengths = np.linalg.norm(middle, axis=1, keepdims=True)
        return cls(middle / np.maximum(lengths, _TINY))

    def closest(self, sample: int, among: Indices, most: int) -> Indices:
        """Of these samples, those most like one, the most similar first; itself is not among them."""
        others = among[among != sample]
        alike = self.directions[others] @ self.directions[sample]
        found: Indices = others[np.argsort(-alike, kind="stable")[:most]]
        return found
