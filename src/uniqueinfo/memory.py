"""How much memory a pass may use: `"4GB"`, `"512MiB"`, a number of bytes, or a share of what is free."""

import os
import re
from pathlib import Path

from uniqueinfo.errors import InputError

_UNITS = {"": 1, "b": 1} | {
    f"{prefix}{suffix}": base**power
    for suffix, base in (("b", 1000), ("ib", 1024))
    for power, prefix in enumerate("kmgt", start=1)
}
_UNKNOWN = 4 * 1024**3  # assumed free where the system does not tell


def as_bytes(memory: str | int | None) -> int:
    """The budget in bytes; `None` is half of what is free now.

    >>> as_bytes("4GB"), as_bytes("512MiB"), as_bytes(1000)
    (4000000000, 536870912, 1000)
    """
    if memory is None:
        return available() // 2
    # bool is an int to Python, and never meant as a size
    text = memory if isinstance(memory, str) else str(memory) if type(memory) is int else ""
    match = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2] not in _UNITS:
        raise InputError(f"memory={memory!r} is not a size: write '4GB', '512MiB' or a number of bytes")
    size = int(float(match[1]) * _UNITS[match[2]])
    if size <= 0:
        raise InputError(f"memory={memory!r} leaves nothing to work with: give more than zero bytes")
    return size


def as_text(size: float) -> str:
    """A number of bytes as people read it.

    >>> as_text(6_500_000_000), as_text(999)
    ('6.5 GB', '999 B')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def available(meminfo: Path = Path("/proc/meminfo"), cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that can be taken without swapping, within the limit of the container if there is one."""
    return min(_machine(meminfo), _container(cgroup))


def resident(statm: Path = Path("/proc/self/statm")) -> int:
    """Bytes that this process holds, most of them libraries; 0 where the system does not tell."""
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def peak(status: Path = Path("/proc/self/status")) -> int:
    """The most bytes that this process ever held; 0 where the system does not tell."""
    lines = status.read_text().splitlines() if status.exists() else []
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def _machine(meminfo: Path) -> int:
    if meminfo.exists():
        fields = dict(line.split(":") for line in meminfo.read_text().splitlines())
        if "MemAvailable" in fields:
            return int(fields["MemAvailable"].split()[0]) * 1024
    known = getattr(os, "sysconf_names", {})
    for pages in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):  # macOS tells only the second
        if pages in known:
            return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
    return _UNKNOWN


def _container(cgroup: Path) -> int:
    limit, current, stat = (cgroup / f"memory.{name}" for name in ("max", "current", "stat"))
    if not limit.exists() or not limit.read_text().strip().isdigit():  # absent or "max": no limit
        return 2**63
    # Pages of files that were read count as used, though the kernel gives them back when asked.
    cached = dict(line.split() for line in stat.read_text().splitlines())["inactive_file"]
    return max(0, int(limit.read_text()) - int(current.read_text()) + int(cached))
