"""From Python and from a notebook: `ui.mislabeled(scores).review()`, and what cells show."""

from __future__ import annotations

import json
import shutil
import threading
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import uniqueinfo as ui
from tests.cli.calling import Caller
from tests.pages.examples import SCRIPT, digits, hostile
from uniqueinfo.errors import InputError
from uniqueinfo.pages import summarize
from uniqueinfo.review import opening
from uniqueinfo.review.decisions import NAME, Decision, Ledger, read


def test_an_answer_is_reviewed_and_gives_back_its_decisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores, views = digits()
    seen: dict[str, Any] = {}

    def visit(server: Any, *, show: bool) -> None:
        """What `serve` does, with a visitor."""
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        with urllib.request.urlopen(f"{server.address}next?by=Ann", timeout=20) as answer:
            seen.update(json.load(answer)["sample"])
        server.review.session.decide("Ann", seen["id"], "drop")
        server.shutdown()
        thread.join()
        server.server_close()

    monkeypatch.setattr(opening, "serve", visit)
    found = ui.mislabeled(scores)
    path = found.review(tmp_path / "made.jsonl", samples=[views.train(at) for at in range(len(scores))], show=False)
    assert seen["id"] == found.frame()["id"].iloc[0]
    assert seen["view"]["picture"].startswith("picture/")
    assert [one.decision for one in read(path)] == ["drop"]


def test_a_place_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be a file"):
        ui.mislabeled(digits()[0]).review(tmp_path / "nowhere" / "made.jsonl")


def test_cells_of_a_notebook_show_small_tables_in_which_markup_is_text() -> None:
    scores, _ = hostile()
    summary = summarize(scores)
    for found in (scores, ui.mislabeled(scores, noise_rate=0.1), summary.comparisons[0], summary.concentration):
        page = found._repr_html_()
        assert "<script" not in page
        assert "<p>" in page
        assert len(page) < 200_000
    assert SCRIPT.replace("<", "&lt;").replace(">", "&gt;") in scores._repr_html_()


def test_a_run_with_decisions_is_not_overwritten(uniqueinfo: Caller, table_run: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(table_run, tmp_path / "run"))
    source = json.loads((run / "run.json").read_text())["paths"]["train"]
    Ledger(run / NAME).append(Decision("d00", "keep", given="one", by="Ann"))
    answer = uniqueinfo("score", source, "--out", run, "--overwrite")
    assert answer.code == 2
    assert "decisions of people" in answer.err
    assert (run / NAME).exists()
