"""pyDVL: Shapley values of nearest neighbours, out-of-bag estimates, and influence functions."""

from __future__ import annotations

import numpy as np
import torch
from pydvl.influence.torch import NystroemSketchInfluence
from pydvl.valuation import Dataset, KNNShapleyValuation
from sklearn.neighbors import KNeighborsClassifier
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.peers.child import Found
from benchmarks.peers.effects import of_losses
from benchmarks.peers.problem import Problem, batches, half_squares, network

_NEIGHBOURS = 5  # scikit-learn's own number
_RANK = 50
_BATCH = 100


def knn_shapley(problem: Problem) -> Found:
    """What each sample adds to the accuracy of nearest neighbours, another classifier, on the validation samples."""
    train, val = (Dataset(X.numpy(), y.numpy()) for X, y in ((problem.X, problem.y), (problem.X_val, problem.y_val)))
    valuation = KNNShapleyValuation(KNeighborsClassifier(n_neighbors=_NEIGHBOURS), val, progress=False).fit(train)
    values = np.empty(len(problem.X))
    values[valuation.result.indices] = valuation.result.values
    return {"value": values, "suspicion": -values}


def nystroem(problem: Problem) -> Found:
    """Influence on every validation loss, with a low-rank sketch of the Hessian."""
    model = network(problem.trained)
    influence = NystroemSketchInfluence(model, _mean, regularization=problem.damping, rank=_RANK)
    influence.fit(DataLoader(TensorDataset(problem.X, problem.targets), batch_size=_BATCH))
    rows = []
    for X_val, y_val in batches(problem.X_val, problem.val_targets):
        factors = influence.influence_factors(X_val, y_val)
        parts = [influence.influences_from_factors(factors, X, y) for X, y in batches(problem.X, problem.targets)]
        rows.append(torch.cat(parts, dim=1))
    return of_losses(torch.cat(rows).T)


def _mean(outputs: Tensor, targets: Tensor) -> Tensor:
    return half_squares(outputs, targets).mean()
