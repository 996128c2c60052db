"""The served review by plain requests: who may ask, and what is sent back."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import uniqueinfo as ui
from uniqueinfo.review.decisions import Ledger, read
from uniqueinfo.review.looks import Looks
from uniqueinfo.review.server import Review, Server
from uniqueinfo.review.session import Session
from uniqueinfo.review.suspects import to_look_at


@pytest.fixture
def server(table_run: Path, tmp_path: Path) -> Iterator[Server]:
    session = Session(ui.load(table_run), Ledger(tmp_path / "decisions.jsonl"), to_look_at)
    found = Server(Review(session, Looks(lambda at: f"text {at}", 90), by="me", command="uniqueinfo review run"))
    thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    found.shutdown()
    found.server_close()
    thread.join()


def asked(server: Server, path: str, body: Any = None, **headers: str) -> tuple[int, Any, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    own = {} if body is None else {"Content-Type": "application/json", "Origin": server.address.rsplit("/", 2)[0]}
    sent = None if body is None else json.dumps(body)
    connection.request("GET" if body is None else "POST", path, sent, {**own, **headers})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return (
        answer.status,
        json.loads(content) if answer.headers["Content-Type"].endswith("json") else content,
        answer.headers,
    )


def at(server: Server, what: str) -> str:
    return f"/{server.review.token}/{what}"


def test_the_page_runs_its_own_script_alone(server: Server) -> None:
    status, page, headers = asked(server, at(server, ""))
    assert status == 200
    assert b"<h1>Review labels</h1>" in page
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/next", "//next"])
def test_without_the_token_there_is_nothing(server: Server, path: str) -> None:
    status, said, _ = asked(server, path)
    assert (status, said) == (404, {"error": "there is no such page"})


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80", "Origin": "http://evil.example:80"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_another_host_or_page_is_refused(server: Server, headers: dict[str, str]) -> None:
    assert asked(server, at(server, "next"), **headers)[0] == 403


def test_decisions_of_another_page_are_refused_and_not_written(server: Server, tmp_path: Path) -> None:
    decision = {"by": "Ann", "sample": "d00", "decision": "drop", "label": None}
    assert asked(server, at(server, "decide"), decision, Origin="http://evil.example")[0] == 403
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    connection.request("POST", at(server, "decide"), json.dumps(decision), {"Content-Type": "application/json"})
    assert connection.getresponse().status == 403  # no origin at all
    connection.close()
    assert asked(server, "/wrong/decide", decision)[0] == 404
    assert asked(server, at(server, "decide"), decision, **{"Content-Type": "text/plain"})[0] == 415
    assert not (tmp_path / "decisions.jsonl").exists()


def test_a_decision_is_answered_with_the_next_sample(server: Server, tmp_path: Path) -> None:
    first = asked(server, at(server, "next?by=Ann"))[1]["sample"]
    assert first["view"] == {"text": f"text {first['at']}"}
    decision = {"by": "Ann", "sample": first["id"], "decision": "drop", "label": None}
    status, said, _ = asked(server, at(server, "decide"), decision)
    assert status == 200
    assert said["sample"]["id"] != first["id"]
    assert read(tmp_path / "decisions.jsonl")[0].sample == first["id"]


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"by": "", "sample": "d00", "decision": "keep", "label": None},
        {"by": "A", "sample": 1, "decision": "keep"},
    ],
)
def test_nonsense_is_answered_in_words(server: Server, body: Any) -> None:
    status, said, _ = asked(server, at(server, "decide"), body)
    assert status == 400
    assert said["error"]


def test_too_much_is_refused(server: Server) -> None:
    assert asked(server, at(server, "decide"), {"by": "x" * 200_000})[0] == 413


def test_there_are_no_other_pictures(server: Server) -> None:
    for path in ("picture/3", "picture/999", "picture/../x", "picture/-1", "nothing"):
        assert asked(server, at(server, path))[0] == 404
