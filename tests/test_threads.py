"""How many threads there are, on machines made up in files and on this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from uniqueinfo import GradientFlow, InputError, Scores, score_features, threads
from uniqueinfo.scoring import driver
from uniqueinfo.spectrum.sums import Sums
from uniqueinfo.threads import allowed, free, sharing, together


@pytest.fixture
def two_threads() -> Iterator[None]:
    """Torch allowed two, as a user may have set it."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which nothing was seen yet."""
    monkeypatch.setattr(threads, "_mine", lambda: {0, 1})
    monkeypatch.setattr(threads._State, "seen", (-threads._FRESH, 0.0))


@pytest.mark.parametrize(
    ("text", "expected"), [("max 100000", 2), ("150000 100000", 1), ("50000 100000", 1), ("800000 100000", 2)]
)
@pytest.mark.usefixtures("two_processors")
def test_a_container_may_use_fewer_processors(text: str, expected: int, tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text(text + "\n")
    assert allowed(tmp_path) == expected


@pytest.mark.usefixtures("two_processors")
def test_so_may_one_of_the_older_kind(tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("100000\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert allowed(tmp_path) == 1


@pytest.mark.parametrize(
    ("idle_share", "expected"), [((1.0, 1.0), 2), ((1.0, 0.0), 1), ((0.0, 0.0), 1), ((0.9, 0.8), 2)]
)
@pytest.mark.usefixtures("two_processors")
def test_processors_that_others_use_are_not_free(
    idle_share: tuple[float, float], expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat, clock = tmp_path / "stat", [100.0]

    def write() -> None:
        ticks = [int(clock[0] * share * os.sysconf("SC_CLK_TCK")) for share in idle_share]
        lines = [f"cpu{number} 5 0 5 {idle} 0 0 0 0 0 0" for number, idle in enumerate(ticks)]
        stat.write_text("\n".join(["cpu 0 0 0 0 0 0 0 0 0 0", *lines, "intr 5"]) + "\n")

    def sleep(seconds: float) -> None:
        clock[0] += seconds
        write()

    write()
    monkeypatch.setattr("uniqueinfo.threads.time.monotonic", lambda: clock[0])
    monkeypatch.setattr("uniqueinfo.threads.time.sleep", sleep)
    assert free(stat) == expected


@pytest.mark.usefixtures("two_threads")
def test_what_the_user_set_is_put_back_even_after_an_error() -> None:
    def fail() -> None:
        with sharing(1):
            assert torch.get_num_threads() == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_the_outermost_decides() -> None:
    with sharing(2), sharing(1) as inner:
        assert inner == torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_no_more_are_used_than_torch_was_told() -> None:
    with sharing(16) as number:
        assert number == 2


@pytest.mark.usefixtures("two_threads")
def test_small_work_has_one() -> None:
    with sharing(small=True) as number:
        assert number == 1


@pytest.mark.usefixtures("two_threads", "two_processors")
@pytest.mark.parametrize(("asleep", "named", "expected"), [(True, None, 2), (False, None, 1), (False, 2, 2)])
def test_only_threads_that_spin_and_were_not_asked_for_become_fewer_on_the_way(
    asleep: bool, named: int | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads._State, "asleep", asleep)
    monkeypatch.setattr(threads, "free", lambda: 2)
    with sharing(named):
        monkeypatch.setattr(threads, "free", lambda: 1)
        threads.look_again()
        assert torch.get_num_threads() == expected
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "two"])
def test_what_is_no_number_of_threads_is_refused(wrong: object) -> None:
    with pytest.raises(InputError, match="threads: expected how many"), sharing(wrong):  # type: ignore[arg-type]
        pass


def test_tasks_together_come_back_in_their_order() -> None:
    with sharing(2):
        assert together([partial(pow, at, 2) for at in range(9)]) == [at**2 for at in range(9)]


@pytest.mark.usefixtures("two_threads")
def test_sums_are_the_same_bits_with_any_number_of_threads() -> None:
    rows = torch.from_numpy(np.random.default_rng(0).normal(size=(4_000, 1, 300)))
    found = []
    for number in (1, 2):
        with sharing(number):
            found.append(Sums.of(rows, rows[..., :2]))
    assert (found[0].gram == found[1].gram).all()
    assert (found[0].moment == found[1].moment).all()
    flat = rows[:, 0].numpy()
    np.testing.assert_allclose(found[0].gram, flat.T @ flat, rtol=0, atol=1e-9)


@pytest.mark.usefixtures("two_threads")
def test_scores_are_the_same_bits_with_the_same_number_and_agree_with_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_SMALL", 0)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1_000, 100)), rng.integers(0, 3, 1_000)

    def scored(number: int) -> Scores:
        return score_features(X, y, X[:100], y[:100], training=GradientFlow(lr=0.1, time=100.0), threads=number)

    one, two, again = scored(1), scored(2), scored(2)
    assert one.functional is not None
    assert two.functional is not None
    assert (two.functional == again.functional).all()
    assert (two.loo_outputs == again.loo_outputs).all()
    np.testing.assert_allclose(two.functional, one.functional, rtol=1e-9)


@pytest.mark.parametrize(
    ("first", "set_to", "expected"),
    [("", None, "passive True"), ("", "active", "active False"), ("import torch; ", None, "None False")],
)
def test_threads_wait_asleep_where_torch_is_loaded_by_us(first: str, set_to: str | None, expected: str) -> None:
    program = f"{first}import os, uniqueinfo.threads as t; print(os.environ.get('OMP_WAIT_POLICY'), t._State.asleep)"
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    environment |= {} if set_to is None else {"OMP_WAIT_POLICY": set_to}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == expected.split()
