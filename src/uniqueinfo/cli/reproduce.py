"""The command ``reproduce``: the paper's tables and figures by name."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import typer
from rich.markup import escape
from rich.table import Table

from uniqueinfo.cli.printing import Screen, print_json
from uniqueinfo.errors import InputError, UniqueInfoError
from uniqueinfo.experiments.gallery import write_gallery
from uniqueinfo.experiments.registry import EXPERIMENTS
from uniqueinfo.experiments.runner import Claim, Request
from uniqueinfo.experiments.runner import reproduce as run
from uniqueinfo.progress import hide
from uniqueinfo.store.plain import records
from uniqueinfo.threads import allowed


@dataclass(frozen=True)
class _Outcome:
    name: str
    seconds: float
    claims: list[Claim]
    error: str | None = None
    """Why it could not run."""


def reproduce(
    name: str, request: Request, out: Path, *, as_json: bool, skip: Collection[str] = (), jobs: int = 1
) -> None:
    """Run one experiment, or `all` but those to skip: those that cannot run are told at the end."""
    _check(name, skip)
    console = Screen()
    names = [each for each in EXPERIMENTS if each not in skip] if name == "all" else [name]
    found, failed = {}, {}
    for outcome in _outcomes(names, request, out, jobs=jobs):
        if outcome.error is not None:
            if name != "all":
                raise InputError(outcome.error)
            failed[outcome.name] = outcome.error
            continue
        found[outcome.name] = outcome.claims
        if not as_json:
            console.print(_table(outcome, request))
            console.print(f"written to {escape(str(out / outcome.name))}\n")
    if as_json:
        claims = {each: records(pd.DataFrame(found[each])) for each in names if each in found}
        print_json({"out": str(out), "claims": claims, "failed": failed})
    for each, why in failed.items():
        Screen(stderr=True).print(f"{each} did not run: {escape(why)}")
    if failed:
        raise typer.Exit(1)


def _check(name: str, skip: Collection[str]) -> None:
    for asked in ([] if name == "all" else [name], skip):
        for each in asked:
            if each not in EXPERIMENTS:
                raise InputError(f"there is no experiment {each!r}; there are: {', '.join(EXPERIMENTS)}")


def _outcomes(names: list[str], request: Request, out: Path, *, jobs: int) -> Iterator[_Outcome]:
    """Of each as it ends; several at a time in processes of their own, which share the threads there are."""
    if jobs == 1 or len(names) == 1:
        yield from (_outcome(name, request, out) for name in names)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    threads = max(1, allowed() // jobs)
    first = sorted(names, key=lambda name: not EXPERIMENTS[name].long)
    with ProcessPoolExecutor(
        jobs, get_context("spawn"), initializer=_alone, initargs=(threads,), max_tasks_per_child=1
    ) as pool:
        running = [pool.submit(_outcome, name, request, out) for name in first]
        yield from (each.result() for each in as_completed(running))


def _outcome(name: str, request: Request, out: Path) -> _Outcome:
    started = time.perf_counter()
    try:
        claims = run(name, request, out).claims
    except UniqueInfoError as wrong:
        return _Outcome(name, time.perf_counter() - started, [], error=str(wrong))
    return _Outcome(name, time.perf_counter() - started, claims)


def _alone(threads: int) -> None:
    """What a process of several is told first: its share of the threads, and no bars over those of others."""
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(threads)
    threadpool_limits(threads)
    hide()


def list_experiments(*, as_json: bool) -> None:
    """Print the names there are."""
    if as_json:
        print_json({name: known.what for name, known in EXPERIMENTS.items()})
        return
    console = Screen()
    for name, known in EXPERIMENTS.items():
        console.print(f"{name:<15} {escape(known.what)}")


def gallery(results: Path, page: Path) -> None:
    """Write the page of a results folder."""
    write_gallery(results, page)
    Screen().print(f"Page: {escape(str(page))}")


def _table(outcome: _Outcome, request: Request) -> Table:
    title = f"{outcome.name}, {request.scale} scale, {outcome.seconds:.0f} s"
    table = Table("what", "ours", "paper", "holds", title=title, title_justify="left")
    for claim in outcome.claims:
        held = "" if claim.holds is None else "yes" if claim.holds else "[red]NO[/]"
        paper = "" if claim.paper is None else escape(str(claim.paper))
        table.add_row(escape(claim.what), escape(shown(claim)), paper, held)
        if claim.note:
            table.add_row(f"[dim]{escape(claim.note)}[/]")
    return table


def shown(claim: Claim) -> str:
    """Our figure with its interval.

    >>> shown(Claim("correlation", 0.3642, 0.298, 0.43))
    '0.364 [0.298, 0.43]'
    """
    value = claim.ours if isinstance(claim.ours, str) else f"{claim.ours:.3g}"
    return value if claim.low is None or claim.high is None else f"{value} [{claim.low:.3g}, {claim.high:.3g}]"
