"""Rows of a table that are longer or shorter than its header."""

from __future__ import annotations

from pathlib import Path

import pytest

from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers import Reading, read

ROWS = ["size,colour,label", *(f"{i},{'red' if i % 3 else 'blue'},{'yes' if i % 2 else 'no'}" for i in range(12))]


def table(folder: Path, rows: list[str], name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(rows) + "\n")
    return path


def test_rows_one_field_longer_than_the_header_are_refused(tmp_path: Path) -> None:
    rows = [ROWS[0], *(f"{number},{row}" for number, row in enumerate(ROWS[1:]))]  # an index that has no name
    with pytest.raises(InputError, match=r"t\.csv: row 0, counted from 0 \(line 2 of the file\), has 4 fields and the"):
        read(table(tmp_path, rows), Reading())


@pytest.mark.parametrize(("row", "fields"), [("7,red,yes,more", "4 fields"), ("7,red", "2 fields"), ("7", "1 field")])
def test_one_odd_row_is_named(row: str, fields: str, tmp_path: Path) -> None:
    rows = [*ROWS[:8], "", row, *ROWS[8:]]  # a blank line counts for nothing but its number
    with pytest.raises(InputError, match=rf"row 7, counted from 0 \(line 10 of the file\), has {fields} and the"):
        read(table(tmp_path, rows), Reading())


def test_tabs_are_counted_in_a_tsv(tmp_path: Path) -> None:
    rows = [row.replace(",", "\t") for row in ROWS]
    with pytest.raises(InputError, match=r"row 12.*has 4 fields and the header 3; .* holds a tab"):
        read(table(tmp_path, [*rows, "1\tred\tyes\t"], "t.tsv"), Reading())


def test_commas_and_lines_between_quotes_are_no_fields(tmp_path: Path) -> None:
    rows = [*ROWS, '7,"red, or\nnot",yes', "  ", '8,"a ""very"" red one",no']
    assert len(read(table(tmp_path, rows), Reading(extra=("colour",)))) == 14
