from __future__ import annotations

import numpy as np
import pytest

from uniqueinfo.experiments import steadystate
from uniqueinfo.experiments.runner import Request


@pytest.mark.slow
def test_simulated_steady_states_agree_with_the_lyapunov_equation_within_five_percent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(steadystate._SIZES, "small", {"chains": 1500, "snapshots": 5})
    result = steadystate.run(Request())
    last = result.table.groupby("process").last().error
    for process in ("SDE, isotropic noise", "SDE, gradient noise", "SGD, η·h = 0.02"):
        assert last[process] <= 0.05
    assert all(claim.holds is not False for claim in result.claims)


def test_how_far_redrawn_chains_stray_is_what_normal_means_do() -> None:
    chains = np.random.default_rng(0).normal(size=(1000, 1, 1))
    # 2000 redraws know a 95 % quantile of |normal| within 4 %
    assert steadystate._strays(chains) == pytest.approx(1.96 * chains.std() / np.sqrt(1000), rel=0.1)
