"""From arrays to scores in one call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.information.effects import strongest
from uniqueinfo.information.measures import Smoothed
from uniqueinfo.information.smoothing import SGD, Smoothing
from uniqueinfo.information.uncertainty import errors as estimated_errors
from uniqueinfo.linearization.linearization import Linearization, Probe
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.memory import as_bytes
from uniqueinfo.progress import showing
from uniqueinfo.removal.stopping import stopping_curve
from uniqueinfo.samples.encoding import Encoding, as_labels
from uniqueinfo.scores.table import RESERVED, Scores, versions
from uniqueinfo.spectrum.choice import Form
from uniqueinfo.training import Training

if TYPE_CHECKING:
    from uniqueinfo.scoring.engine import Engine
    from uniqueinfo.scoring.sources import Sources

Columns = pd.DataFrame | dict[str, Any] | None


def score_jacobian(
    J: Any,
    residual: Any,
    J_val: Any = None,
    residual_val: Any = None,
    *,
    training: Training | Literal["auto"] = "auto",
    smoothing: Smoothing | None = None,
    initial: Any = None,
    form: Form = "auto",
    sketch: int | None = None,
    effects: int = 0,
    ids: Any = None,
    columns: Columns = None,
    device: torch.device | str | None = None,
    memory: str | int | None = None,
    engine: Engine | str | None = None,
    out: str | Path | None = None,
) -> Scores:
    """Scores from Jacobian rows (n, k, D) and residuals (n, k): the bare numerics.

    `residual` is targets − initial outputs. `initial` are the initial outputs themselves; without them `outputs` and
    `loo_outputs` are counted from there. `J_val` (m, k, D) adds functional information, `residual_val` (m, k) the
    value. `effects` keeps, for each sample, this many of the validation samples it moves most.

    Where both nk and D are too many to decompose, `sketch` keeps only this many directions exactly; every score then
    comes with an estimate of its error.

    `out`, `engine` or a path in place of an array streams, as in `score_features`.

    >>> from uniqueinfo.training import Converged
    >>> J, r = np.array([[[1.0]], [[1.0]]]), np.array([[0.0], [2.0]])  # two samples of one constant: 0 and 2
    >>> scores = score_jacobian(J, r, J, training=Converged())
    >>> scores.loo_outputs.ravel(), scores.functional   # without the one, the other is all there is
    (array([2., 0.]), array([0.5, 0.5]))
    """
    if engine is not None or out is not None or isinstance(J, str | Path):
        from uniqueinfo.scoring.streams import jacobian_sources

        check_streams(smoothing, form, effects, sketch)
        place = None if device is None else str(device)
        sources = jacobian_sources(J, residual, J_val, residual_val, initial, place)
        return score_stream(sources, training, memory=memory, engine=engine, out=out, ids=ids, columns=columns)
    linearization = Linearization.from_jacobian(J, residual, initial, form=form, sketch=sketch, device=device)
    probe = None if J_val is None else linearization.probe(J_val, residual_val)
    return score_linearization(
        linearization, probe, training, smoothing=smoothing, effects=effects, ids=ids, columns=columns
    )


def score_features(
    X: Any,
    y: Any,
    X_val: Any = None,
    y_val: Any = None,
    *,
    training: Training | Literal["auto"] = "auto",
    smoothing: Smoothing | None = None,
    classes: Iterable[Any] | None = None,
    form: Form = "auto",
    sketch: int | None = None,
    effects: int = 0,
    ids: Any = None,
    columns: Columns = None,
    device: torch.device | str | None = None,
    memory: str | int | None = None,
    engine: Engine | str | None = None,
    out: str | Path | None = None,
) -> Scores:
    """Scores for a linear head, started from zero, on frozen features (n, p).

    Labels that are not floats name classes: two share one output (0 and 1), more get one output each. Floats are
    regression targets, (n,) or (n, k). There is no intercept: append a column of ones for one. `effects` keeps, for
    each sample, this many of the validation samples it moves most. `sketch` is that of `score_jacobian`.

    For features larger than memory name a folder `out`: partitions are read as they are needed, no more than the
    budget `memory` is held, and the scores go to `out` part by part; the same call on the folder of a killed run goes
    on with it. Arrays may be paths: of an .npy file, a Parquet file (`y` the name of its label column), or a
    folder of either. `engine="dask"`, or a `DaskEngine`, works on many partitions at a time, on one machine or many.

    >>> from uniqueinfo.training import Converged
    >>> X, y = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]), [0, 0, 1]
    >>> scores = score_features(X, y, X, training=Converged(weight_decay=1e-2))
    >>> int(scores.functional.argmax())  # the only sample of its class
    2
    """
    if engine is not None or out is not None or isinstance(X, str | Path):
        from uniqueinfo.scoring.streams import feature_sources

        check_streams(smoothing, form, effects, sketch)
        place = None if device is None else str(device)
        sources, encoding = feature_sources(X, y, X_val, y_val, classes, place)
        settings = {"classes": None if encoding.classes is None else encoding.classes.tolist()}
        return score_stream(
            sources, training, memory=memory, engine=engine, out=out, ids=ids, columns=columns, settings=settings
        )
    samples = len(X)
    labels = as_labels("y", y, samples)
    encoding = Encoding.infer(labels, classes)
    targets = encoding.encode("y", labels)
    linearization = Linearization.from_features(X, targets, form=form, sketch=sketch, device=device)
    probe = None
    if X_val is not None:
        wanted = None if y_val is None else encoding.encode("y_val", as_labels("y_val", y_val, len(X_val)))
        probe = linearization.probe(X_val, wanted)
    elif y_val is not None:
        raise InputError("y_val: there are validation labels but no X_val to go with them")
    classes_found = None if encoding.classes is None else encoding.classes.tolist()
    return score_linearization(
        linearization,
        probe,
        training,
        smoothing=smoothing,
        effects=effects,
        labels=labels,
        ids=ids,
        columns=columns,
        settings={"classes": classes_found},
    )


def score_stream(
    sources: Sources,
    training: Training | Literal["auto"],
    *,
    memory: str | int | None = None,
    engine: Engine | str | None = None,
    out: str | Path | None = None,
    ids: Any = None,
    columns: Columns = None,
    factor: float = 1.0,
    settings: dict[str, Any] | None = None,
) -> Scores:
    """Leave out every sample of a source that is read partition by partition, by an engine."""
    from uniqueinfo.scoring.engine import as_engine
    from uniqueinfo.scoring.stream import Stream

    samples = sources.train.samples
    if not isinstance(training, Training) and training != "auto":
        raise InputError(
            f'training: expected a training algorithm such as GradientDescent, or "auto", got {training!r}'
        )
    names, own = _checked_ids(ids, samples), _checked_columns(columns, samples)
    stream = Stream(sources, training, as_engine(engine), as_bytes(memory), names, own, factor, settings)
    return stream.scores(None if out is None else Path(out))


def check_streams(smoothing: Smoothing | None, form: Form, effects: int, sketch: int | None = None) -> None:
    """Refuse what needs all samples at hand."""
    if smoothing is not None or effects:
        raise InputError(
            "smoothing, effects: need all samples at hand, and with out=… or engine=… they pass by; drop the one or "
            "the other"
        )
    if sketch is not None:
        raise InputError("sketch: goes over the samples many times; drop sketch, or out=… and engine=…")
    if form == "dual":
        raise InputError('form: "dual" holds a matrix of all samples; with out=… or engine=… the form is "primal"')


def score_linearization(
    linearization: Linearization,
    probe: Probe | None,
    training: Training | Literal["auto"],
    *,
    smoothing: Smoothing | None = None,
    effects: int = 0,
    progress: bool = True,
    labels: NDArray[Any] | None = None,
    ids: Any = None,
    columns: Columns = None,
    settings: dict[str, Any] | None = None,
) -> Scores:
    """Leave out every sample of a linearization, and measure all there is to measure."""
    names, own = _checked_ids(ids, linearization.samples), _checked_columns(columns, linearization.samples)
    with showing(progress):
        curve = stopping_curve(linearization) if training == "auto" else None
    algorithm = curve.best if curve is not None else training
    if not isinstance(algorithm, Training):
        raise InputError(
            f'training: expected a training algorithm such as GradientDescent, or "auto", got {training!r}'
        )
    if not isinstance(smoothing, Smoothing | None):
        raise InputError(f"smoothing: expected a smoothing such as SGD, or None, got {smoothing!r}")
    if linearization.form == "sketch" and isinstance(smoothing, SGD):
        raise InputError(
            "smoothing: SGD needs every direction, and a sketch keeps only some; drop the one or the other"
        )
    if effects and probe is None:
        raise InputError("effects: there are no validation samples to feel them; hand some over")
    run = linearization.train(algorithm)
    origin = Origin(run, probe)
    removal = run.leave_out()
    measures = removal.measures(probe, smoothing, progress=progress)
    outputs = run.outputs()
    residual = linearization.residual.flatten(1).cpu().numpy()
    return Scores(
        weight=measures.weight,
        functional=measures.functional,
        value=measures.value,
        smoothed=None if measures.smoothed is None else measures.smoothed.information,
        loo_outputs=outputs - measures.own[1][:, 0],
        outputs=outputs,
        targets=residual + linearization.initial.flatten(1).cpu().numpy(),
        labels=labels,
        ids=names,
        columns=own,
        effects=strongest(removal, probe, effects) if effects and probe is not None else None,
        errors=estimated_errors(run, measures, probe),
        settings={
            "training": algorithm.settings(),
            "smoothing": _smoothing(smoothing, measures.smoothed),
            "stopping": None if curve is None else curve.settings(),
            "form": linearization.form,
            "form_side": linearization.choice.side,
            "form_why": linearization.choice.why,
            "samples": linearization.samples,
            "outputs": linearization.outputs,
            "width": linearization.width,
            "validation_samples": None if probe is None else probe.samples,
            "largest_eigenvalue": linearization.system.largest,
            "fit_error": removal.fit_error,
            "versions": versions(),
            **(settings or {}),
        },
        source=lambda: origin,
    )


def _smoothing(smoothing: Smoothing | None, found: Smoothed | None) -> dict[str, Any] | None:
    if smoothing is None or found is None:
        return None
    inverted = {} if found.conditioning is None else asdict(found.conditioning)
    return smoothing.settings() | inverted | {"share_below_floor": found.share_below_floor}


def _checked_ids(ids: Any, samples: int) -> NDArray[Any] | None:
    if ids is None:
        return None
    names = np.asarray(ids)
    if names.shape != (samples,):
        raise InputError(f"ids: expected one for each of the {samples} samples, got shape {names.shape}")
    found, counts = np.unique(names, return_counts=True)
    if len(found) < samples:
        raise InputError(f"ids: {found[counts.argmax()]!r} names {counts.max()} samples; ids must differ")
    return names


def _checked_columns(columns: Columns, samples: int) -> pd.DataFrame | None:
    if columns is None:
        return None
    table = pd.DataFrame(columns)
    if len(table) != samples:
        raise InputError(f"columns: expected {samples} rows, one for each sample, got {len(table)}")
    clash = RESERVED & set(table.columns)
    if clash:
        raise InputError(f"columns: {sorted(clash)} would hide the scores' own columns; rename them")
    return table
