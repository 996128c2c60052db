"""The covariance of the samples' gradients."""

from __future__ import annotations

import numpy as np
import pytest

from tests.information.smoothing.made import FORMS, head, ridge, train
from tests.oracles import retraining, steadystate
from tests.oracles.compare import close
from tests.problems import problem
from uniqueinfo import SGD, Converged, Linearization
from uniqueinfo.information.smoothing import gradient_covariance


@pytest.mark.parametrize("diagonal", [False, True])
def test_gradient_covariance_is_that_of_the_gradients(diagonal: bool) -> None:
    given = problem(20, 3, 12)
    training = ridge(given, "mean")
    wanted = steadystate.noise(given.J, given.residual, retraining.weights(given.J, given.residual, training))
    for form in FORMS:
        found = gradient_covariance(train(given, training, form), diagonal)
        close(found, np.diag(wanted) if diagonal else wanted, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("diagonal", [False, True])
def test_a_linear_heads_covariances_are_in_the_order_of_its_weights(diagonal: bool) -> None:
    X, Y, written = head()
    run, other = Linearization.from_features(X, Y).train(Converged(0.1)), train(written, Converged(0.1))
    close(gradient_covariance(run, diagonal), gradient_covariance(other, diagonal), atol=1e-12)
    close(SGD(0.1, 5).covariance(run), SGD(0.1, 5).covariance(other), atol=1e-12)
