"""Every public function and class with arguments that are fine, of which attacks change some."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import uniqueinfo as ui

Face = tuple[Callable[..., Any], dict[str, Any]]
NOT_CALLED = {
    "FitError", "InputError", "UniqueInfoError",  # errors
    "Linearization", "LinearizedNetwork", "Scores", "StoppingCurve", "Validation",  # results: others make them
    "class_margin", "log_probability", "sequence_margin",  # for `outputs=`
    "log_to_mlflow", "log_to_wandb", "DattriAttributor", "QuandaExplainer",  # for packages that may be missing
    "LocalEngine",  # takes nothing
    "DaskEngine", "LightningRecording",  # ask for a cluster, or for a package that may be missing
}  # fmt: skip
"""Public names that people do not call, or not here."""


def every_face(home: Path) -> dict[str, Face]:
    """By the name of the function."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = (X[:, 0] > 0).astype(int)
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
    data = (X.astype(np.float32), y)
    features = ui.score_features(X, y, X, y, training=ui.Converged(0.1), progress=False)
    network = ui.score(model, data, data, training=ui.Converged(0.1), progress=False)
    return {
        **_scoring(X, y, model, data),
        **_linearized(model, data),
        **_training(home, model),
        **_smoothing(X, y),
        **_questions(features, network, X),
        **_results(home, features),
    }


def _scoring(X: Any, y: Any, model: nn.Module, data: tuple[Any, Any]) -> dict[str, Face]:
    where: dict[str, Any] = {"memory": None, "device": None, "form": "auto", "sketch": None, "engine": None}
    where["effort"] = "minutes"
    table: dict[str, Any] = {"ids": None, "columns": None, "effects": 0, "smoothing": None}
    common = {"training": ui.Converged(0.1), **where, **table}
    given = {"X": X, "y": y, "X_val": X, "y_val": y, "head": "balanced", "classes": None}
    rows = {"J": X[:, None], "residual": y[:, None] - 0.5, "J_val": X[:, None], "residual_val": y[:, None] - 0.5}
    network = {"model": model, "train": data, "val": data, "projection": None, "outputs": None, "trained": None}
    again = {"samples": 10, "seed": 0, "budget": None, "scores": None, "train_function": None}
    fitted = {"X": X, "y": y, "precision": None, "seed": 0}
    return {
        "score_features": (partial(ui.score_features, progress=False), {**given, **common}),
        "score_jacobian": (partial(ui.score_jacobian, progress=False), {**rows, "initial": None, **common}),
        "score": (partial(ui.score, progress=False), {**network, **common}),
        "sequence_likelihood": (ui.sequence_likelihood, {"directions": 2}),
        "validate": (
            partial(ui.validate, progress=False),
            {"model": model, "train": data, "val": data, "training": ui.GradientDescent(0.1, 5), **again},
        ),
        "LabelErrors": (partial(_fitted, ui.LabelErrors), fitted),
        "UniqueInformation": (  # its X and y are looked at by scikit-learn, in scikit-learn's words
            partial(_fitted, ui.UniqueInformation, X, y),
            {"training": ui.Converged(0.1), "head": "balanced", "task": "auto"},
        ),
    }


def _fitted(estimator: Callable[..., Any], X: Any, y: Any, **options: Any) -> Any:
    return estimator(**options).fit(X, y)


def _linearized(model: nn.Module, data: tuple[Any, Any]) -> dict[str, Face]:
    linearization = ui.linearize(model, data, data, progress=False)
    run = linearization.train(ui.GradientFlow(0.1, 5.0))
    plain: dict[str, Any] = {"model": model, "train": data, "val": data, "projection": "auto", "form": "auto"}
    return {
        "linearize": (
            partial(ui.linearize, progress=False),
            {**plain, "trained": None, "sketch": None, "folder": None},
        ),
        "stopping_curve": (ui.stopping_curve, {"linearization": linearization}),
        "leave_out": (run.leave_out, {"groups": [[0, 1], [2]]}),
        "centred": (ui.centred, {"model": model}),
        "gradient_covariance": (ui.gradient_covariance, {"run": run, "diagonal": False}),
        "RandomCoordinates": (ui.RandomCoordinates, {"per_layer": 4, "seed": 0}),
        "Factorized": (ui.Factorized, {"per_layer": 4, "seed": 0}),
        "VerySparse": (ui.VerySparse, {"size": 4, "seed": 0}),
        "KernelCoordinates": (ui.KernelCoordinates, {"total": 4, "seed": 0}),
        "OutputAverage": (ui.OutputAverage, {"size": 1, "seed": 0}),
        "OutputSketch": (ui.OutputSketch, {"size": 1, "seed": 0}),
        "OutputFunction": (ui.OutputFunction, {"function": _outputs, "towards": 1.0, "loss": "logistic"}),
    }


def _outputs(model: nn.Module, inputs: Any, targets: Any) -> Any:
    return model(inputs)


def _training(home: Path, model: nn.Module) -> dict[str, Face]:
    start = {name: value.clone() for name, value in model.state_dict().items()}
    end = {name: value + 0.01 for name, value in start.items()}
    common = {"loss": "mse", "reduction": "mean"}
    steps = {"lr": 0.1, "steps": 10, "momentum": 0.0, "weight_decay": 0.0, **common}
    ui.Recorded.from_checkpoints([start, end], [0, 5], lr=0.1, folder=home / "recording")
    points = {"checkpoints": [start, end], "steps": [0, 5], "lr": 0.1, "optimizer": "sgd", "options": None}
    recording = {"loss": "cross-entropy", "checkpoints": 4}
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    return {
        "GradientDescent": (ui.GradientDescent, steps),
        "GradientFlow": (ui.GradientFlow, {"lr": 0.1, "time": 10.0, "weight_decay": 0.0, **common}),
        "Converged": (ui.Converged, {"weight_decay": 0.1, **common}),
        "Auto": (ui.Auto, common),
        "Recorded": (ui.Recorded, {"folder": home / "recording", "place": "empty", **common}),
        "from_checkpoints": (
            partial(_fresh, home, ui.Recorded.from_checkpoints),
            {**points, "loss": "mse", "clip": None, "reduction": "mean", "optimizer_states": ()},
        ),
        "Recording": (
            partial(_fresh, home, ui.Recording),
            {"model": model, "optimizer": optimizer, **recording, "clip": None, "resume": None},
        ),
        "RecordingCallback": (partial(_fresh, home, ui.RecordingCallback), recording),
    }


def _fresh(home: Path, function: Callable[..., Any], **given: Any) -> Any:
    """In a folder of its own: a recording that was begun is gone on with by nothing else."""
    place = home / f"fresh-{len(list(home.iterdir()))}"
    return function(folder=place, **given)


def _smoothing(X: Any, y: Any) -> dict[str, Face]:
    stochastic = {"train": _mean, "X": X, "y": y, "runs": 20, "stacked": False, "seed": 0}
    return {
        "Isotropic": (ui.Isotropic, {"sigma": 1.0}),
        "Fisher": (ui.Fisher, {"val": X[:, None]}),
        "Langevin": (ui.Langevin, {"lr": 0.1, "batch_size": 4, "sigma": 1.0}),
        "SGD": (ui.SGD, {"lr": 0.1, "batch_size": 4, "diagonal": False, "floor": 1e-8}),
        "StochasticTraining": (ui.StochasticTraining, stochastic),
    }


def _mean(X: Any, y: Any, seed: int) -> Any:
    return np.asarray(X).mean(axis=0)


def _questions(features: ui.Scores, network: ui.Scores, X: Any) -> dict[str, Face]:
    one: dict[str, Any] = {"scores": features}
    return {
        "mislabeled": (
            ui.mislabeled,
            {**one, "criterion": "margin", "noise_rate": None, "precision": None, "neighbours": False},
        ),
        "compare": (ui.compare, {**one, "by": "label", "whole": True, "seed": 0, "resamples": 20}),
        "attribute": (ui.attribute, {**one, "sample": 1, "top": 3, "output": None, "sample_id": None, "probe": None}),
        "summarize": (
            ui.summarize,
            {**one, "keep": 0.5, "strategy": "iterative", "step": 0.1, "balanced": False, "seed": 0},
        ),
        "redundancy": (ui.redundancy, {**one, "near": 0.01, "most": 10}),
        "shapley": (ui.shapley, {**one, "subsets": 4, "tolerance": 0.5, "seed": 0}),
        "subclasses": (ui.subclasses, {**one, "label": None, "share": 0.2, "clusters": None, "seed": 0}),
        "acquire": (ui.acquire, {**one, "inputs": X[:5], "budget": 2, "by": None, "seed": 0}),
        "adversarial": (
            ui.adversarial,
            {"scores": network, "inputs": X[:5].astype(np.float32), "level": 0.05},
        ),
        "everyone": (ui.everyone, one),
    }


def _results(home: Path, scores: ui.Scores) -> dict[str, Face]:
    scores.save(home / "kept")
    return {
        "load": (ui.load, {"folder": home / "kept", "trust": False}),
        "save": (scores.save, {"folder": home / "saved"}),
        "report": (
            ui.report,
            {"scores": scores, "path": home / "page.html", "samples": None, "validation": None, "answers": ()},
        ),
    }
