"""Back from scores to what they were measured on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from uniqueinfo.linearization.linearization import Trained
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.scoring.pieces import Sources
from uniqueinfo.scoring.problem import Place, Problem
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.training import Training


def origin_of(problem: Problem, sources: Sources, system: Eigensystem, training: Training) -> Origin:
    """What was just measured: eigenvectors are not computed again."""
    linearization = problem.face(sources, system)
    run = Trained(system, linearization.residual, linearization.samples, training, linearization)
    return Origin(run, _probe(problem, sources, system))


def reopened(problem: Problem, work: Path, training: Training) -> Origin:
    """What scores that were computed before were measured on: rows or kernels that are kept are found again."""
    sources = problem.ready(problem.sources, Place(work, local=True, owned=True))
    linearization = problem.face(sources, None)
    return Origin(linearization.train(training), _probe(problem, sources, linearization.system))


def _probe(problem: Problem, sources: Sources, system: Eigensystem) -> Probe | None:
    """The validation samples, by their own names."""
    return None if sources.val is None else replace(sources.val.probe(system), ids=problem.names.validation)
