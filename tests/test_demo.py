"""The demonstration runs and says what it found."""

import pytest

from uniqueinfo import demo


def test_the_demo_finds_most_wrong_labels(capsys: pytest.CaptureFixture[str]) -> None:
    demo.main()
    said = " ".join(capsys.readouterr().out.split())
    assert "60 training labels made wrong on purpose" in said
    assert "52 are among the 60 with a wrong label" in said
