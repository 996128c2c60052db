"""`uniqueinfo score --engine`: partition by partition, with the same scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.calling import Caller
from tests.runs.readers import files
from uniqueinfo.scores.folder import load_table as load


@pytest.mark.parametrize("model", ["linear", "mlp:4"])
def test_an_engine_scores_as_all_at_once(model: str, tmp_path: Path, uniqueinfo: Caller) -> None:
    training = ("--training", "converged", "--weight-decay", 0.1, "--projection", 10_000)
    command = ("score", files.npz(tmp_path / "a.npz"), "--model", model, *training)
    assert uniqueinfo(*command, "--out", tmp_path / "whole").code == 0
    assert uniqueinfo(*command, "--engine", "local", "--out", tmp_path / "parts").code == 0
    whole, parts = load(tmp_path / "whole"), load(tmp_path / "parts")
    for name in ("weight", "functional", "value", "loo_outputs"):
        wanted = getattr(whole, name)
        # float32 rows in batches of another size
        np.testing.assert_allclose(getattr(parts, name), wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max())
    assert whole.frame()["label"].tolist() == parts.frame()["label"].tolist()
    assert whole.frame()["id"].tolist() == parts.frame()["id"].tolist()
    assert {path.name for path in (tmp_path / "parts").iterdir()} >= {"report.html", "run.json", "scores.parquet"}
    assert not (tmp_path / "parts" / "streamed").exists()


def test_a_scheduler_without_dask_is_refused(tmp_path: Path, uniqueinfo: Caller) -> None:
    data = files.npz(tmp_path / "a.npz")
    answer = uniqueinfo("score", data, "--scheduler", "tcp://here:8786", "--out", tmp_path / "run")
    assert answer.code != 0
    assert "--engine dask" in answer.err
    assert not (tmp_path / "run").exists()
