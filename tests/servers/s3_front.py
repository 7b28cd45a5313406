"""A front before an S3 server that ends keys: who still signs with them hears ExpiredToken, as from AWS.

Everything else it passes on, with the host that was signed.
"""

import http.client
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.servers.process import HOST, owners

_SIGNED_BY = re.compile(r"Credential=([^/]+)/")
_EXPIRED = b"<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    key_id: str
    pids: frozenset[int]
    """Processes that hold the connection."""


@dataclass
class EndingKeys:
    """`before` is called with each request, while its client waits; it may end keys."""

    url: str = ""
    before: Callable[[Asked], None] = lambda _: None
    ended: set[str] = field(default_factory=set)
    asked: list[Asked] = field(default_factory=list)
    refused: list[Asked] = field(default_factory=list)


@contextmanager
def ending_keys(upstream: str) -> Iterator[EndingKeys]:
    """While inside, it listens; somebody must have been refused when it ends."""
    front = EndingKeys()
    server = ThreadingHTTPServer((HOST, 0), _handler(upstream, front))
    server.daemon_threads = True
    front.url = f"http://{HOST}:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield front
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert front.refused, "nobody used a key that had ended"


def _handler(upstream: str, front: EndingKeys) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            signed = _SIGNED_BY.search(self.headers.get("Authorization", ""))
            asked = Asked(self.command, self.path, signed[1] if signed else "", owners(self.client_address[1]))
            front.asked.append(asked)
            front.before(asked)
            if asked.key_id in front.ended:
                front.refused.append(asked)
                self.give(403, [("Content-Type", "application/xml")], b"" if self.command == "HEAD" else _EXPIRED)
            else:
                self.give(*_passed_on(upstream, self, body))

        def give(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
            self.send_response_only(status)
            for name, value in headers:
                self.send_header(name, value)
            if not any(name.lower() == "content-length" for name, _ in headers) and status != 204:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = answer

        def log_message(self, format: str, *args: object) -> None: ...

    return Handler


def _passed_on(upstream: str, asked: BaseHTTPRequestHandler, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
    parts = urlsplit(upstream)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    connection.request(asked.command, asked.path, body or None, dict(asked.headers.items()))
    response = connection.getresponse()
    content = response.read()
    connection.close()
    left_out = ("transfer-encoding", "connection")
    return response.status, [pair for pair in response.getheaders() if pair[0].lower() not in left_out], content
