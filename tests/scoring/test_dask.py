"""The same on a real cluster of processes, which may lose a worker."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uniqueinfo as ui
from tests.problems import problem
from tests.scoring.problems import contents, features, images, largest_difference, network
from uniqueinfo.errors import InputError
from uniqueinfo.scoring import underway
from uniqueinfo.scoring.cluster import DaskEngine, local_client
from uniqueinfo.spectrum.sums import Sums

pytestmark = pytest.mark.slow
dask: Any = pytest.importorskip("dask")
distributed: Any = pytest.importorskip("distributed")


def test_features_score_the_same(client: Any, tmp_path: Path) -> None:
    (X, y), (X_val, y_val) = features(), features(40, seed=1)
    common: dict[str, Any] = {"training": ui.GradientFlow(0.1, 50.0)}
    ui.score_features(X, y, X_val, y_val, out=tmp_path / "local", **common)
    ui.score_features(X, y, X_val, y_val, out=tmp_path / "dask", engine=DaskEngine(client), **common)
    local, dask = (ui.load(tmp_path / name) for name in ("local", "dask"))
    assert largest_difference(dask, local) < 1e-10  # the same sums in the same order; only threads may differ
    assert contents(tmp_path / "dask").keys() == contents(tmp_path / "local").keys()


def test_networks_score_the_same(client: Any) -> None:
    common: dict[str, Any] = {"training": ui.Converged(0.1), "projection": ui.RandomCoordinates(10_000)}
    wanted = ui.score(network(), images(), images(30, seed=1), engine="local", **common)
    found = ui.score(network(), images(), images(30, seed=1), engine=DaskEngine(client), **common)
    assert largest_difference(found, wanted) < 1e-10


def test_sketches_score_the_same(client: Any) -> None:
    given = problem(200, 1, 150, decades=4, m=40)
    arrays = given.J, given.residual, given.J_val, given.residual_val
    common: dict[str, Any] = {"training": ui.GradientFlow(20 / given.largest, 200.0), "sketch": 40, "threads": 1}
    wanted, found = (ui.score_jacobian(*arrays, engine=engine, **common) for engine in ("local", DaskEngine(client)))
    assert largest_difference(found, wanted) < 1e-10
    assert found.errors is not None
    assert wanted.errors is not None
    for name, errors in wanted.errors.items():
        np.testing.assert_allclose(found.errors[name], errors, rtol=1e-6)  # differences of scores, of fewer digits


def test_the_address_of_a_scheduler_is_enough(client: Any) -> None:
    X, y = features()
    wanted = ui.score_features(X, y, training=ui.Converged(1e-2), engine="local")
    found = ui.score_features(X, y, training=ui.Converged(1e-2), engine=DaskEngine(client.scheduler.address))
    np.testing.assert_allclose(found.weight, wanted.weight, rtol=1e-10)


def test_a_wrong_sample_found_by_a_worker_is_told_here(client: Any) -> None:
    X, y = features()
    X[217, 3] = np.inf
    with pytest.raises(InputError, match="sample 217 holds NaN"):
        ui.score_features(X, y, training=ui.Converged(1e-2), engine=DaskEngine(client))


def test_the_death_of_a_worker_loses_nothing(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (X, y), (X_val, y_val) = features(), features(40, seed=1)
    wanted = ui.score_features(X, y, X_val, y_val, training=ui.Converged(1e-2), engine="local")
    before = set(client.run(os.getpid).values())
    victim = min(before)
    solver = underway.Underway.solver
    killed: list[int] = []

    def deadly_from_here(self: Any, *, written: bool) -> Any:
        original = self.session.map

        def deadly(task: Any, shared: Any, pieces: Any) -> Any:
            for number, result in original(task, shared, pieces):
                if not killed:
                    os.kill(victim, signal.SIGKILL)
                    killed.append(number)
                yield number, result

        self.session.map = deadly
        return solver(self, written=written)

    monkeypatch.setattr(underway.Underway, "solver", deadly_from_here)
    found = ui.score_features(X, y, X_val, y_val, training=ui.Converged(1e-2), engine=DaskEngine(client))
    assert killed
    assert largest_difference(found, wanted) < 1e-10
    client.wait_for_workers(2, timeout=60)
    assert victim not in client.run(os.getpid).values()


def test_the_death_of_all_workers_loses_nothing(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (X, y), (X_val, y_val) = features(), features(40, seed=1)
    wanted = ui.score_features(X, y, X_val, y_val, training=ui.Converged(1e-2), engine="local")
    victims = set(client.run(os.getpid).values())
    sums = underway.Underway._sums
    killed: list[int] = []

    def deadly(self: Any, name: Any) -> Sums:
        if name == "val" and not killed:
            killed.extend(victims)
            for victim in victims:
                os.kill(victim, signal.SIGKILL)
        return sums(self, name)

    monkeypatch.setattr(underway.Underway, "_sums", deadly)
    found = ui.score_features(X, y, X_val, y_val, training=ui.Converged(1e-2), engine=DaskEngine(client))
    assert killed
    assert largest_difference(found, wanted) < 1e-10


def test_a_worker_lost_while_it_is_sent_the_samples_loses_nothing(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = features()
    wanted = ui.score_features(X, y, training=ui.Converged(1e-2), engine="local")
    scatter, victim = client.scatter, min(client.run(os.getpid).values())
    killed: list[int] = []

    def lossy(*given: Any, **named: Any) -> Any:
        if not killed:
            killed.append(victim)
            os.kill(victim, signal.SIGKILL)
        return scatter(*given, **named)

    monkeypatch.setattr(client, "scatter", lossy)
    engine = DaskEngine(client, patience=2.0)
    found = ui.score_features(X, y, training=ui.Converged(1e-2), engine=engine)
    assert killed
    np.testing.assert_allclose(found.weight, wanted.weight, rtol=1e-10)


def test_a_cluster_that_has_no_workers_left_is_told_soon() -> None:
    X, y = features()
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as alone,
        pytest.raises(InputError, match=r"has had no worker for 1 s; start some .* goes on where it was"),
    ):
        ui.score_features(X, y, training=ui.Converged(1e-2), engine=DaskEngine(alone, patience=1))


def test_a_cluster_made_here_is_reached_from_here_alone() -> None:
    psutil: Any = pytest.importorskip("psutil")

    def listening() -> set[Any]:
        here = psutil.Process()
        every = [here, *here.children(recursive=True)]
        return {place.laddr for one in every for place in one.net_connections("inet") if place.status == "LISTEN"}

    before = listening()  # other tests have clusters, too
    with local_client(1):
        places = {place.ip for place in listening() - before}
    assert places == {"127.0.0.1"}


def test_a_scheduler_with_certificates_is_reached_by_its_own_address(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    files = {
        f"tls_{role}_{part}": str(path)
        for role in ("client", "scheduler", "worker")
        for part, path in (("cert", certificate), ("key", key))
    }
    security = distributed.Security(tls_ca_file=str(certificate), require_encryption=True, **files)
    X, y = features()
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, security=security, dashboard_address=None, protocol="tls://"
    ) as cluster:
        assert cluster.scheduler_address.startswith("tls://")
        engine = DaskEngine(cluster.scheduler_address)
        with pytest.raises(InputError, match=r"needs certificates .*DASK_DISTRIBUTED__COMM__TLS__CA_FILE"):
            ui.score_features(X, y, training=ui.Converged(1e-2), engine=engine)
        mine = {"ca-file": certificate, "client.cert": certificate, "client.key": key}
        with dask.config.set({f"distributed.comm.tls.{name}": str(path) for name, path in mine.items()}):
            found = ui.score_features(X, y, training=ui.Converged(1e-2), engine=engine)
    assert np.isfinite(found.weight).all()


def test_a_scheduler_that_is_not_there_is_named() -> None:
    X, y = features()
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(InputError, match="127"),
    ):
        ui.score_features(X, y, training=ui.Converged(1e-2), engine=DaskEngine("tcp://127.0.0.1:1"))


def test_a_missing_dask_is_told_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = features()
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install uniqueinfo\[dask\]"):
        ui.score_features(X, y, training=ui.Converged(1e-2), engine="dask")
