"""Back from scores to what they were measured on."""

from __future__ import annotations

from pathlib import Path

from uniqueinfo.linearization.linearization import Trained
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.removal.learning import Learnt
from uniqueinfo.scoring.pieces import Sources
from uniqueinfo.scoring.problem import Place, Problem
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.training import Training


def origin_of(
    problem: Problem, sources: Sources, system: Eigensystem, training: Training, learnt: Learnt | None
) -> Origin:
    """What was just measured: eigenvectors are not computed again."""
    linearization = problem.face(sources, system)
    run = Trained.of(linearization, training, system, known=learnt)
    return Origin(run, None if sources.val is None else sources.val.probe(system))


def reopened(problem: Problem, work: Path, training: Training) -> Origin:
    """What scores that were computed before were measured on: rows or kernels that are kept are found again."""
    sources = problem.ready(problem.sources, Place(work, local=True, owned=True))
    linearization = problem.face(sources, None)
    probe = None if sources.val is None else sources.val.probe(linearization.system)
    return Origin(linearization.train(training), probe)
