import os
import pty
import subprocess
import sys
import textwrap

import pytest

from uniqueinfo.progress import progress


def on_a_terminal(code: str, patience: float | None = None) -> str:
    """What a real terminal gets to see of a program's stderr, whose bars may be told to show sooner."""
    master, slave = pty.openpty()
    sooner = "" if patience is None else f"import uniqueinfo.progress as p; p._PATIENCE = {patience}\n"
    program = [sys.executable, "-c", sooner + textwrap.dedent(code)]
    environment = os.environ | {"COLUMNS": "120", "TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(program, stderr=slave, env=environment)
    os.close(slave)
    seen = b""
    try:
        while chunk := os.read(master, 4096):
            seen += chunk
    except OSError:  # the other end was closed
        pass
    os.close(master)
    assert process.wait() == 0, seen.decode()
    return seen.decode()


@pytest.mark.slow
def test_long_work_shows_rate_and_time_left() -> None:
    seen = on_a_terminal(
        """
        import time
        from uniqueinfo.progress import progress
        with progress("Jacobian rows", total=1000) as advance:
            for _ in range(26):
                time.sleep(0.1)
                advance(10)
        """
    )
    assert "Jacobian rows" in seen
    assert "/1,000" in seen
    assert "samples/s" in seen
    assert "0:00:0" in seen
    assert "left" in seen


def test_short_work_shows_nothing() -> None:
    seen = on_a_terminal(
        """
        from uniqueinfo.progress import progress
        with progress("Jacobian rows", total=1) as advance:
            advance(1)
        """
    )
    assert seen == ""


def test_silent_where_stderr_is_no_terminal(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uniqueinfo.progress._PATIENCE", 0.0)
    with progress("Jacobian rows", total=2) as advance:
        advance(1)
    assert capfd.readouterr() == ("", "")


def test_silent_on_a_terminal_when_told_so() -> None:
    seen = on_a_terminal(
        """
        import time
        from uniqueinfo.progress import progress
        with progress("Jacobian rows", total=1, show=False) as advance:
            time.sleep(0.3)
        """,
        patience=0.1,
    )
    assert seen == ""


def test_an_error_inside_passes_through() -> None:
    with pytest.raises(ZeroDivisionError), progress("Jacobian rows", total=1):
        raise ZeroDivisionError


def test_a_step_that_cannot_be_looked_into_goes_with_the_clock() -> None:
    seen = on_a_terminal(
        """
        import time
        from uniqueinfo.progress import expecting
        with expecting("Eigenvalues", lambda: 2.0):
            time.sleep(1.2)
        """,
        patience=0.1,
    )
    assert "Eigenvalues" in seen
    assert "0:00:0" in seen
    assert "left" in seen


def test_eigenvalues_that_take_long_show_their_time() -> None:
    seen = on_a_terminal(
        """
        import torch
        from uniqueinfo.spectrum.eigensystem import eigh
        torch.set_num_threads(1)
        rows = torch.randn(1000, 1000, dtype=torch.float64)
        eigh(rows @ rows.T)
        """,
        patience=0.01,  # long is what takes longer than this
    )
    assert "Eigenvalues" in seen
    assert "left" in seen


def test_nothing_shows_where_it_is_not_wanted() -> None:
    seen = on_a_terminal(
        """
        import time
        from uniqueinfo.progress import expecting, progress, showing
        with showing(False), expecting("Eigenvalues", lambda: 3.0), progress("Rows", total=3):
            time.sleep(0.3)
        """,
        patience=0.1,
    )
    assert seen == ""
