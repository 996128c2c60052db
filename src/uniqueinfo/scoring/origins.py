"""Back from scores to what they were measured on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from uniqueinfo.linearization.linearization import Trained
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.removal.learning import Learnt
from uniqueinfo.scoring.pieces import Sources
from uniqueinfo.scoring.problem import Place, Problem
from uniqueinfo.scoring.work import Work
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.training import Training


def origin_of(
    problem: Problem,
    sources: Sources,
    system: Eigensystem,
    training: Training,
    learnt: Learnt | None,
    probe: Probe | None,
) -> Origin:
    """What was just measured: eigenvectors are not computed again, nor kernel values of a probe that was looked at."""
    linearization = problem.face(sources, system)
    run = Trained.of(linearization, training, system, known=learnt)
    return Origin(run, _probe(problem, sources, system, probe))


def reopened(problem: Problem, work: Path, training: Training) -> Origin:
    """What scores that were computed before were measured on: rows, kernels and eigenvectors that are kept are found.

    Eigenvectors that are not there are computed, and stay for the next question.
    """
    sources = problem.ready(problem.sources, Place(work, local=True, owned=True))
    kept = Work.of_run(work)
    known = problem.known or _kept_system(problem, sources, kept)
    linearization = problem.face(sources, known)
    if known is None and problem.choice.form != "steps":
        kept.keep_spectrum(linearization.system)
        kept.done(questions=True)
    probe = _probe(problem, sources, linearization.system)
    return Origin(linearization.train(training), probe, work=kept.folder)


def _probe(problem: Problem, sources: Sources, system: Eigensystem, known: Probe | None = None) -> Probe | None:
    """The validation samples, by their own names."""
    if sources.val is None:
        return None
    return replace(sources.val.probe(system) if known is None else known, ids=problem.names.validation)


def _kept_system(problem: Problem, sources: Sources, kept: Work) -> Eigensystem | None:
    """The eigenvectors of the run, where they lie in its folder."""
    train, form = sources.train, problem.choice.form
    if form in ("sketch", "steps"):
        return None
    residual = None if form == "primal" else train.read(slice(0, train.samples), rows=False).residual
    return kept.spectrum(residual, None if train.width is None else train.rows(), train.device)
