"""From arrays to scores in one call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Unpack

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from uniqueinfo.information.smoothing import Smoothing
from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.samples.checks import checked_columns, checked_ids, counted
from uniqueinfo.samples.frames import index_of
from uniqueinfo.samples.taken import TAKEN, encoding_words, features_words
from uniqueinfo.scores.several import NAMES
from uniqueinfo.scores.table import RESERVED, Scores
from uniqueinfo.scoring.driver import score_problem
from uniqueinfo.scoring.execution import Execution, Where
from uniqueinfo.scoring.given import GivenFeatures, jacobian_sources
from uniqueinfo.scoring.head import Head
from uniqueinfo.scoring.pieces import Sources
from uniqueinfo.scoring.problem import Names, Problem
from uniqueinfo.scoring.sources import FeatureSource, LinearizedSource
from uniqueinfo.spectrum.choice import Choice, choose
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.training import Training, as_training

Columns = pd.DataFrame | dict[str, Any] | None


def score_jacobian(
    J: Any,
    residual: Any,
    J_val: Any = None,
    residual_val: Any = None,
    *,
    initial: Any = None,
    training: Training | Literal["auto"] = "auto",
    smoothing: Smoothing | None = None,
    effects: int = 0,
    ids: Any = None,
    columns: Columns = None,
    **where: Unpack[Where],
) -> Scores:
    """Scores from Jacobian rows (n, k, D) and residuals (n, k): the bare numerics.

    `J`: the gradients of the k outputs of each sample. `residual`: targets − initial outputs.
    `J_val` (m, k, D) adds functional information, `residual_val` (m, k) the
    value. `initial` are the initial outputs themselves; without them outputs are counted from there.
    `training`: a training algorithm, or "auto". `smoothing`: adds information with another smoothing than the identity.
    `effects` keeps, for each sample, this many of the validation samples it moves most. `ids`, `columns`: names and
    further columns of the samples, for the table. `where`: how it is computed, see `Execution`. Any array may be the
    path of an .npy file, or of a folder of them.

    >>> import numpy as np
    >>> from uniqueinfo.training import Converged
    >>> J, r = np.array([[[1.0]], [[1.0]]]), np.array([[0.0], [2.0]])  # two samples of one constant: 0 and 2
    >>> scores = score_jacobian(J, r, J, training=Converged())
    >>> scores.loo_outputs.ravel(), scores.functional   # without the one, the other is all there is
    (array([2., 0.]), array([0.5, 0.5]))
    """
    execution = Execution.of("score_jacobian", where)
    validation = None if J_val is None else (J_val, residual_val)
    sources = jacobian_sources((J, residual, initial), validation, execution.device)
    choice = _choice(sources, execution)
    problem = Problem(
        sources=sources,
        choice=choice,
        training=as_training(training),
        face=partial(_face, choice),
        smoothing=smoothing,
        effects=effects,
        names=named(ids, columns, sources.train.samples),
    )
    return score_problem(problem, execution)


def score_features(
    X: Any,
    y: Any,
    X_val: Any = None,
    y_val: Any = None,
    *,
    training: Training | Literal["auto"] = "auto",
    head: Head = "balanced",
    classes: Iterable[Any] | None = None,
    smoothing: Smoothing | None = None,
    effects: int = 0,
    ids: Any = None,
    columns: Columns = None,
    **where: Unpack[Where],
) -> Scores:
    """Scores for a linear head on frozen features (n, p), trained with squared error.

    `y`: labels that are not floats name classes: two share one output (0 and 1), more get one output each; a matrix
    (n, k) of 0 and 1 says which of several labels each sample has. Floats are regression targets, (n,) or (n, k). A
    DataFrame names the labels, or numbers, by its columns. `X_val` adds functional information, `y_val` the value.
    `training`: a training algorithm, or "auto". `head`: "balanced" has an intercept, and starts from equal chances of
    all classes, or from the mean of the numbers to predict; "paper" has none, and starts from zero.
    `classes`: the classes in order, where the labels do not show them all. `smoothing`: adds information with another
    smoothing than the identity. `effects` keeps, for each sample, this many of the validation samples it moves most.
    `ids`, `columns`: names and further columns of the samples, for the table. `where`: how it is computed, see
    `Execution`: for features larger than memory name a folder `out`.

    `X` may be a DataFrame of numbers and categories (one-hot; a missing category is none of them); columns are matched
    by their names, and its index names the samples where `ids` do not. Arrays may be paths: of an .npy file, a Parquet
    file (`y` the name of its label column), or a folder of either. `X` and `X_val` may be data sets of Hugging Face
    too, `y` the name of their label column, or a list of several; `scores.to_dataset` puts the scores beside them.

    >>> import numpy as np
    >>> from uniqueinfo.training import Converged
    >>> X, y = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]), [0, 0, 1]
    >>> scores = score_features(X, y, X, training=Converged(weight_decay=1e-2))
    >>> int(scores.functional.argmax())  # the only sample of its class
    2
    """
    execution = Execution.of("score_features", where)
    sources = GivenFeatures(X, y, X_val, y_val, classes).sources(head, execution.device, as_training(training).loss)
    problem = feature_problem(sources, training, execution)
    problem = replace(
        problem,
        settings={**problem.settings, TAKEN: _taken(sources, X, X_val)},
        smoothing=smoothing,
        effects=effects,
        names=named(index_of(X) if ids is None else ids, columns, sources.train.samples, index_of(X_val)),
    )
    return score_problem(problem, execution)


def _taken(sources: Sources, X: Any, X_val: Any) -> dict[str, str]:
    """What each argument was taken for."""
    told = {}
    for given, x, y, source in ((X, "X", "y", sources.train), (X_val, "X_val", "y_val", sources.val)):
        if isinstance(source, FeatureSource):
            table = sources.train.table if isinstance(sources.train, FeatureSource) else None
            told[x] = features_words(given, table, tuple(source.X.shape))
            if source.y is not None:
                kind = np.asarray(source.y[:1]).dtype.kind
                told[y] = encoding_words(source.encoding, tuple(source.y.shape), kind)
    return told


def feature_problem(sources: Sources, training: Training | Literal["auto"], execution: Execution) -> Problem:
    """A linear head on features."""
    train = sources.train
    assert isinstance(train, FeatureSource)
    classes, choice = train.encoding.classes, _choice(sources, execution)
    return Problem(
        sources=sources,
        choice=choice,
        training=as_training(training),
        face=partial(_face, choice),
        settings={
            "classes": None if classes is None else classes.tolist(),
            NAMES: None if train.encoding.columns is None else list(train.encoding.columns),
        },
    )


def score_linearization(
    linearization: Linearization,
    probe: Probe | None,
    training: Training | Literal["auto"],
    *,
    smoothing: Smoothing | None = None,
    effects: int = 0,
    labels: NDArray[Any] | None = None,
    ids: Any = None,
    columns: Columns = None,
    progress: bool = True,
    settings: dict[str, Any] | None = None,
) -> Scores:
    """Scores of a linearization that is there already, looked at on a probe of it; the rest as in `score_jacobian`.

    `labels`: the user's, for the table. `settings`: what else to write down beside the scores.
    """
    sources = Sources(
        LinearizedSource.training(linearization, labels), None if probe is None else LinearizedSource.probed(probe)
    )
    problem = Problem(
        sources=sources,
        choice=linearization.choice,
        training=as_training(training),
        face=lambda _, __: linearization,
        smoothing=smoothing,
        effects=effects,
        names=named(ids, columns, linearization.samples, None if probe is None else probe.ids),
        settings=settings or {},
        known=linearization.system,
    )
    return score_problem(problem, Execution(progress=progress))


def named(ids: Any, columns: Columns, samples: int, validation: NDArray[Any] | None = None) -> Names:
    """What the user says of the samples, checked; `validation` are the ids of the validation samples."""
    called = None if validation is None else counted(validation)
    return Names(checked_ids(ids, samples), checked_columns(columns, samples, RESERVED), validation=called)


def _choice(sources: Sources, execution: Execution) -> Choice:
    train = sources.train
    return choose(train.samples * train.per_sample, train.width, execution.form, execution.sketch)


def _face(choice: Choice, sources: Sources, system: Eigensystem | None) -> Linearization:
    """The linearization behind scores of arrays."""
    train = sources.train
    found = train.read(slice(0, train.samples), rows=False)
    of_head: dict[str, Any] = {}
    if isinstance(train, FeatureSource):
        of_head = {
            "intercept": train.intercept,
            "start": torch.from_numpy(train.start).to(train.device),
            "table": train.table,
        }
    return Linearization(
        train.rows(), found.residual, found.initial, choice=choice, known=system, wanted=found.targets, **of_head
    )
