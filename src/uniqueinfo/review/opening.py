"""From scores, or the folder of a run, to a review that is served."""

from __future__ import annotations

import getpass
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from uniqueinfo.errors import InputError
from uniqueinfo.review.decisions import NAME, Ledger
from uniqueinfo.review.looks import Looks
from uniqueinfo.review.server import Review, Server
from uniqueinfo.review.session import Session
from uniqueinfo.review.suspects import to_look_at
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.page import read_again, run_of, sample_views, views_of
from uniqueinfo.runs.reopening import scores_of
from uniqueinfo.scores.everyone import everyone
from uniqueinfo.scores.table import Scores
from uniqueinfo.store.files import held


@contextmanager
def opened(folder: Path, *, port: int = 0, noise_rate: float | None = None, opinions: int = 1) -> Iterator[Server]:
    """The review of a run of the command line, ready to be served; decisions go to its folder."""
    run = Run.find(folder)
    scores = scores_of(run)
    samples = read_again(run)[0]
    show = None if samples is None else sample_views(*samples).train
    with held(run.path):
        session = Session(
            scores, Ledger(run.path / NAME), partial(to_look_at, noise_rate=noise_rate), opinions=opinions
        )
        looks = Looks(show, len(session.ids))
        server = Server(Review(session, looks, by=_user(), command=f"uniqueinfo review {folder}"), port)
        try:
            yield server
        finally:
            server.server_close()


def review(
    scores: Scores,
    decisions: str | Path | None = None,
    *,
    samples: Any = None,
    port: int = 0,
    show: bool = True,
    **asked: Any,
) -> Path:
    """Decide on suspects in the browser; gives back the file of decisions once it is stopped (Ctrl-C, or the stop
    button of a notebook).

    `decisions`: the file they are kept in; when not given, decisions.jsonl in the folder of the scores, or here where
    they are in memory. `samples`: what the samples look like, as `ui.report` takes it. `show`: open the browser.
    """
    run = run_of(scores)
    path = Path(decisions) if decisions is not None else (Path() if run is None else run.path) / NAME
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise InputError(f"decisions: {path} cannot be a file; name one in a folder that is there")
    if run is not None and run.asked and scores.source is None:
        scores = scores_of(run)
    count = len(everyone(scores))
    views = views_of(samples, None, count)
    if views is None and run is not None and (found := read_again(run)[0]) is not None:
        views = sample_views(*found)
    session = Session(scores, Ledger(path), partial(to_look_at, **asked))
    looks = Looks(None if views is None else views.train, count)
    server = Server(Review(session, looks, by=_user(), command="ui.mislabeled(scores).review()"), port)
    serve(server, show=show)
    return path


def serve(server: Server, *, show: bool) -> None:
    """Say where it is, and serve until it is stopped."""
    print(f"Review: {server.address}\nOnly this machine can open it. Stop with Ctrl-C; what is decided is kept.")
    sys.stdout.flush()
    if show:
        webbrowser.open(server.address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no name for this user
        return "me"
