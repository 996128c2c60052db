"""Jacobian rows of a data set: right, in order, and not computed twice where they are kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from tests.jacobian.networks import (
    LARGE,
    PIECE,
    SAMPLES,
    all_kept,
    counted,
    inputs,
    labels,
    network,
    rows_of,
)
from tests.oracles.compare import close
from tests.oracles.jacobian import jacobian_rows
from tests.scoring.problems import contents
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.keeping import InMemory
from uniqueinfo.jacobian.network_rows import NetworkRows

EVERY = slice(0, SAMPLES)
TRIED = [1, 2]  # samples that the network is tried on before anything is computed


def check(rows: NetworkRows, model: nn.Module | None = None) -> None:
    """All rows, outputs and labels, against one sample at a time."""
    model, found = model or network(), rows.read(EVERY)
    x = torch.from_numpy(inputs())
    assert (found.rows.dtype.name, found.outputs.dtype.name) == ("float32", "float64")
    close(found.rows, jacobian_rows(model, x).numpy(), rtol=1e-5, atol=1e-6)
    close(found.outputs, model(x).detach().numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found.labels, labels())


# What is computed


def test_rows_are_computed_when_asked_for() -> None:
    check(rows_of())


def test_rows_that_are_not_kept_are_computed_again() -> None:
    rows = rows_of(memory=LARGE)
    with counted() as sizes:
        rows[slice(0, 5)]
        rows[slice(0, 5)]
    assert sum(sizes) == 10


def test_rows_kept_in_memory_are_computed_once() -> None:
    with counted() as sizes:
        rows = rows_of().kept(InMemory())
        check(rows)
        check(rows)
    assert sum(sizes) == sum(TRIED) + SAMPLES


def test_rows_kept_on_disk_are_right(tmp_path: Path) -> None:
    check(all_kept(rows_of(), tmp_path))


def test_each_piece_has_a_file_of_its_own(tmp_path: Path) -> None:
    all_kept(rows_of(), tmp_path)
    assert sorted(contents(tmp_path)) == ["owner.json", *(f"rows-{number:06}.safetensors" for number in range(5))]


def test_pieces_cover_the_samples_once() -> None:
    assert [(part.start, part.stop) for part in rows_of().pieces()] == [(0, 8), (8, 16), (16, 24), (24, 32), (32, 37)]


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize(
    "index",
    [slice(None), slice(3, 20), slice(8, 16), slice(-3, None), slice(30, 2, -3), slice(8, 99), [7, 0, 30, 7], [-1]],
    ids=str,
)
def test_rows_are_indexed_across_pieces_as_an_array_is(index: Any, kept: bool) -> None:
    rows = rows_of().kept(InMemory()) if kept else rows_of()
    chosen = np.array(index) if isinstance(index, list) else index
    everything = rows.read(EVERY)
    found = rows.read(chosen)
    close(found.rows, everything.rows[chosen], rtol=1e-5, atol=1e-6)
    close(found.outputs, everything.outputs[chosen], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found.labels, labels()[chosen])


def test_a_shuffling_loader_gives_rows_in_the_order_of_its_data_set() -> None:
    pairs = TensorDataset(torch.from_numpy(inputs()), torch.from_numpy(labels()))
    check(rows_of(data=DataLoader(pairs, 8, shuffle=True)))


def test_unlabelled_samples_give_rows_without_labels() -> None:
    assert rows_of(data=inputs()).read(EVERY).labels is None


def test_a_single_sample_is_enough() -> None:
    rows = rows_of(data=(inputs()[:1], labels()[:1]))
    assert rows[slice(0, 1)].shape == (1, 3, 75)


# What is refused


class Coupled(nn.Module):
    """Takes off the mean of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = network()

    def forward(self, x: Tensor) -> Tensor:
        outputs: Tensor = self.inner(x - x.mean(dim=0))
        return outputs


class Random(Coupled):
    """Drops inputs in evaluation mode too."""

    def forward(self, x: Tensor) -> Tensor:
        outputs: Tensor = self.inner(nn.functional.dropout(x))
        return outputs


def test_a_network_that_couples_samples_is_refused() -> None:
    with pytest.raises(InputError, match="couples samples"):
        rows_of(Coupled())


def test_a_random_network_is_refused() -> None:
    model = Random()
    torch.manual_seed(0)
    with pytest.raises(InputError, match="or is random"):
        rows_of(model)


def test_an_output_that_is_not_finite_is_named_by_its_sample() -> None:
    x = np.abs(inputs())
    x[13] = -1e30  # too far out for an exponential
    rows = rows_of(network(torch.exp), (x, labels()))
    with pytest.raises(InputError, match="the network's output: sample 13 holds NaN or infinity"):
        rows.read(EVERY)


def test_a_jacobian_that_is_not_finite_is_named_by_its_sample() -> None:
    x = inputs()
    x[13] = 0
    model = network(torch.sqrt)  # at 0 the root is fine, and its slope is not
    for layer in (model.first, model.last):
        nn.init.constant_(layer.weight, 0.1)
        nn.init.zeros_(layer.bias)
    with pytest.raises(InputError, match="the network's Jacobian: sample 13 holds NaN or infinity"):
        rows_of(model, (np.abs(x), labels())).read(EVERY)


# Going on with a folder


def test_a_finished_folder_is_not_computed_again(tmp_path: Path) -> None:
    all_kept(rows_of(), tmp_path)
    before = contents(tmp_path)
    with counted() as sizes:
        check(all_kept(rows_of(), tmp_path))
    assert sizes == [*TRIED, 1]  # one more, to see that the rows are of this network
    assert contents(tmp_path) == before


def test_another_budget_goes_on_with_the_cut_that_is_there(tmp_path: Path) -> None:
    all_kept(rows_of(), tmp_path)
    before = contents(tmp_path)
    check(all_kept(rows_of(memory=LARGE), tmp_path))
    assert contents(tmp_path) == before


def test_a_damaged_piece_alone_is_computed_again(tmp_path: Path) -> None:
    all_kept(rows_of(), tmp_path)
    before = contents(tmp_path)
    path = tmp_path / "rows-000002.safetensors"
    path.write_bytes(before[path.name][:-1] + b"!")
    with counted() as sizes:
        check(all_kept(rows_of(), tmp_path))
    assert sum(sizes) == sum(TRIED) + 1 + PIECE
    assert contents(tmp_path) == before


def test_only_pieces_of_changed_samples_are_computed_again(tmp_path: Path) -> None:
    all_kept(rows_of(), tmp_path)
    changed = inputs()
    changed[20] += 1
    with counted() as sizes:
        rows = all_kept(rows_of(data=(changed, labels())), tmp_path)
    assert sum(sizes) == sum(TRIED) + 1 + PIECE
    close(rows[EVERY], jacobian_rows(network(), torch.from_numpy(changed)).numpy(), rtol=1e-5, atol=1e-6)


def test_changed_labels_are_the_labels_given(tmp_path: Path) -> None:
    all_kept(rows_of(), tmp_path)
    turned = labels()[::-1].copy()
    np.testing.assert_array_equal(all_kept(rows_of(data=(inputs(), turned)), tmp_path).read(EVERY).labels, turned)


def test_more_samples_compute_everything_again(tmp_path: Path) -> None:
    all_kept(rows_of(data=(inputs()[:30], labels()[:30])), tmp_path)
    check(all_kept(rows_of(), tmp_path))


def test_other_weights_compute_everything_again(tmp_path: Path) -> None:
    other = network()
    nn.init.ones_(other.last.bias)
    all_kept(rows_of(other), tmp_path)
    check(all_kept(rows_of(), tmp_path))


def test_another_network_under_the_same_fingerprint_is_noticed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    all_kept(rows_of(network(torch.relu)), tmp_path)
    check(all_kept(rows_of(), tmp_path))
    assert "are of another network" in caplog.text


def test_the_same_rows_give_the_same_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        all_kept(rows_of(), tmp_path / name)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


PROGRAM = """
import os, signal, sys
from pathlib import Path
from tests.jacobian.networks import all_kept, rows_of

replace = Path.replace

def killed(self, target):
    if target.name == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(self, target)

Path.replace = killed
all_kept(rows_of(), Path(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("whole", [0, 2])
def test_killed_and_called_again_ends_with_the_same_bytes(tmp_path: Path, whole: int) -> None:
    killed, plain = tmp_path / "killed", tmp_path / "plain"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])}
    program = [sys.executable, "-c", PROGRAM, str(killed), f"rows-{whole:06}.safetensors"]
    assert subprocess.run(program, env=environment, check=False).returncode == -signal.SIGKILL
    assert len(list(killed.glob("rows-*"))) == whole
    with counted() as sizes:
        all_kept(rows_of(), killed)
    assert sum(sizes) == sum(TRIED) + (whole > 0) + SAMPLES - PIECE * whole
    all_kept(rows_of(), plain)
    assert contents(killed) == contents(plain)
