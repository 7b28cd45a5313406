"""moto, a double of AWS's APIs, as a process of its own.

It proves nothing about safety: docs/facts.md says what it lets pass.
"""

import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers.process import HOST, answers, free_port, running

REGION = "eu-central-1"


@contextmanager
def moto(folder: Path) -> Iterator[str]:
    """Its address while it runs."""
    port = free_port()
    url = f"http://{HOST}:{port}"
    command = [Path(sys.executable).parent / "moto_server", "-H", HOST, "-p", str(port)]
    with running(command, folder, lambda: answers(f"{url}/moto-api/")):
        yield url


def forget(url: str) -> None:
    """Everything that it holds."""
    urllib.request.urlopen(urllib.request.Request(f"{url}/moto-api/reset", method="POST"), timeout=30).close()
