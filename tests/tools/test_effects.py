"""Effects of training samples on others, against training the linearized network again without them."""

from __future__ import annotations

import re
from copy import deepcopy
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import uniqueinfo as ui
from uniqueinfo.tools.effects import Effects, Target

TRAINING = ui.Converged(0.05)


@pytest.fixture(scope="module")
def data() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(30, 4, dtype=torch.float64, generator=generator)
    return X, (X[:, 0] > 0).long() + (X[:, 1] > 0).long()


@pytest.fixture(scope="module")
def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3)).double()


def outputs_after(network: nn.Module, training: ui.Converged, train: Any, X: torch.Tensor) -> torch.Tensor:
    """Of other samples, by the linearized network trained on these."""
    run = ui.score(ui.centred(network), train, training=training).origin.run
    return torch.from_numpy(run.outputs(run.probe(X)))


@pytest.mark.parametrize("target", ["loss", "output"])
@pytest.mark.parametrize("loss", ["mse", "cross-entropy"])
def test_effects_are_those_of_scoring_without_the_sample(
    data: Any, network: nn.Module, target: Target, loss: str
) -> None:
    (X, y), training = data, ui.Converged(0.05, loss=loss)
    given: dict[str, Any] = {"before": None, "training": training, "target": target, "options": {}}
    effects = Effects.of(network, (X[:20], y[:20]), **given)
    found = effects.on((X[20:], y[20:]))
    assert found.shape == (20, 10)
    whole, without = (
        outputs_after(network, training, (X[part], y[part]), X[20:]) for part in (slice(20), slice(1, 20))
    )
    wanted = torch.nn.functional.one_hot(y[20:], 3).double()
    criterion = training.criterion
    expected = {
        "loss": criterion.value(without, wanted) - criterion.value(whole, wanted),
        "output": ((whole - without) * wanted).sum(dim=1),
    }[target]
    np.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("target", ["loss", "output"])
def test_effects_on_itself_are_the_diagonal(data: Any, network: nn.Module, target: Target) -> None:
    effects = Effects.of(network, data, before=None, training=TRAINING, target=target, options={})
    np.testing.assert_allclose(effects.on_itself(), np.diag(effects.on(data)), rtol=1e-6, atol=1e-10)


def test_the_network_before_its_training_counts_too(data: Any, network: nn.Module) -> None:
    trained = deepcopy(network)
    with torch.no_grad():
        next(trained.parameters()).add_(0.3)
    both = Effects.of(trained, data, before=network, training=TRAINING, target="loss", options={})
    by_state = Effects.of(trained, data, before=network.state_dict(), training=TRAINING, target="loss", options={})
    expected = ui.score(network, data, trained=trained, training=TRAINING)
    np.testing.assert_array_equal(both.scores.weight, expected.weight)
    np.testing.assert_array_equal(by_state.scores.weight, expected.weight)


def test_a_target_of_another_name_is_refused(data: Any, network: nn.Module) -> None:
    with pytest.raises(ui.InputError, match='"loss" or "output"'):
        Effects.of(network, data, before=None, training=TRAINING, target="margin", options={})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "package"), [("DattriAttributor", "'uniqueinfo[dattri]'"), ("QuandaExplainer", "quanda")]
)
def test_without_the_library_it_is_said_what_to_install(name: str, package: str, data: Any, network: nn.Module) -> None:
    library = "dattri" if "dattri" in package else "quanda"
    if find_spec(library) is not None:
        pytest.skip(f"{library} is installed")
    given = (network,) if library == "dattri" else (network, TensorDataset(*data))
    with pytest.raises(ui.InputError, match=re.escape(f"pip install {package}")):
        getattr(ui, name)(*given)


@pytest.fixture
def dattri() -> Any:
    pytest.importorskip("dattri.algorithm.base", reason="dattri is not installed")
    return pytest.importorskip("dattri.metric", reason="dattri is not installed")


@pytest.fixture
def quanda() -> Any:
    return pytest.importorskip("quanda.metrics.downstream_eval", reason="quanda is not installed")


def halves(data: Any, network: nn.Module, test: slice, count: int = 24) -> tuple[torch.Tensor, torch.Tensor]:
    """−loss of the test samples after training the linearized network on random halves of the others."""
    X, y = data
    wanted, generator = torch.nn.functional.one_hot(y[test], 3).double(), torch.Generator().manual_seed(1)
    chosen = torch.stack([torch.randperm(20, generator=generator)[:10].sort().values for _ in range(count)])
    values = []
    for half in chosen:
        said = outputs_after(network, TRAINING, (X[half], y[half]), X[test])
        values.append(-TRAINING.criterion.value(said, wanted))
    return torch.stack(values), chosen


def test_dattris_evaluation_calls_it(dattri: Any, data: Any, network: nn.Module) -> None:
    X, y = data
    train, test = (DataLoader(TensorDataset(X[part], y[part]), batch_size=7) for part in (slice(20), slice(20, 30)))
    attributor = ui.DattriAttributor(network, training=TRAINING)
    attributor.cache(train)
    scores = attributor.attribute(train, test)
    assert scores.shape == (20, 10)
    correlation, _ = dattri.lds(scores, halves(data, network, slice(20, 30)))
    assert correlation.mean() > 0.8
    with pytest.raises(ui.InputError, match="other training samples"):
        attributor.attribute(test, test)


def test_quandas_evaluations_call_it(quanda: Any, data: Any, network: nn.Module) -> None:
    X, y = data
    wrong = [3, 11]
    labels = y.clone()
    labels[wrong] = (labels[wrong] + 1) % 3
    network, X = deepcopy(network).float(), X.float()
    dataset = TensorDataset(X, labels)
    explainer = ui.QuandaExplainer(network, dataset, training=TRAINING)
    explained = explainer.explain(X[:5], labels[:5])
    assert explained.shape == (5, 30)
    np.testing.assert_allclose(explainer.self_influence()[:5], explained.diag(), rtol=1e-3, atol=1e-6)
    metric = quanda.MislabelingDetectionMetric(
        network,
        dataset,
        mislabeling_indices=wrong,
        explainer_cls=ui.QuandaExplainer,
        expl_kwargs={"training": TRAINING},
    )
    assert metric.compute()["score"] > 0.75
    detection = quanda.ClassDetectionMetric(network, dataset)
    detection.update(explainer.explain(X[:10], y[:10]), y[:10])
    assert detection.compute()["score"] > 0.5
