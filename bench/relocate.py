"""A table of 200,000 files in 100 manifests gets other paths, beside Iceberg's own rewrite_table_path.

`./dev bench relocate [--rounds N | --quick] [--json FILE]`: both on one warm Spark of two cores, the order turns from round to
round. Theirs writes metadata files, manifest lists and manifests to a staging folder, with a list of what to copy; ours walks a
point of the vault, which is checked by its digests, and writes the same files to their places. Neither copies data.
"""

import os
import shutil
import sys
import time
import uuid
from pathlib import Path

os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import _machine  # noqa: E402
from _report import Ratio, arguments, medians, print_ratios, print_seconds, write_json  # noqa: E402
from _rounds import Contestant, take_turns, tell  # noqa: E402

from bergung.backup.request import METADATA, BackupRequest  # noqa: E402
from bergung.backup.run import run_backup  # noqa: E402
from bergung.carry.effects import Effects  # noqa: E402
from bergung.carry.job import Job, TableJob  # noqa: E402
from bergung.carry.relocating import make_manifests  # noqa: E402
from bergung.carry.walking import Root, walk  # noqa: E402
from bergung.catalogs.base import Namespace  # noqa: E402
from bergung.catalogs.select import select_tables  # noqa: E402
from bergung.catalogs.sql import SqlCatalog  # noqa: E402
from bergung.catalogs.sqlite import database  # noqa: E402
from bergung.clock import SystemClock  # noqa: E402
from bergung.iceberg.metadata import read_metadata  # noqa: E402
from bergung.iceberg.relocate.metadata import relocate_metadata  # noqa: E402
from bergung.iceberg.relocate.path_map import PathMap  # noqa: E402
from bergung.model.names import TableName  # noqa: E402
from bergung.spark.engine import SparkEngine  # noqa: E402
from bergung.spark.session import SessionSettings, default_cache, iceberg_catalog_conf, open_session  # noqa: E402
from bergung.stores.open import open_store  # noqa: E402
from bergung.vault.journal import begin  # noqa: E402
from bergung.vault.vault import init_vault, open_vault, read_record, read_state  # noqa: E402
from tests.synthetic import Shape, SyntheticTable  # noqa: E402

FILES, MANIFESTS, COLUMNS, CORES = 200_000, 100, 3, 2
LAKE, NEW = "lake", "s3://far/away/moved"
OURS, WHOLE, THEIRS = "bergung, files made anew", "bergung, with the walk of the point", "rewrite_table_path"
NAME = TableName(LAKE, ("bench",), "wide")


class Bench:
    """A table, a point of it without data, a Spark that both work on."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.table = made(root / "wide")
        self.catalog_file = root / "catalog.db"
        confs = {
            **iceberg_catalog_conf(LAKE, root, self.catalog_file),
            "spark.default.parallelism": str(CORES),
            "spark.sql.shuffle.partitions": str(CORES),
        }
        self.spark = open_session(SessionSettings(master=f"local[{CORES},4]", iceberg=True, confs=confs))
        engine = SparkEngine(self.spark, CORES)
        self.effects = Effects(engine=lambda: engine)
        self.walk_seconds: list[float] = []
        self._enter()
        self.vault = self._backed_up()

    def _enter(self) -> None:
        self.catalog_file.unlink(missing_ok=True)
        self.spark.sql(f"CREATE NAMESPACE {LAKE}.bench")
        catalog = self._catalog(LAKE)
        catalog.create_namespace(Namespace(NAME.namespace, {}))
        catalog.register(NAME, f"file://{self.table}")

    def _catalog(self, name: str) -> SqlCatalog:
        return SqlCatalog(name, database(f"sqlite:///{self.catalog_file}"), SystemClock())

    def _backed_up(self) -> str:
        shutil.rmtree(self.root / "vault", ignore_errors=True)
        vault = init_vault((self.root / "vault").as_uri(), open_store, SystemClock(), uuid.uuid4())
        asked = BackupRequest((str(NAME),), captured=METADATA)
        result = run_backup(self.effects, open_vault(vault.url, open_store), asked, select_tables([str(NAME)], [], self._catalog))
        if result.record.backup_metadata.status != "complete":
            raise SystemExit(f"error: the point is {result.record.backup_metadata.status}")
        return vault.url

    def fresh(self) -> None:
        shutil.rmtree(self.root / "moved", ignore_errors=True)
        shutil.rmtree(self.root / "staged", ignore_errors=True)

    def ours(self) -> float:
        """All that names paths, from the vault to its new place."""
        vault = open_vault(self.vault, open_store)
        record = read_record(vault, read_state(vault).points[-1])
        entry = record.tables[str(NAME)]
        run = begin(vault.store, uuid.uuid4().hex, SystemClock(), verb="bench")
        metadata = read_metadata(self.table.read_bytes(), str(self.table))
        moves = PathMap(((metadata.location, f"file://{self.root}/moved"),))
        job = Job(vault.url, run.id, {0: TableJob(str(NAME), entry.location, metadata.location, (metadata.location,), moves=moves)})
        started = time.perf_counter()
        found = walk(self.effects, job, [Root(0, entry, metadata)])
        walked = time.perf_counter()
        made_anew = make_manifests(self.effects, job, found.named, ())
        relocate_metadata(self.table.read_bytes(), str(self.table), moves)
        ended = time.perf_counter()
        if made_anew.moved_files != MANIFESTS + 1:
            raise SystemExit(f"error: {made_anew.moved_files} files made anew")
        self.walk_seconds.append(ended - started)
        return ended - walked

    def theirs(self) -> float:
        staged, location = self.root / "staged", f"file://{self.root}/wide"
        call = f"CALL {LAKE}.system.rewrite_table_path(table => 'bench.wide', source_prefix => '{location}', "
        started = time.perf_counter()
        self.spark.sql(f"{call} target_prefix => '{NEW}', staging_location => 'file://{staged}')").collect()
        seconds = time.perf_counter() - started
        if len(list(staged.rglob("*.avro"))) != MANIFESTS + 1:
            raise SystemExit("error: rewrite_table_path left manifests out")
        return seconds


def made(folder: Path) -> Path:
    """The metadata file of the table; made once, which takes a minute."""
    known = folder / "made"
    if not known.is_file():
        tell(f"making a table of {FILES:,} files in {MANIFESTS} manifests")
        shutil.rmtree(folder, ignore_errors=True)
        table = SyntheticTable(folder, Shape(with_data=False, columns_with_statistics=COLUMNS))
        table.append(FILES, MANIFESTS)
        path = table.commit()
        known.write_text(str(table.local(path)))
    return Path(known.read_text())


def main() -> None:
    asked, root = arguments(__doc__), default_cache() / "bench" / "relocate"
    root.mkdir(parents=True, exist_ok=True)
    bench, machine = Bench(root), _machine.facts(root)
    contestants = [
        Contestant(OURS, bench.ours, bench.fresh, bench.fresh),
        Contestant(THEIRS, bench.theirs, bench.fresh, bench.fresh),
    ]
    for each in contestants:
        each.before()
        tell(f"first, not counted: {each.name} {each.run():.2f} s")
    bench.walk_seconds.clear()
    seconds = {**take_turns(contestants, asked.rounds, lambda: None), WHOLE: bench.walk_seconds}
    bench.spark.stop()
    median = medians(seconds)
    ratios = [
        Ratio(f"{OURS} / {THEIRS}", median[OURS] / median[THEIRS], 0.2),
        Ratio(f"{WHOLE} / {THEIRS}", median[WHOLE] / median[THEIRS]),
    ]
    print(f"{FILES:,} files in {MANIFESTS} manifests, {COLUMNS} columns of statistics, {CORES} cores")
    for line in _machine.said(machine):
        print(line)
    print_seconds(f"seconds, {asked.rounds} rounds, another one first in each", seconds)
    for name in seconds:
        print(f"  {name}: {FILES / median[name]:,.0f} entries a second")
    print_ratios(ratios)
    write_json(asked.json, {"machine": machine, "rounds": asked.rounds}, seconds, ratios)


if __name__ == "__main__":
    main()
