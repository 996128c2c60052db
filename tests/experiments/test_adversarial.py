from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from uniqueinfo.experiments import adversarial, attacked, paper
from uniqueinfo.experiments.attacks import fgsm
from uniqueinfo.experiments.runner import Request


def test_the_area_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    attacked, clean = rng.integers(2, 9, 20).astype(float), rng.integers(0, 7, 50).astype(float)
    wanted = roc_auc_score(np.repeat([1, 0], [20, 50]), np.concatenate([attacked, clean]))
    assert adversarial._auroc(attacked, clean) == pytest.approx(wanted)


@pytest.mark.slow
def test_claims_follow_from_the_table(
    made_up: Path, tmp_path: Path, tiny: paper.Sizes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adversarial, "_ATTACKS", {"FGSM": fgsm})
    monkeypatch.setattr(attacked, "_EPOCHS", 1)
    monkeypatch.setattr(adversarial, "_DRAWS", 2)
    monkeypatch.setattr(adversarial, "_SHARE", 0.25)
    result = adversarial.run(Request(data=made_up, work=tmp_path))
    assert len(result.table) == 2
    for attack, rows in result.table.groupby("attack", sort=False):
        claims = [claim for claim in result.claims if claim.what.startswith(f"{attack}: AUROC")]
        columns = ["auroc", "auroc_reference", "auroc_reference_unlabelled"]
        assert [claim.ours for claim in claims] == pytest.approx(rows[columns].mean().tolist())
        ratio = next(claim for claim in result.claims if claim.what.startswith(f"{attack}: mean information"))
        assert ratio.ours == pytest.approx(rows["mean_attacked"].mean() / rows["mean_clean"].mean())
