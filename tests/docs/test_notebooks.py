"""The notebooks run from top to bottom, are small, and hold no outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="notebooks are read by nbformat")
nbclient = pytest.importorskip("nbclient", reason="notebooks are run by nbclient")
pytest.importorskip("ipykernel", reason="notebooks run in ipykernel")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["labels", "training", "worth"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_holds_no_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert path.stat().st_size < 10_000
    assert not any(cell.get("outputs") for cell in notebook.cells)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of the kernel's own machinery
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert shown
    assert not any(output.output_type == "error" for output in shown)
