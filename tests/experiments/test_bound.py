from __future__ import annotations

import numpy as np

from uniqueinfo.experiments import bound
from uniqueinfo.experiments.sgd import shuffled_sgd


def test_nothing_is_left_of_the_epochs_that_are_not_run() -> None:
    X, y = (np.stack([part] * 100) for part in bound._draw(bound._POINTS, np.random.default_rng(0)))

    def after(*epochs: int) -> np.ndarray:
        """Trainings one after the other, each from zero, their orders those of one long training."""
        rng = np.random.default_rng(1)
        return [shuffled_sgd(X, y, rng, lr=bound._LR, batch_size=bound._BATCH, epochs=each) for each in epochs][-1]

    whole, last = after(bound._EPOCHS), after(bound._EPOCHS - bound._REMEMBERED, bound._REMEMBERED)
    np.testing.assert_allclose(last, whole, rtol=0, atol=1e-14)  # weights are of order one
    assert np.ptp(whole, axis=0).min() > 0.1  # orders do matter
