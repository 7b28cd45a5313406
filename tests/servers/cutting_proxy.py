"""A proxy of HTTP that carries a request out and then loses or changes its answer, where a test says so."""

import http.client
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

from tests.servers.process import HOST

CUT = "cut"
DROP = "drop"
HALF = "half"

Matches = Callable[[str, str], bool]
"""Of the method and the path with its query."""


@dataclass
class Strike:
    """What happens to the answers of the next few requests that match."""

    matches: Matches
    what: str | tuple[int, bytes]
    times: int
    fired: int = 0


@dataclass
class Strikes:
    """All of a test; every one must fire."""

    strikes: list[Strike] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    guard: Lock = field(default_factory=Lock)

    def lose(self, matches: Matches, times: int = 1) -> Strike:
        """The request is carried out, its answer never comes."""
        return self._add(Strike(matches, CUT, times))

    def drop(self, matches: Matches, times: int = 1) -> Strike:
        """The request is not carried out, and no answer comes."""
        return self._add(Strike(matches, DROP, times))

    def halve(self, matches: Matches, times: int = 1) -> Strike:
        """Of the body half comes, then the connection breaks."""
        return self._add(Strike(matches, HALF, times))

    def answer(self, matches: Matches, status: int, body: bytes, times: int = 1) -> Strike:
        """The request is not carried out; this is said instead."""
        return self._add(Strike(matches, (status, body), times))

    def of(self, method: str, path: str) -> Strike | None:
        with self.guard:
            self.seen.append(f"{method} {path}")
            for strike in self.strikes:
                if strike.fired < strike.times and strike.matches(method, path):
                    strike.fired += 1
                    return strike
        return None

    def _add(self, strike: Strike) -> Strike:
        self.strikes.append(strike)
        return strike


@contextmanager
def cutting_proxy(endpoint: str) -> Iterator[tuple[str, Strikes]]:
    """Its address, and what it is told to do; a strike that never fired fails the test."""
    strikes = Strikes()
    handler = type("Handler", (_Handler,), {"upstream": endpoint.removeprefix("http://"), "strikes": strikes})
    server = ThreadingHTTPServer((HOST, 0), handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}", strikes
    finally:
        server.shutdown()
        server.server_close()
    asleep = [strike for strike in strikes.strikes if not strike.fired]
    assert not asleep, f"declared and never fired: {asleep}; seen: {strikes.seen}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    upstream: str
    strikes: Strikes

    def _carry(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        strike = self.strikes.of(self.command, self.path)
        if strike is not None and isinstance(strike.what, tuple):
            self._say(strike.what[0], {}, strike.what[1], len(strike.what[1]))
            return
        if strike is not None and strike.what == DROP:
            self._close()
            return
        connection = http.client.HTTPConnection(self.upstream, timeout=60)
        # The host is part of what was signed, so it goes on as it came.
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() != "expect":
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        if strike is not None and strike.what == CUT:
            self._close()
            return
        half = len(content) // 2 if strike is not None else len(content)
        length = int(answer.headers.get("Content-Length") or len(content))
        self._say(answer.status, dict(answer.headers), content[:half], length)
        if strike is not None:
            self.close_connection = True

    def _close(self) -> None:
        self.close_connection = True
        self.connection.close()

    def _say(self, status: int, headers: dict[str, str], content: bytes, length: int) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _carry

    def log_message(self, format: str, *args: object) -> None:
        pass
