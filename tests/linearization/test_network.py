"""Networks linearized: what is held or found again."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

import uniqueinfo as ui
from tests.jacobian.networks import LARGE, SAMPLES, SMALL, counted, inputs, labels, network, rows_of
from tests.oracles.compare import close
from tests.scoring.problems import contents
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian import passes
from uniqueinfo.jacobian.keeping import InMemory, OnDisk
from uniqueinfo.jacobian.kernels import Kernels, exact_kernels
from uniqueinfo.linearization.network import linearize
from uniqueinfo.linearization.network_sources import held

# Rows that are held


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_rows_within_half_of_the_budget_stay_in_memory(scratch: Path) -> None:
    rows = held(rows_of(memory=LARGE), None, show=False)
    assert isinstance(rows.keeper, InMemory)
    assert list(scratch.iterdir()) == []


def test_rows_past_half_of_the_budget_go_to_a_temporary_folder(scratch: Path) -> None:
    rows = held(rows_of(memory=SMALL), None, show=False)
    assert isinstance(rows.keeper, OnDisk)
    assert [path.name.partition("-")[0] for path in scratch.iterdir()] == ["uniqueinfo"]


def test_rows_go_to_the_folder_that_is_named(tmp_path: Path) -> None:
    held(rows_of(memory=LARGE), tmp_path, show=False)
    assert sorted(contents(tmp_path)) == ["owner.json", "rows-000000.safetensors", "rows-000001.safetensors"]


@pytest.mark.parametrize("named", [True, False])
def test_rows_that_the_disk_has_no_room_for_are_refused_first(
    named: bool, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = rows_of(memory=SMALL)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=10))
    with counted() as sizes, pytest.raises(InputError, match=r"the Jacobian rows take .* has 10 B free"):
        held(tried, scratch / "rows" / "train" if named else None, show=False)
    assert (sizes, list(scratch.iterdir())) == ([], [])


@pytest.mark.parametrize("memory", [SMALL, LARGE])
def test_held_rows_are_computed_once(memory: int, scratch: Path) -> None:
    tried = rows_of(memory=memory)
    with counted() as sizes:
        rows = held(tried, None, show=False)
        assert len(rows[slice(0, SAMPLES)]) == SAMPLES
    assert sum(sizes) == SAMPLES


def test_a_temporary_folder_goes_with_the_last_reference_to_its_rows(scratch: Path) -> None:
    rows = held(rows_of(memory=SMALL), None, show=False)
    other = rows.kept(rows.keeper) if rows.keeper is not None else None
    del rows
    gc.collect()
    assert other is not None
    assert len(other[slice(0, SAMPLES)]) == SAMPLES
    del other
    gc.collect()
    assert list(scratch.iterdir()) == []


def test_a_temporary_folder_goes_after_an_error(scratch: Path) -> None:
    fails_on_a_sample()
    gc.collect()
    assert list(scratch.iterdir()) == []


def fails_on_a_sample() -> None:
    """In a function of its own, whose end lets go of the error and of all that it holds."""
    x = inputs()
    x[13] = -1e30
    with pytest.raises(InputError, match="sample 13"):
        held(rows_of(network(torch.exp), (np.abs(x), labels()), memory=SMALL), None, show=False)


# Kernels in a folder


def wide() -> nn.Module:
    """More parameters than rows, so that kernels stand for them."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 40), nn.Tanh(), nn.Linear(40, 1))


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows whenever exact kernels are computed."""
    times = []

    def counting(*args: object, **kwargs: object) -> Kernels:
        times.append("computed")
        return exact_kernels(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(passes, "exact_kernels", counting)
    return times


def data(count: int = SAMPLES) -> tuple[np.ndarray, np.ndarray]:
    return inputs()[:count], np.arange(count) % 2


def test_kernels_in_a_folder_are_not_computed_again(tmp_path: Path, computed: list[str]) -> None:
    first = linearize(wide(), data(), data(5), folder=tmp_path)
    again = linearize(wide(), data(), data(5), folder=tmp_path)
    assert computed == ["computed"]
    run, other = (each.train(ui.Converged(0.1)) for each in (first, again))
    close(run.outputs(), other.outputs(), rtol=1e-12)
    close(run.outputs(first.validation), other.outputs(again.validation), rtol=1e-12)


def test_kernels_of_other_samples_are_computed(tmp_path: Path, computed: list[str]) -> None:
    linearize(wide(), data(), data(5), folder=tmp_path)
    linearize(wide(), data(), data(6), folder=tmp_path)
    assert len(computed) == 2


def test_kernels_of_another_network_are_computed(tmp_path: Path, computed: list[str]) -> None:
    linearize(wide(), data(), folder=tmp_path)
    other = wide()
    next(other.parameters()).data += 1
    linearize(other, data(), folder=tmp_path)
    assert len(computed) == 2


def test_damaged_kernels_are_computed_again(tmp_path: Path, computed: list[str]) -> None:
    linearize(wide(), data(), folder=tmp_path)
    (path,) = tmp_path.rglob("*.safetensors")
    path.write_bytes(path.read_bytes()[:-1])
    linearize(wide(), data(), folder=tmp_path)
    assert len(computed) == 2
