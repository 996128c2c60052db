import os
from pathlib import Path

import pytest

from uniqueinfo.errors import InputError
from uniqueinfo.memory import as_bytes, as_text, available, peak, resident


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GB", 4 * 10**9), ("512MiB", 2**29), ("1.5 kb", 1500), ("2TiB", 2**41), ("77", 77), ("8 B", 8)],
)
def test_sizes_are_read_in_decimal_and_binary_units(text: str, size: int) -> None:
    assert as_bytes(text) == size


def test_a_number_is_bytes() -> None:
    assert as_bytes(12345) == 12345


@pytest.mark.parametrize("wrong", ["4 apples", "GB", "4-GB", "", True, 4.5])
def test_what_is_no_size_is_refused_with_an_example(wrong: object) -> None:
    with pytest.raises(InputError, match="4GB"):
        as_bytes(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("nothing", [0, -1, "0GB", "-4GB"])
def test_nothing_is_refused(nothing: str | int) -> None:
    with pytest.raises(InputError, match="nothing to work with"):
        as_bytes(nothing)


def test_default_is_half_of_what_is_free() -> None:
    assert 0.8 < as_bytes(None) / (available() / 2) < 1.25


def test_available_is_read_from_meminfo(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  24000000 kB\nMemFree:  1 kB\nMemAvailable:  2000 kB\n")
    assert available(meminfo, tmp_path / "absent") == 2000 * 1024


def test_available_without_meminfo_is_still_a_size(tmp_path: Path) -> None:
    assert available(tmp_path / "absent", tmp_path / "absent") > 2**20


def test_the_limit_of_a_container_holds(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("700000\n")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 100000\n")
    assert available(cgroup=tmp_path) == 400000


def test_a_container_without_limit_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("max\n")
    assert available(cgroup=tmp_path) > 2**20


def test_sizes_are_written_in_three_digits() -> None:
    assert [as_text(size) for size in (12, 1500, 2_340_000, 5e15)] == [
        "12 B",
        "1.5 kB",
        "2.34 MB",
        "5e+03 TB",
    ]


def test_what_a_process_holds_is_read_in_pages(tmp_path: Path) -> None:
    (tmp_path / "statm").write_text("900 25 12 1 0 200 0\n")
    assert resident(tmp_path / "statm") == 25 * os.sysconf("SC_PAGE_SIZE")
    assert resident(tmp_path / "missing") == 0


def test_the_peak_is_read_from_the_status(tmp_path: Path) -> None:
    (tmp_path / "status").write_text("Name:\tpython\nVmHWM:\t    2000 kB\nVmRSS:\t    1000 kB\n")
    assert peak(tmp_path / "status") == 2000 * 1024
    assert peak(tmp_path / "missing") == 0
