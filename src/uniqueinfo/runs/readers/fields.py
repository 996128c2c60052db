"""Rows of a CSV file with more or fewer fields than its header: every column after the odd one would be another's."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from uniqueinfo.errors import InputError


def check_fields(path: Path, separator: str) -> None:
    """Refuse a file whose rows are not all as long as its header.

    Rows count from 0, as elsewhere, and lines from 1, as editors count them.
    """
    with path.open(encoding="utf-8-sig", newline="") as file, _any_length():
        rows = csv.reader(file, delimiter=separator)
        header = next(rows, [])
        # Lengths alone, without a loop of our own: files may have millions of rows, and hardly any is odd.
        if set(map(len, rows)) <= {len(header), 0}:
            return
    with path.open(encoding="utf-8-sig", newline="") as file, _any_length():
        for number, (line, row) in enumerate(_filled(csv.reader(file, delimiter=separator)), start=-1):
            if len(row) != len(header):
                raise InputError(
                    f"{path}: row {number}, counted from 0 (line {line} of the file), has {_counted(len(row))} and the "
                    f"header {len(header)}; mend it: a text that holds a {'tab' if separator != ',' else 'comma'} "
                    "stands between quotes"
                )


def _filled(rows: Any) -> Iterator[tuple[int, list[str]]]:
    """Without blank lines, which count for nothing."""
    return ((rows.line_num, row) for row in rows if row and (len(row) > 1 or row[0].strip()))


def _counted(fields: int) -> str:
    return "1 field" if fields == 1 else f"{fields} fields"


@contextmanager
def _any_length() -> Iterator[None]:
    """Texts may be long."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)
