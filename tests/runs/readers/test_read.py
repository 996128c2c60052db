"""Which reader a path goes to, and that one new file is a new reader."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.added import added
from tests.runs.readers import files
from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers import Reading, read

PACKAGE = "uniqueinfo.runs.readers"

LINES = '''
    """Lines of numbers, the label first."""

    import numpy as np

    from uniqueinfo.runs.readers.data import Data
    from uniqueinfo.runs.readers.reader import Reader, Turn, suffixed


    def read_lines(path, reading, labelled):
        table = np.loadtxt(path)
        return Data(table[:, 1:], table[:, 0].astype(int), np.arange(len(table)), None, str, (path,))


    READERS = (Reader("a .lines file", {claim}, read_lines, Turn.{turn}),)
'''


def test_one_new_file_is_a_new_reader(tmp_path: Path) -> None:
    (tmp_path / "a.lines").write_text("0 1.5 2\n1 3 4\n")
    (tmp_path / "a.other").write_text("0 1.5 2\n")
    with added(PACKAGE, tmp_path, LINES.format(claim="suffixed('.lines')", turn="by_name")):
        assert read(tmp_path / "a.lines", Reading()).inputs.tolist() == [[1.5, 2], [3, 4]]
        with pytest.raises(InputError, match=r"no known kind; give .* a \.lines file, .* or a folder of"):
            read(tmp_path / "a.other", Reading())
    with pytest.raises(InputError, match="no known kind"):
        read(tmp_path / "a.lines", Reading())


def test_the_kinds_are_told_as_the_readers_say() -> None:
    table, arrays = r"a \.csv, \.tsv, \.parquet or \.jsonl table", r"an \.npz or \.npy of arrays"
    with pytest.raises(InputError, match=f"; give {arrays}, .*{table}, .*an IDX file, .*or a folder of class folders"):
        read(Path(__file__), Reading())


def test_a_reader_of_some_folders_is_asked_before_that_of_all(tmp_path: Path) -> None:
    pictures = files.pictures(tmp_path / "pictures")
    with added(PACKAGE, tmp_path, LINES.format(claim="lambda path: path.name == 'data.d'", turn="by_content")):
        assert read(pictures, Reading()).inputs.shape[1:] == (3, 64, 64)
        (tmp_path / "data.d").mkdir()
        with pytest.raises(InputError, match="Is a directory"):  # by the new one's loadtxt, so it was asked
            read(tmp_path / "data.d", Reading())


def test_two_readers_of_one_turn_are_a_mistake_of_ours(tmp_path: Path) -> None:
    path = files.npz(tmp_path / "a.npz")
    with (
        added(PACKAGE, tmp_path, LINES.format(claim="suffixed('.npz')", turn="by_name")),
        pytest.raises(TypeError, match=r"an \.npz or \.npy of arrays and as a \.lines file"),
    ):
        read(path, Reading())


def test_no_reader_gets_to_see_a_pickle(tmp_path: Path) -> None:
    (tmp_path / "a.pkl").write_bytes(b"")
    with (
        added(PACKAGE, tmp_path, LINES.format(claim="suffixed('.pkl')", turn="by_name")),
        pytest.raises(InputError, match="never opened"),
    ):
        read(tmp_path / "a.pkl", Reading())


@pytest.mark.parametrize("content", [b"hello", gzip.compress(b"hello", mtime=0)[:5], gzip.compress(b"hello", mtime=0)])
def test_a_gz_that_is_no_idx_is_of_no_known_kind(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "notes.gz").write_bytes(content)
    with pytest.raises(InputError, match="no known kind"):
        read(tmp_path / "notes.gz", Reading())
