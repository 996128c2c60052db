from __future__ import annotations

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
