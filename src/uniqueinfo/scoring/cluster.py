"""The engine that runs on a Dask cluster: one that is there, or one made on this machine for the while."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from uniqueinfo.errors import InputError, cause
from uniqueinfo.scoring.engine import Session, Task
from uniqueinfo.scoring.pieces import Piece, Sources
from uniqueinfo.spectrum.sums import tree
from uniqueinfo.threads import allowed, sharing

Result = TypeVar("Result")

_PATIENCE = 60  # seconds until a cluster must have a worker
_AHEAD = 2  # partitions in flight for each worker: one at work, one to go on with
_KEPT = {"MALLOC_TRIM_THRESHOLD_": 2**28, "MALLOC_MMAP_THRESHOLD_": 2**28}  # bytes, read by the C library
_LOSSES = 5  # times that every worker may be lost before giving up
_SENDING = 10  # times the patience: what sending the samples may take
_LOOPBACK = "127.0.0.1:0"


@dataclass(frozen=True)
class DaskEngine:
    """A scheduler by its address (or a `distributed.Client`); None makes a cluster of processes on this machine.

    The samples, with the network or the arrays they are made of, reach every worker once; arrays in files are
    opened by the workers themselves, where they must lie under the same path. What a worker that dies was doing is
    done by others; where all die, everything is sent again.

    A cluster made here is reached from this machine alone. Anyone who reaches a scheduler can run code on its workers,
    so one of yours belongs behind a firewall, or to TLS: `tls://` addresses take the certificates that Dask's own
    configuration names (``distributed.comm.tls``; by variables ``DASK_DISTRIBUTED__COMM__TLS__CA_FILE``,
    ``…__CLIENT__CERT`` and ``…__CLIENT__KEY``), or hand over a `distributed.Client` with its `security`.
    """

    scheduler: Any = None
    """Its address, or a client of it."""
    workers: int | None = None
    """Processes of a cluster made here; one for each processor it may use when not given."""
    patience: float = _PATIENCE
    """Seconds that a cluster may be without any worker."""

    @contextmanager
    def open(self, sources: Sources) -> Iterator[Session]:
        """Connect."""
        try:
            distributed: Any = import_module("distributed")
        except ImportError as missing:
            raise InputError(
                "engine: Dask is not installed; pip install uniqueinfo[dask] brings it, or choose the engine local"
            ) from missing
        with ExitStack() as stack:
            if isinstance(self.scheduler, distributed.Client):
                client = self.scheduler
            elif self.scheduler is not None:
                client = stack.enter_context(_connected(distributed, self.scheduler))
            else:
                client = stack.enter_context(local_client(self.workers or allowed()))
            cluster = _Cluster(client, sources, self.patience)
            cluster.wait()
            yield cluster


@contextmanager
def local_client(workers: int) -> Iterator[Any]:
    """Of a cluster of processes on this machine, of one thread each: the workers are the parallelism.

    Dask has its workers give back freed memory at once, which the next product then takes again, page by page; these
    keep what a partition needs. Results come straight from them, not by way of the scheduler.
    """
    dask, distributed = import_module("dask"), import_module("distributed")
    kept = {f"distributed.nanny.pre-spawn-environ.{name}": size for name, size in _KEPT.items()}
    how = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "dashboard_address": _LOOPBACK}
    how["worker_dashboard_address"] = _LOOPBACK
    with (
        dask.config.set(kept),
        distributed.LocalCluster(**how) as cluster,
        distributed.Client(cluster, direct_to_workers=True) as client,
    ):
        yield client


def _connected(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address)
    except TypeError as error:  # of a tls:// address without certificates
        raise InputError(
            f"scheduler: {address!r} needs certificates ({cause(error)}); name them to Dask, as by the variables "
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT and …__CLIENT__KEY"
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(
            f"scheduler: cannot be reached at {address!r} ({error}); dask scheduler prints its address when it starts"
        ) from error


class _NotSentError(Exception):
    """A worker was lost while it was sent the samples or the solver."""


@dataclass(eq=False)
class _Cluster:
    client: Any
    sources: Sources
    patience: float
    _sent: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    """Values, held so that their ids stay theirs, and the handles on them."""

    def sums(
        self, task: Task[Result], shared: Any, groups: Mapping[int, Sequence[Piece]]
    ) -> Iterator[tuple[int, Result]]:
        def submit(pieces: Sequence[Piece]) -> Any:
            sent = self._everywhere(self.sources), self._everywhere(shared)
            return tree(pieces, lambda piece: self._task(task, *sent, piece), partial(self._task, operator.add))

        largest = max((len(pieces) for pieces in groups.values()), default=1)
        yield from self._stream(submit, groups, largest)
        self._sent.pop(id(shared), None)  # many passes, each with vectors of its own, would fill the workers

    def map(self, task: Task[Result], shared: Any, pieces: Mapping[int, Piece]) -> Iterator[tuple[int, Result]]:
        def submit(piece: Piece) -> Any:
            return self._task(task, self._everywhere(self.sources), self._everywhere(shared), piece)

        yield from self._stream(submit, pieces, 1)
        self._sent.pop(id(shared), None)

    def _stream(self, submit: Callable[[Any], Any], items: Mapping[int, Any], each: int) -> Iterator[tuple[int, Any]]:
        """Results as they come in; no more in flight than keep the workers busy, so that none hold many results."""
        distributed: Any = import_module("distributed")
        waiting, losses = list(items)[::-1], 0
        flying: dict[Any, int] = {}
        finished = distributed.as_completed()

        def fill() -> None:
            workers = max(1, len(self.client.nthreads()))
            while waiting and len(flying) < max(2, -(-_AHEAD * workers // each)):
                future = submit(items[waiting[-1]])
                flying[future] = waiting.pop()
                finished.add(future)

        while waiting or flying:
            number = None
            try:
                fill()
                future = next(finished)
                number = flying.pop(future)
                result = future.result()
            except _lost(distributed) as error:  # nobody holds what was sent any more, or it could not be sent
                losses += 1
                if losses > _LOSSES:
                    raise _given_up(losses) from error
                waiting += [*([] if number is None else [number]), *flying.values()]
                flying.clear()
                self._sent.clear()
                finished = distributed.as_completed()
                self.wait()
            else:
                yield number, result
                del future

    def wait(self) -> None:
        """Until there is a worker; not for ever."""
        try:
            self.client.wait_for_workers(1, timeout=self.patience)
        except TimeoutError as alone:
            raise InputError(
                f"scheduler: {self.client.scheduler.address} has had no worker for {self.patience:g} s; start some "
                "with dask worker ADDRESS. With out= or folder= the same call then goes on where it was"
            ) from alone

    def _task(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self.client.submit(_alone, function, *arguments, pure=False)

    def _everywhere(self, value: Any) -> Any:
        """A handle on a value that every worker takes when it needs it, and keeps."""
        if value is None:
            return None
        if id(value) not in self._sent:
            try:
                # To one worker, from which the others take it: sent to all at once, Dask waits for ever for one that
                # goes meanwhile.
                send = partial(self.client.scatter, value, hash=False, asynchronous=True)
                self._sent[id(value)] = value, self.client.sync(send, callback_timeout=_SENDING * self.patience)
            except (OSError, KeyError, RuntimeError, ValueError) as error:  # by where the worker was lost
                raise _NotSentError(cause(error)) from error
        return self._sent[id(value)][1]


def _alone(function: Callable[..., Result], *arguments: Any) -> Result:
    """A task on one thread, also on clusters whose workers were not told: the workers are the parallelism."""
    with sharing(1):
        return function(*arguments)


def _lost(distributed: Any) -> tuple[type[BaseException], ...]:
    """What it looks like when workers go, while they hold something or while they are sent it."""
    closed = distributed.comm.CommClosedError
    return _NotSentError, distributed.CancelledError, distributed.KilledWorker, closed, TimeoutError, ConnectionError


def _given_up(losses: int) -> InputError:
    return InputError(
        f"scheduler: all workers were lost {losses} times; look at their logs, most often for memory that is used up "
        "(give less memory=, or workers that have more). With out= or folder= the same call then goes on where it was"
    )
