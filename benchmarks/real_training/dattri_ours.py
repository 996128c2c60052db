"""Our scores on the benchmark of dattri: along the recording of its one training, without samples and halves.

Then by logistic regression on what tells samples apart in that one network, for each half anew; and by what knows
neither network nor training: logistic regression on the pixels of each half.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from torch import nn
from torch.optim import Optimizer

import uniqueinfo as ui
from benchmarks.real_training.dattri_protocol import Truths
from benchmarks.real_training.dattri_training import Digits, Setting, train
from benchmarks.real_training.ours import Arrays
from uniqueinfo.removal.retracing import Retraced
from uniqueinfo.scoring.retraced import Plan, alone, followed
from uniqueinfo.types import Floats, Indices

_WEIGHTS, _GRADIENTS = 8_192, 3
_DIRECTIONS = 300
_PENALTIES, _ITERATIONS = (1e-4, 1e-3, 1e-2, 1e-1), 500


def ours_of(setting: Setting, data: Digits, truths: Truths) -> Arrays:
    """What each sample's leaving adds to each query's loss, and what the losses are with each half alone.

    Halves are told twice: as one removal of the other half, and as the sum of single effects of first order.
    """
    with tempfile.TemporaryDirectory() as folder:
        begun: list[ui.Recording] = []

        def recording(model: nn.Module, optimizer: Optimizer) -> ui.Recording:
            begun.append(ui.Recording(Path(folder) / "recording", model, optimizer))
            return begun[0]

        model = train(setting, data, 0, recording=recording)
        return _followed(data, truths, model, begun[0].finish())


def _followed(data: Digits, truths: Truths, model: nn.Module, training: ui.Recorded) -> Arrays:
    started = time.process_time()
    parameters = sum(each.numel() for each in model.parameters())
    points = (0, len(training.points) // 2, len(training.points) - 1)[-_GRADIENTS:]
    plan = Plan(min(parameters, _WEIGHTS), points, operations=0.0)
    retracing = followed(model, (data.X, data.y), (data.X_query, data.y_query), training, plan)
    how, rows = retracing.steps(), retracing.validation_rows()
    with torch.no_grad():
        outputs = model(data.X_query).double()

    def losses(of: Retraced, members: Indices) -> Floats:
        """Of the queries without these samples, (removals, m)."""
        parts = [of(alone(of, some)) for some in np.array_split(members, max(1, len(members) // 50))]
        moved = (torch.cat(parts).float() @ rows.flatten(0, 1).T).double().reshape(len(members), *outputs.shape)
        return np.stack([data.losses_of(outputs - each) for each in moved])

    others = np.stack([np.setdiff1d(np.arange(len(data.X)), half) for half in truths.subsets])
    shuffled = replace(how, training=replace(training, place="shuffled"))
    in_order = replace(how, training=replace(training, place="next"))
    found = {
        "without": losses(in_order, np.array(truths.samples)[:, None]),
        "halves": losses(shuffled, others),
        "halves_summed": losses(replace(shuffled, first_order=True), others),
    }
    return {**found, "seconds": np.array(time.process_time() - started)}


def features_of(setting: Setting, data: Digits, truths: Truths) -> Arrays:
    """Losses of the queries by logistic regression on each half, on the features of the network of all samples.

    These are the leading directions of its kernel at both ends of training, outputs taken to be alike. A decay of one
    over the time that training a half takes stands for stopping there.
    """
    torch.manual_seed(0)
    start = setting.network().eval()
    end = train(setting, data, 0)
    started = time.process_time()
    linear = ui.linearize(
        start,
        (data.X, data.y),
        (data.X_query, data.y_query),
        trained=end,
        projection=None,
        outputs=ui.OutputAverage(10),
        progress=False,
    )
    X, queries = linear.features(_DIRECTIONS), linear.features(_DIRECTIONS, linear.validation)
    steps = setting.epochs * -(-truths.subsets.shape[1] // setting.batch)
    decay = (1 - setting.momentum) / (setting.lr * steps)
    model = LogisticRegression(C=1 / (decay * truths.subsets.shape[1]), fit_intercept=False, max_iter=_ITERATIONS)
    return {"halves": _by_half(model, X, queries, data, truths), "seconds": np.array(time.process_time() - started)}


def plain_of(data: Digits, truths: Truths) -> Arrays:
    """Losses of the queries by logistic regression on each half, its decay cross-validated on all samples."""
    started = time.process_time()
    X, y, queries = (each.numpy() for each in (data.X, data.y, data.X_query))
    tuned = GridSearchCV(
        LogisticRegression(max_iter=_ITERATIONS), {"C": _PENALTIES}, scoring="neg_log_loss", refit=False
    )
    model = LogisticRegression(**tuned.fit(X, y).best_params_, max_iter=_ITERATIONS)
    return {"halves": _by_half(model, X, queries, data, truths), "seconds": np.array(time.process_time() - started)}


def _by_half(model: LogisticRegression, X: Floats, queries: Floats, data: Digits, truths: Truths) -> Floats:
    """Losses of the queries after fitting each half anew, (halves, m)."""
    y, wanted = data.y.numpy(), data.y_query.numpy()
    at = np.arange(len(wanted)), wanted
    return np.stack([-model.fit(X[half], y[half]).predict_log_proba(queries)[at] for half in truths.subsets])
