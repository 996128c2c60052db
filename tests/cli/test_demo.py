"""The demonstration runs and says what it found."""

import json
from pathlib import Path

import pytest

from uniqueinfo.cli import demo


@pytest.mark.slow
def test_the_demo_finds_most_wrong_labels_and_leaves_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo.run(tmp_path)
    said = " ".join(capsys.readouterr().out.split())
    assert "Of the 12 images whose label the network trained without them contradicts most, 12 are" in said
    demo.run(tmp_path, as_json=True)  # the second time only reads what is there
    small, ten = json.loads(capsys.readouterr().out)
    assert (small["wrong"], small["caught"]) == (12, 12)
    assert ten["wrong"] == 59
    assert ten["caught"] >= 45
    assert Path(small["report"]).is_file()
    assert Path(ten["report"]).is_file()
