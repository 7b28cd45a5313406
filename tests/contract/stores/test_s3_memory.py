"""A file of 5 GB through a process: blocks of one bucket into another, and a copy by the server in several parts."""

import hashlib
import secrets
import subprocess
import sys

import pytest

from tests.servers.s3 import S3Server

pytestmark = pytest.mark.nightly

PIECE = secrets.token_bytes(1 << 20)
COUNT = 5 * 1024 + 300
"""Above what a single request can copy."""

SCRIPT = """
import sys
from bergung.stores.access import Access
from bergung.stores.open import Stores
from bergung.stores.streaming import stream

source, target, endpoint, key, secret = sys.argv[1:6]
stores = Stores((Access("s3://", endpoint, "us-east-1", key, secret),))
print(stream((stores(source), "large", None), (stores(target), "copy")).digest)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) // 1024)
"""


def test_35_1_five_gigabytes_take_less_than_200_mb(versitygw_server: S3Server) -> None:
    source, target = versitygw_server.new_bucket().store("lake"), versitygw_server.new_bucket().store()
    put = source.put_if_absent("large", (PIECE for _ in range(COUNT)))
    assert put.size_bytes == COUNT << 20 > 5 * 1024**3
    access = versitygw_server.access()
    words = [source.url, target.url, access.endpoint, access.key_id, access.secret]
    done = subprocess.run([sys.executable, "-c", SCRIPT, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    digest, peak_mb = done.stdout.split()
    print(f"peak {peak_mb} MB")
    assert digest == f"sha256:{hash_of_all()}" and int(peak_mb) < 200
    copied = target.copy_from(source, "large", "by the server", version=put.version)
    assert copied.stat.size_bytes == put.size_bytes and copied.digest is None
    for start in (0, (1 << 30) - 5, (5 << 30) - 5, put.size_bytes - 10):
        assert target.read("by the server", start=start, length=10) == source.read("large", start=start, length=10)


def hash_of_all() -> str:
    whole = hashlib.sha256()
    for _ in range(COUNT):
        whole.update(PIECE)
    return whole.hexdigest()
