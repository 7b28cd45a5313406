"""Whether anybody listens where a master or a Connect server should be: Spark itself would try for minutes."""

import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

from bergung.errors import BergungError, UsageError

PATIENCE_SECONDS = 5.0
PORTS = {"spark": 7077, "sc": 15002, "k8s": 443}
_ADDRESSES = re.compile(r"(spark|sc|k8s)://(?:https?://)?([^/;]+)")


def require_answer(address: str) -> None:
    """Raises unless one of the machines that the address names takes a connection; other addresses are Spark's own business."""
    found = _ADDRESSES.match(address)
    if found is None:
        return
    refusals = [_refusal(host, port) for host, port in _places(found[1], found[2])]
    if all(refusals):
        raise BergungError(f"nobody answers at {found[1]}://{found[2]}: {refusals[0]}", _hint(found[1]))


def _refusal(host: str, port: int) -> str:
    """Why it does not answer; empty when it does."""
    try:
        with suppress(ConnectionResetError), socket.create_connection((host, port), timeout=PATIENCE_SECONDS):
            return ""
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return ""


def _places(scheme: str, named: str) -> Iterator[tuple[str, int]]:
    for each in named.split(","):
        try:
            parts = urlsplit(f"//{each}")
            host, port = parts.hostname, parts.port or PORTS[scheme]
        except ValueError as error:
            raise UsageError(f"no machine and port: {each}", f"write {scheme}://HOST:{PORTS[scheme]}") from error
        yield host or "", port


def _hint(scheme: str) -> str:
    name = "spark.remote (BERGUNG_SPARK_REMOTE)" if scheme == "sc" else "spark.master (BERGUNG_SPARK_MASTER)"
    return f"see that it runs and that {name} names it; to do without: --engine process"
