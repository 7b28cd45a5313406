"""toxiproxy: a bad network between us and a server."""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tools.servers import TOXIPROXY

from tests.servers.needed import needed
from tests.servers.process import HOST, answers, free_port, running
from tests.servers.s3 import S3Server


@dataclass(frozen=True)
class BadNetwork:
    """A way to a server that can be made bad."""

    server: S3Server
    admin: str
    name: str

    @contextmanager
    def bad(self, kind: str, *, toxicity: float = 1.0, stream: str = "downstream", **attributes: Any) -> Iterator[None]:
        """While inside: latency, bandwidth, limit_data, reset_peer, timeout, with their attributes, as toxiproxy names them."""
        toxic = {"name": kind, "type": kind, "stream": stream, "toxicity": toxicity, "attributes": attributes}
        self._ask("POST", f"/proxies/{self.name}/toxics", toxic)
        try:
            yield
        finally:
            self._ask("DELETE", f"/proxies/{self.name}/toxics/{kind}")

    def _ask(self, method: str, path: str, body: Any = None) -> None:
        _ask(self.admin, method, path, body)


@contextmanager
def bad_network(server: S3Server, folder: Path) -> Iterator[BadNetwork]:
    """While inside, the server is reached through toxiproxy too."""
    admin_port, port = free_port(), free_port()
    admin = f"http://{HOST}:{admin_port}"
    command = [needed(TOXIPROXY), "-host", HOST, "-port", str(admin_port)]
    with running(command, folder, lambda: answers(f"{admin}/version")):
        proxy = {"name": "s3", "listen": f"{HOST}:{port}", "upstream": server.endpoint.removeprefix("http://"), "enabled": True}
        _ask(admin, "POST", "/proxies", proxy)
        yield BadNetwork(replace(server, endpoint=f"http://{HOST}:{port}"), admin, "s3")


def _ask(admin: str, method: str, path: str, body: Any = None) -> None:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{admin}{path}", data, method=method), timeout=10):
        pass
