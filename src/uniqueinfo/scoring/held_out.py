"""Scores of samples that were held out for validation: what each would add, had it been trained on.

A training sample is measured by leaving it out, w − w₋ᵢ; one that was held out by adding it, w₊ⱼ − w, looked at on the
other held-out samples. What the network says of it was said without it, so its output is a leave-one-out output.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from uniqueinfo.linearization.origin import Origin
from uniqueinfo.removal.additions import Added, add_each, longest
from uniqueinfo.scores.everyone import HELD
from uniqueinfo.scores.table import HeldScores
from uniqueinfo.scoring.problem import Names
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.sketch import Sketched
from uniqueinfo.training import Training


def why_not_added(system: Eigensystem, training: Training, samples: int) -> str | None:
    """Why held-out samples cannot be measured by adding them, so that only predictions are known; None if they can."""
    if not training.in_closed_form:
        return "samples are added in closed form under squared error alone"
    if isinstance(system, Sketched):
        return "a sketch keeps only some directions, and a new sample may need others"
    if system.is_minimum_norm(training.filter(samples + 1)):
        return "training to the end without weight decay says nothing of a new sample; add a little decay"
    return None


def held_out_scores(origin: Origin, names: Names, factor: float = 1.0) -> HeldScores:
    """Of every validation sample; NaN for what cannot be measured."""
    run, probe = origin.run, origin.probe
    assert probe is not None
    assert probe.targets is not None
    said = run.outputs(probe)
    found = None if why_not_added(run.system, run.training, run.samples) else _added(origin)
    unknown = np.full(probe.samples, np.nan)
    measured: dict[str, Any] = dict.fromkeys(("weight", "functional", "value"), unknown)
    if found is not None:
        assert found.functional is not None
        assert found.value is not None
        measured = {"weight": found.weight, "functional": found.functional, "value": found.value}
    targets = probe.targets.flatten(1).cpu().numpy()
    if run.learnt is not None:
        measured["loo_losses"] = run.learnt.loss.value(torch.from_numpy(said), torch.from_numpy(targets)).numpy()
        measured |= {"kl": unknown} if run.learnt.loss.has_probabilities else {}
    return HeldScores(
        **{name: each if name == "loo_losses" else factor * each for name, each in measured.items()},
        loo_outputs=said,
        outputs=said if found is None else said + found.own,
        targets=targets,
        labels=names.labels,
        ids=names.ids,
        columns=names.columns,
        place=np.full(probe.samples, HELD, dtype=object),
        rows=names.rows,
    )


def _added(origin: Origin) -> Added:
    """With one more sample the largest eigenvalue may grow, and descent at this rate diverge: then by flow."""
    run, probe = origin.run, origin.probe
    assert probe is not None
    assert probe.targets is not None
    steady = run.training.stable(run.system.largest + longest(probe), run.samples + 1)
    return add_each(origin.trained(steady).run, probe, probe, probe.targets, apart=True)
