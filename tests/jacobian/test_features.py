import gc
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from tests.oracles.jacobian import jacobian_rows
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.features import Features, compute_features
from uniqueinfo.jacobian.rows import RowEngine
from uniqueinfo.samples.datasets import Inputs
from uniqueinfo.samples.samples import Samples, as_samples

X = np.random.default_rng(0).normal(size=(37, 5)).astype(np.float32)
Y = np.arange(37) % 3
PAIRS = TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
SETTINGS = {"network": "mlp", "seed": 0}


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))


ENGINE = RowEngine(network(), torch.from_numpy(X[:2]))
ROWS = jacobian_rows(network(), torch.from_numpy(X)).numpy()
OUTPUTS = network()(torch.from_numpy(X)).detach().numpy()
SMALL = ROWS.nbytes // 37 * 64  # a budget too small for all rows, with shards of eight samples


def samples() -> Samples:
    return as_samples((X, Y))


class Counting:
    """An engine that keeps the batch sizes it was given."""

    def __init__(self, engine: Callable[[Inputs], tuple[Tensor, Tensor]] = ENGINE) -> None:
        self.engine = engine
        self.sizes: list[int] = []

    def __call__(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        assert isinstance(inputs, Tensor)
        self.sizes.append(len(inputs))
        return self.engine(inputs)


def check(features: Features) -> None:
    assert features.rows.shape == ROWS.shape
    assert features.rows.dtype == np.float32
    assert features.outputs.dtype == np.float64
    np.testing.assert_allclose(features.rows[:], ROWS, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(features.outputs, OUTPUTS, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(features.labels, Y)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_rows_within_the_budget_stay_in_memory() -> None:
    features = compute_features(ENGINE, samples(), memory="1GB")
    assert isinstance(features.rows, np.ndarray)
    check(features)


def test_rows_past_the_budget_go_to_disk() -> None:
    features = compute_features(ENGINE, samples(), memory=SMALL)
    assert not isinstance(features.rows, np.ndarray)
    check(features)


def test_rows_go_to_a_folder_that_is_named(tmp_path: Path) -> None:
    check(compute_features(ENGINE, samples(), memory="1GB", folder=tmp_path))
    assert sorted(contents(tmp_path)) == [
        "manifest.json",
        "shard-000000.safetensors",
        "shard-000001.safetensors",
    ]


def temporary_folders(folder: Path) -> list[Path]:
    return list(folder.glob("uniqueinfo-*"))


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_temporary_folder_goes_when_closed(scratch: Path) -> None:
    features = compute_features(ENGINE, samples(), memory=SMALL)
    assert len(temporary_folders(scratch)) == 1
    features.close()
    assert temporary_folders(scratch) == []


def test_a_temporary_folder_goes_with_the_last_reference_to_its_rows(scratch: Path) -> None:
    features = compute_features(ENGINE, samples(), memory=SMALL)
    rows = features.rows
    del features
    gc.collect()
    assert len(rows[:]) == 37
    del rows
    gc.collect()
    assert temporary_folders(scratch) == []


def test_a_temporary_folder_goes_after_an_error(scratch: Path) -> None:
    with pytest.raises(InputError, match="label 2 of sample 2"):
        compute_features(ENGINE, as_samples(PAIRS), memory=SMALL, classes=2)
    assert temporary_folders(scratch) == []


def test_a_shuffling_loader_gives_rows_in_the_order_of_its_data_set() -> None:
    check(compute_features(ENGINE, as_samples(DataLoader(PAIRS, 8, shuffle=True)), memory=SMALL))


def test_unlabelled_samples_give_rows_without_labels() -> None:
    features = compute_features(ENGINE, as_samples(X), memory="1GB")
    assert features.labels is None
    with pytest.raises(InputError, match="no labels"):
        features.targets()


def test_targets_are_made_of_the_labels_met() -> None:
    features = compute_features(ENGINE, samples(), memory="1GB")
    np.testing.assert_array_equal(features.targets().argmax(axis=1), Y)
    assert features.targets(5).shape == (37, 5)


def test_a_wrong_label_among_arrays_is_found_before_the_pass() -> None:
    engine = Counting()
    with pytest.raises(InputError, match="label 9 of sample 36"):
        compute_features(engine, as_samples((X, np.where(np.arange(37) == 36, 9, 0))), memory="1GB")
    assert engine.sizes == [1]


def test_each_sample_is_read_once_and_given_once_but_for_the_measuring() -> None:
    engine = Counting()
    compute_features(engine, samples(), memory="1GB")
    assert engine.sizes == [1, 2, 32, 5]


def test_a_single_sample_is_enough() -> None:
    assert compute_features(ENGINE, as_samples((X[:1], Y[:1])), memory="1GB").rows.shape == (
        1,
        *ROWS.shape[1:],
    )


# Batches


def hungry(most: int) -> Callable[[Inputs], tuple[Tensor, Tensor]]:
    """An engine that asks the allocator for more than there can be when it gets more than `most` samples."""

    def engine(inputs: Inputs) -> tuple[Tensor, Tensor]:
        if len(inputs) > most:
            torch.empty(2**50)
        return ENGINE(inputs)

    return engine


def test_the_batch_is_halved_until_it_fits() -> None:
    engine = Counting(hungry(5))
    check(compute_features(engine, samples(), memory="1GB"))
    assert engine.sizes == [1, 2, 32, 16, 8, 4, *[4] * 8, 1]


def test_one_sample_that_does_not_fit_is_said() -> None:
    engine, calls = hungry(0), []

    def at_the_third(inputs: Inputs) -> tuple[Tensor, Tensor]:
        calls.append(1)
        return engine(inputs) if len(calls) > 2 else ENGINE(inputs)

    with pytest.raises(InputError, match="one sample alone runs out of memory"):
        compute_features(at_the_third, samples(), memory="1GB")


def test_other_errors_of_the_engine_pass_through() -> None:
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        compute_features(ENGINE, as_samples((X[:, :3], Y)), memory="1GB")


def greedy(inputs: Inputs) -> tuple[Tensor, Tensor]:
    """Takes a hundred megabytes for every sample past the second."""
    _ = torch.empty(max(0, len(inputs) - 2), 25_000_000)
    return ENGINE(inputs)


def test_the_batch_is_halved_when_it_takes_more_than_the_budget() -> None:
    engine = Counting(greedy)
    check(compute_features(engine, samples(), memory="1GB"))
    assert engine.sizes[:6] == [1, 2, 32, 16, 8, 4]  # 4 take 200 MB, 8 take 600 MB of the 500 MB allowed


def test_a_budget_that_one_sample_exceeds_is_said(caplog: pytest.LogCaptureFixture) -> None:
    check(compute_features(ENGINE, samples(), memory="1kB"))
    assert "one sample takes" in caplog.text


def test_a_network_that_couples_samples_is_refused() -> None:
    def coupled(inputs: Inputs) -> tuple[Tensor, Tensor]:
        assert isinstance(inputs, Tensor)
        return ENGINE(inputs - inputs.mean(dim=0))

    with pytest.raises(InputError, match="couples samples"):
        compute_features(coupled, samples(), memory="1GB")


def test_a_random_network_is_refused() -> None:
    def random(inputs: Inputs) -> tuple[Tensor, Tensor]:
        assert isinstance(inputs, Tensor)
        return ENGINE(nn.functional.dropout(inputs))

    torch.manual_seed(0)
    with pytest.raises(InputError, match="or is random"):
        compute_features(random, samples(), memory="1GB")


def test_an_output_that_is_not_finite_is_named_by_its_sample() -> None:
    class Logarithm(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(1))

        def forward(self, x: Tensor) -> Tensor:
            return self.scale * x.log()

    x = np.ones((20, 1), np.float32)
    x[13] = -1
    with pytest.raises(InputError, match="output for sample 13 is not finite"):
        compute_features(RowEngine(Logarithm(), torch.ones(2, 1)), as_samples(x), memory="1GB")


# Going on


def run(folder: Path, engine: Any = ENGINE, data: Samples | None = None, **settings: Any) -> Features:
    return compute_features(engine, data or samples(), memory=SMALL, folder=folder, settings=SETTINGS | settings)


def test_a_finished_folder_is_not_computed_again(tmp_path: Path) -> None:
    run(tmp_path)
    before, engine = contents(tmp_path), Counting()
    check(run(tmp_path, engine))
    assert engine.sizes == [1]
    assert contents(tmp_path) == before


def test_another_budget_goes_on_with_the_plan_that_is_there(tmp_path: Path) -> None:
    run(tmp_path)
    before = contents(tmp_path)
    compute_features(ENGINE, samples(), memory="1GB", folder=tmp_path, settings=SETTINGS)
    assert contents(tmp_path) == before


def test_a_damaged_shard_alone_is_computed_again(tmp_path: Path) -> None:
    run(tmp_path)
    before, engine = contents(tmp_path), Counting()
    path = tmp_path / "shard-000002.safetensors"
    path.write_bytes(before[path.name][:-1] + b"!")
    check(run(tmp_path, engine))
    assert contents(tmp_path) == before
    assert sum(engine.sizes) == 1 + 8


def test_other_settings_compute_everything_again(tmp_path: Path) -> None:
    run(tmp_path)
    engine = Counting()
    run(tmp_path, engine, seed=1)
    assert sum(engine.sizes) == 1 + 2 + 37
    assert json.loads((tmp_path / "manifest.json").read_text())["settings"]["seed"] == 1


def test_only_shards_of_changed_samples_are_computed_again(tmp_path: Path) -> None:
    run(tmp_path)
    changed, engine = X.copy(), Counting()
    changed[20] += 1
    features = run(tmp_path, engine, as_samples((changed, Y)))
    assert sum(engine.sizes) == 1 + 8
    np.testing.assert_allclose(features.rows[:], ENGINE(torch.from_numpy(changed))[0].numpy(), atol=1e-5)


def test_changed_labels_are_the_labels_given(tmp_path: Path) -> None:
    run(tmp_path)
    np.testing.assert_array_equal(run(tmp_path, data=as_samples((X, Y[::-1]))).labels, Y[::-1])


def test_more_samples_compute_everything_again(tmp_path: Path) -> None:
    run(tmp_path, data=as_samples((X[:30], Y[:30])))
    check(run(tmp_path))


def test_another_network_under_the_same_settings_is_noticed(tmp_path: Path) -> None:
    relu = network()
    relu[1] = nn.ReLU()
    run(tmp_path, RowEngine(relu, torch.from_numpy(X[:2])))
    check(run(tmp_path))


def test_a_limit_found_by_halving_holds_after_going_on(tmp_path: Path) -> None:
    plain, broken = tmp_path / "plain", tmp_path / "broken"
    run(plain, hungry(2))
    run(broken, hungry(2))
    (broken / "shard-000003.safetensors").unlink()
    engine = Counting(hungry(2))
    run(broken, engine)
    assert engine.sizes == [1, 2, 2, 2, 2]
    assert contents(broken) == contents(plain)


def test_a_folder_too_small_is_said_before_the_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1000}))
    with pytest.raises(InputError, match="has 1 kB free"):
        run(tmp_path)


PROGRAM = """
import sys, time
from pathlib import Path
from tests.jacobian.test_features import ENGINE, run

def slow(inputs):
    time.sleep(0.03)
    return ENGINE(inputs)

run(Path(sys.argv[1]), slow)
"""


@pytest.mark.slow
@pytest.mark.parametrize("whole", [0, 2])
def test_killed_and_called_again_ends_with_the_same_bytes(tmp_path: Path, whole: int) -> None:
    killed, plain = tmp_path / "killed", tmp_path / "plain"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    program = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(killed)]
    process = subprocess.Popen(program, env=environment)
    while not (killed / f"shard-{whole:06}.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    left = json.loads((killed / "manifest.json").read_text())["shards"]
    assert whole <= len(left) < 5
    engine = Counting()
    resumed = run(killed, engine)
    assert sum(engine.sizes) == 1 + 37 - 8 * len(left)
    uninterrupted = run(plain)
    assert contents(killed) == contents(plain)
    assert resumed.rows[:].tobytes() == uninterrupted.rows[:].tobytes()
    assert resumed.outputs.tobytes() == uninterrupted.outputs.tobytes()
