"""The review as a page on this machine alone: 127.0.0.1, a secret in the address, nothing asked of anybody else."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from markupsafe import Markup

from uniqueinfo.errors import InputError
from uniqueinfo.pages.parts import digest, environment, part
from uniqueinfo.review.looks import Looks
from uniqueinfo.review.session import Session

HOST = "127.0.0.1"
_MOST_BYTES = 100_000
"""Of what a page may send."""
_SECONDS = 30
"""A connection that says nothing for so long is closed."""
_HERE = "uniqueinfo.review"
_SAFE = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True)
class Answer:
    """What is sent back."""

    content: bytes
    kind: str = "application/json"
    status: HTTPStatus = HTTPStatus.OK

    @classmethod
    def json(cls, value: Any, status: HTTPStatus = HTTPStatus.OK) -> Answer:
        """A value as JSON."""
        return cls(json.dumps(value, ensure_ascii=False, allow_nan=False).encode(), status=status)


@dataclass(frozen=True, eq=False)
class Review:
    """A review to serve: the session, how its samples look, and what the page says."""

    session: Session
    looks: Looks
    by: str
    """The name that stands in the page before one is typed."""
    command: str
    """How to start it again."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def page(self) -> tuple[str, str]:
        """The page, and the policy under which its own script and style alone run."""
        style = part("page.css") + part("decide.css") + part("review.css", _HERE)
        script = part("decide.js") + part("review.js", _HERE)
        why_not = self.session.why_not
        left = (
            "Other models follow decisions, the network's word stays what it was"
            if self.session.panel
            else ("Other samples are not scored anew after a decision")
        )
        note = f"{left}: {why_not}." if why_not else ""
        data = {"classes": list(self.session.classes), "by": self.by, "command": self.command}
        found = environment(_HERE).get_template("review.html")
        policy = (
            f"default-src 'none'; img-src 'self' data:; connect-src 'self'; style-src {digest(style)}; "
            f"script-src {digest(script)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return found.render(style=Markup(style), script=Markup(script), data=data, note=note), policy

    def asked(self, what: str, query: dict[str, list[str]]) -> Answer | None:
        """What the page asks for; None where there is no such thing."""
        by = query.get("by", [self.by])[0]
        if what == "next":
            return Answer.json(self._shown(self.session.card(by)))
        if what == "progress":
            return Answer.json(self.session.progress(by))
        kind, _, number = what.partition("/")
        if kind in ("picture", "thumbnail") and number.isdecimal():
            found = self.looks.picture(int(number), small=kind == "thumbnail")
            return None if found is None else Answer(found[1], found[0])
        return None

    def told(self, what: str, given: dict[str, Any]) -> Answer | None:
        """What the page tells."""
        if what == "decide":
            match given:
                case {"by": str(by), "sample": str(sample), "decision": str(decision), "label": str() | None as label}:
                    return Answer.json(self._shown(self.session.decide(by, sample, decision, label)))
            raise InputError("expected the texts by, sample, decision and label")
        if what == "undo" and isinstance(given.get("by"), str):
            return Answer.json(self._shown(self.session.undo(given["by"])))
        return None

    def _shown(self, card: dict[str, Any]) -> dict[str, Any]:
        """With how the sample and those like it look."""
        card["progress"]["done"] = (
            f"What was decided is kept. {self.command.replace(' review ', ' clean ')} --out … uses it."
        )
        sample = card["sample"]
        if sample is not None:
            sample["view"] = self.looks.view(sample["at"])
            for group in sample["similar"]:
                for one in group["samples"]:
                    one["view"] = self.looks.view(one["at"], small=True)
        return card


class Server(ThreadingHTTPServer):
    """Serves one review, until it is stopped; `address` is where."""

    daemon_threads = True

    def __init__(self, review: Review, port: int = 0) -> None:
        self.review = review
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise InputError(f"--port {port}: cannot be served at ({error.strerror}); name another, or none") from error
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}

    @property
    def address(self) -> str:
        """With the secret that opens it."""
        return f"http://{HOST}:{self.server_port}/{self.review.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that goes away in the middle is nothing to report."""


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = _SECONDS

    def do_GET(self) -> None:
        """The page, a picture, the next suspect."""
        address = urlsplit(self.path)
        self._answer(address.path, lambda review, what: self._get(review, what, parse_qs(address.query)), write=False)

    def do_POST(self) -> None:
        """A decision."""
        self._answer(urlsplit(self.path).path, self._post, write=True)

    def _get(self, review: Review, what: str, query: dict[str, list[str]]) -> Answer | None:
        if what:
            return review.asked(what, query)
        page, self._policy = review.page()
        return Answer(page.encode(), "text/html; charset=utf-8")

    def _post(self, review: Review, what: str) -> Answer | None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _MOST_BYTES:
            self.close_connection = True
            return Answer.json({"error": "too much"}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        body = self.rfile.read(int(length))
        if self.headers.get_content_type() != "application/json":
            return Answer.json({"error": "expected JSON"}, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        given = json.loads(body)
        if not isinstance(given, dict):
            raise InputError("expected an object")
        return review.told(what, given)

    def _answer(self, path: str, act: Callable[[Review, str], Answer | None], *, write: bool) -> None:
        self._policy = "default-src 'none'; frame-ancestors 'none'"
        found: Answer | None = None
        if not self._from_here(write=write):
            self.close_connection = True
            found = Answer.json({"error": "this page is for the machine it runs on"}, HTTPStatus.FORBIDDEN)
        else:
            token, _, what = path.removeprefix("/").partition("/")
            if hmac.compare_digest(token.encode(), self.server.review.token.encode()):
                try:
                    found = act(self.server.review, what)
                except (InputError, ValueError) as wrong:
                    found = Answer.json({"error": str(wrong)}, HTTPStatus.BAD_REQUEST)
            elif write:
                self.close_connection = True  # what it sent is not read
        self._send(found or Answer.json({"error": "there is no such page"}, HTTPStatus.NOT_FOUND))

    def _from_here(self, *, write: bool) -> bool:
        """Whether the page that asks is ours: no other name for this machine, no other page."""
        if self.headers.get("Host") not in self.server.hosts:
            return False
        origin = self.headers.get("Origin")
        if origin is None:
            return not write and self.headers.get("Sec-Fetch-Site") in (None, "none", "same-origin")
        return origin == f"http://{self.headers['Host']}"

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        headers = {"Content-Type": answer.kind, "Content-Length": str(len(answer.content)), **_SAFE}
        for name, value in {**headers, "Content-Security-Policy": self._policy}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.content)

    def version_string(self) -> str:
        """Who answers; no version."""
        return "uniqueinfo"

    def log_message(self, *_: Any) -> None:
        """Nothing is printed: addresses hold the secret."""
