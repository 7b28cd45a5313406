"""Behind a network that cuts, stalls and resets: a write or a read ends right, or fails and leaves nothing half."""

import secrets

import pytest

from bergung.errors import StoreError
from bergung.stores.s3.multipart import PART_BYTES
from bergung.stores.s3.store import S3Store
from tests.faults.s3.hurry import FastClock
from tests.servers.toxiproxy import BadNetwork

LARGE = secrets.token_bytes(3 * PART_BYTES + 11)

HARMS = {
    "latency": {"latency": 50, "jitter": 20},
    "bandwidth": {"rate": 20_000},
    "reset_peer": {"timeout": 300, "toxicity": 0.3},
    "limit_data": {"bytes": 5_000_000},
    "slicer": {"average_size": 20_000, "size_variation": 10_000, "delay": 100},
}


ANSWERS_COME = {"latency", "bandwidth", "slicer"}
"""An upload that was begun and whose id was lost can be aborted by nobody but the bucket's lifecycle."""


@pytest.mark.parametrize("kind", HARMS)
@pytest.mark.parametrize("stream", ["downstream", "upstream"])
def test_writes_and_reads_end_right(network: BadNetwork, kind: str, stream: str) -> None:
    bucket = network.server.new_bucket()
    through = bucket.store()
    hurried = S3Store(through.url, through.accesses, FastClock())
    with network.bad(kind, stream=stream, **HARMS[kind]):  # type: ignore[arg-type]
        for number, content in enumerate((b"small", LARGE)):
            try:
                hurried.put_if_absent(f"{number}", iter([content]))
                assert b"".join(hurried.blocks(f"{number}")) == content
            except StoreError as error:
                # Allowed, as long as nothing wrong shows.
                assert "asked" in error.message or "taken away" in error.message
    for found in bucket.store().list(""):
        assert bucket.store().read(found.key) == (b"small" if found.key == "0" else LARGE)
    if kind in ANSWERS_COME:
        assert bucket.unfinished() == []
