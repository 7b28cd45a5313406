"""An HTTP server before a REST catalog, or in its place: it notes what is asked, and answers some of it otherwise.

A rule that never fires fails the test.
"""

import http.client
import json
import re
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.servers.process import HOST, owners

JSON = {"Content-Type": "application/json"}


@dataclass
class Rule:
    """What happens to the requests that fit, `times` times."""

    method: str
    pattern: str
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    times: float = float("inf")
    delay_seconds: float = 0.0
    forwards: bool = False
    """The real server gets it first."""
    hangs_up: bool = False
    """No answer comes back."""
    stalls: bool = False
    """The delay comes in the middle of the answer."""
    fired: int = 0

    def fits(self, method: str, path: str) -> bool:
        return self.fired < self.times and method == self.method and re.search(self.pattern, path) is not None


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    pids: frozenset[int] = frozenset()
    """Processes that hold the connection, where the front looks after that."""


class Front:
    def __init__(self, url: str, upstream: str) -> None:
        self.url = url
        self.upstream = upstream
        self.asked: list[Asked] = []
        self.rules: list[Rule] = []
        self.looks_who_asks = False
        self.lock = threading.Lock()

    def says(self, method: str, pattern: str, body: Any = None, **more: Any) -> Rule:
        """A JSON answer to whatever fits, before older rules."""
        return self.rule(Rule(method, pattern, body=json.dumps(body).encode(), headers=JSON, **more))

    def rule(self, rule: Rule) -> Rule:
        self.rules.insert(0, rule)
        return rule

    def requests(self, method: str, pattern: str) -> list[Asked]:
        return [each for each in self.asked if each.method == method and re.search(pattern, each.path)]

    def rule_for(self, method: str, path: str) -> Rule | None:
        with self.lock:
            found = next((rule for rule in self.rules if rule.fits(method, path)), None)
            if found:
                found.fired += 1
            return found


def error(status: int, kind: str, message: str) -> dict[str, Any]:
    """A body of the protocol."""
    return {"error": {"message": message, "type": kind, "code": status}}


@contextmanager
def rest_front(upstream: str = "", tls: ssl.SSLContext | None = None) -> Iterator[Front]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            pids = owners(self.client_address[1]) if front.looks_who_asks else frozenset()
            front.asked.append(Asked(self.command, self.path, dict(self.headers.items()), body, pids))
            rule = front.rule_for(self.command, self.path)
            passed = forward(front, front.asked[-1]) if rule is None or rule.forwards else None
            if rule is None or (rule.forwards and not rule.hangs_up and not rule.body):
                time.sleep(rule.delay_seconds if rule else 0)
                assert passed is not None
                self.give(*passed)
                return
            time.sleep(0 if rule.stalls else rule.delay_seconds)
            if rule.hangs_up:
                self.close_connection = True
                return
            if rule.stalls:
                self.give(rule.status, {**rule.headers, "Content-Length": str(len(rule.body) + 1)}, rule.body)
                time.sleep(rule.delay_seconds)
                self.close_connection = True
                return
            self.give(rule.status, rule.headers, rule.body)

        def give(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 304 and "Content-Length" not in headers:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD" and status != 304:
                self.wfile.write(body)

        do_GET = do_POST = do_HEAD = do_DELETE = answer

        def log_message(self, format: str, *args: object) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that hung up is part of some tests."""

    server = Server((HOST, 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    front = Front(f"{'https' if tls else 'http'}://{HOST}:{server.server_port}", upstream)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield front
        silent = [rule for rule in front.rules if not rule.fired]
        assert not silent, f"never fired: {silent}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def forward(front: Front, asked: Asked) -> tuple[int, dict[str, str], bytes]:
    if not front.upstream:
        return 404, JSON, json.dumps(error(404, "NoSuchTableException", "nothing is here")).encode()
    parts = urlsplit(front.upstream)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    headers = {name: value for name, value in asked.headers.items() if name.lower() not in ("host", "accept-encoding")}
    connection.request(asked.method, parts.path + asked.path, asked.body or None, headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    kept = {name: value for name, value in response.getheaders() if name.lower() in ("content-type", "etag", "retry-after")}
    return response.status, kept, body
