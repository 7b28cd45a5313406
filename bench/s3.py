"""A first backup into a bucket, from disk and from another bucket, beside rclone and aws s3 sync; and copies by the store itself.

`./dev bench s3 [--rounds N | --quick] [--json FILE]`: versitygw on this machine, which takes its share of the cores; every bucket
is fresh, Spark is warm, digests are worked out by us in every case. Requests are counted in the server's own log. On a machine
that others use, the seconds of CPU say more than those of the clock.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

# Before Spark starts: its workers import from here as well.
ROOT = Path(__file__).resolve().parent.parent
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "bench"), os.environ.get("PYTHONPATH")]))
sys.path.insert(0, str(ROOT))

import _buckets  # noqa: E402
import _machine  # noqa: E402
from _buckets import BUCKET, Buckets, buckets  # noqa: E402
from _lake import CATALOG, NAMESPACE, Lake, lake_in, read_all  # noqa: E402
from _ours import Warm  # noqa: E402
from _peers import install  # noqa: E402
from _report import Ratio, arguments, medians, print_ratios, print_seconds, write_json  # noqa: E402
from _rounds import Contestant, take_turns, timed  # noqa: E402

from bergung.backup.request import BackupRequest  # noqa: E402
from bergung.backup.run import run_backup  # noqa: E402
from bergung.carry.effects import Effects  # noqa: E402
from bergung.catalogs.select import select_tables  # noqa: E402
from bergung.catalogs.settings import open_catalog  # noqa: E402
from bergung.clock import SystemClock  # noqa: E402
from bergung.spark.session import default_cache  # noqa: E402
from bergung.stores.open import Stores  # noqa: E402
from bergung.vault.vault import init_vault, open_vault  # noqa: E402
from tests.servers.s3 import KEY_ID, REGION, SECRET, S3Server  # noqa: E402

FROM_DISK, THROUGH, BY_SERVER = "disk to S3", "S3 to S3, bytes through us", "S3 to S3, by the server"
OURS, RCLONE, AWS = "bergung, warm Spark", "rclone copy", "aws s3 sync"
Noted = tuple[dict[str, list[int]], dict[str, list[float]]]
"""Requests, and seconds of CPU."""


def main() -> None:
    asked, folder = arguments(__doc__), default_cache() / "bench"
    missing, work = install(), folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    lake, machine = lake_in(folder), _machine.facts(work)
    os.environ["PYICEBERG_HOME"] = str(lake.root)
    with buckets(folder / "s3") as found:
        warm, requests, cpu = Warm(work), dict[str, list[int]](), dict[str, list[float]]()
        contestants = list(all_of(found, lake, warm, (requests, cpu)))
        seconds = take_turns(contestants, asked.rounds, lambda: read_all(lake.warehouse))
        warm.close()
        files = {FROM_DISK: len(lake.sizes), THROUGH: found.files(), BY_SERVER: found.files()}
    median = medians(seconds)
    ratios = [Ratio(f"{way}: {OURS} / {peer}", median[f"{way}: {OURS}"] / median[f"{way}: {peer}"]) for way, peer in pairs(median)]
    for line in (lake.said(), *_machine.said(machine), *missing):
        print(line)
    print_seconds(f"seconds, {asked.rounds} rounds, another one first in each", seconds)
    print_seconds("seconds of CPU, the server's with them", cpu)
    print(f"\n  {'requests for each file':<58}{'median':>8}")
    for name, counts in requests.items():
        print(f"  {name:<58}{statistics.median(counts) / files[name.partition(':')[0]]:>8.1f}")
    print_ratios(ratios)
    facts = {"machine": machine, "lake": lake.said(), "requests": requests, "cpu_seconds": cpu, "rounds": asked.rounds}
    write_json(asked.json, facts, seconds, ratios)


def pairs(median: dict[str, float]) -> list[tuple[str, str]]:
    ways = ((way, peer) for way in (FROM_DISK, THROUGH, BY_SERVER) for peer in (RCLONE, AWS))
    return [(way, peer) for way, peer in ways if f"{way}: {peer}" in median]


def all_of(found: Buckets, lake: Lake, warm: Warm, noted: Noted) -> list[Contestant]:
    near, other = found.server, found.other
    disk, far = f"{CATALOG}.{NAMESPACE}", f"{_buckets.CATALOG}.{_buckets.NAMESPACE}"
    source = str(lake.warehouse)

    def one(name: str, run: Callable[[str], float], vault_at: S3Server | None = None) -> Contestant:
        return counted(found, name, run, noted, lambda bucket: ready(found, warm, bucket, vault_at))

    return [
        one(f"{FROM_DISK}: {OURS}", lambda bucket: ours(found, warm, disk, bucket, near), near),
        one(f"{FROM_DISK}: {RCLONE}", lambda bucket: rclone(found, source, f"A:{bucket}")),
        one(f"{FROM_DISK}: {AWS}", lambda bucket: aws(found, source, bucket)),
        one(f"{THROUGH}: {OURS}", lambda bucket: ours(found, warm, far, bucket, other), other),
        one(f"{THROUGH}: {RCLONE}", lambda bucket: rclone(found, f"A:{BUCKET}/warehouse", f"B:{bucket}")),
        one(f"{BY_SERVER}: {OURS}", lambda bucket: ours(found, warm, far, bucket, near), near),
        one(f"{BY_SERVER}: {RCLONE}", lambda bucket: rclone(found, f"A:{BUCKET}/warehouse", f"A:{bucket}")),
        one(f"{BY_SERVER}: {AWS}", lambda bucket: aws(found, f"s3://{BUCKET}/warehouse", bucket)),
    ]


def ready(found: Buckets, warm: Warm, bucket: str, vault_at: S3Server | None) -> None:
    """For ours: the session awake, the vault made, which looks what the store promises."""
    if vault_at is not None:
        warm.small_job()
        init_vault(f"s3://{bucket}/vault", Stores((found.access(bucket, vault_at),)), SystemClock(), uuid4())


def counted(found: Buckets, name: str, run: Callable[[str], float], noted: Noted, ready: Callable[[str], None]) -> Contestant:
    """Into a bucket of its own; the requests of the run and its seconds of CPU are noted."""
    state = {"bucket": ""}

    def before() -> None:
        state.update(bucket=found.fresh())
        ready(state["bucket"])

    def measured() -> float:
        started, cpu = found.requests(), _machine.cpu_seconds()
        seconds = run(state["bucket"])
        noted[0].setdefault(name, []).append(found.requests() - started)
        noted[1].setdefault(name, []).append(_machine.cpu_seconds() - cpu)
        return seconds

    return Contestant(name, measured, before, lambda: found.drop(state["bucket"]))


def ours(found: Buckets, warm: Warm, word: str, bucket: str, vault_at: S3Server) -> float:
    """From locating to the seal."""
    stores = Stores((found.access(bucket, vault_at),))
    url = f"s3://{bucket}/vault"
    started = time.perf_counter()
    selected = select_tables([word], [], open_catalog)
    effects = Effects(engine=warm.engines, open_store=stores)
    result = run_backup(effects, open_vault(url, stores), BackupRequest((word,)), selected)
    seconds = time.perf_counter() - started
    if result.record.backup_metadata.status != "complete":
        raise SystemExit(f"error: the backup is {result.record.backup_metadata.status}: {result.failed}")
    return seconds


def rclone(found: Buckets, source: str, target: str) -> float:
    """Two remotes of one server: between them rclone carries the bytes itself."""
    # rclone stops at a bundle of certificates that some machines name for all programs.
    environment = {"AWS_CA_BUNDLE": ""}
    for name, server in (("A", found.server), ("B", found.other)):
        own = {"type": "s3", "provider": "Other", "endpoint": server.endpoint, "access_key_id": KEY_ID, "secret_access_key": SECRET}
        environment |= {f"RCLONE_CONFIG_{name}_{key.upper()}": value for key, value in {**own, "region": REGION}.items()}
    return timed(["rclone", "--config", "", "--s3-no-check-bucket", "copy", source, target], environment)


def aws(found: Buckets, source: str, bucket: str) -> float:
    keys = {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_DEFAULT_REGION": REGION}
    words = ["aws", "--endpoint-url", found.server.endpoint, "s3", "sync", "--only-show-errors", source, f"s3://{bucket}/copy"]
    return timed(words, keys)


if __name__ == "__main__":
    main()
