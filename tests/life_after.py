"""The life-after suite: a table that came back goes through everything that engines do, and keeps its promises.

Any table can be given: a living one, a restored one, a grafted one. `truth` is what it held before.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.catalog.rest import RestCatalog

import maintenance
import readers
from truth import Truth, compare_all, truth_again


def life_after(spark: Any, catalog_name: str, table_name: str, truth: Truth, pyiceberg: Catalog | None = None) -> None:
    """Raises AssertionError, naming the step after which a promised snapshot no longer reads as it did."""
    life = Life(spark, f"{catalog_name}.{table_name}", truth, pyiceberg)
    life.check("as it came back")
    life.writes()
    life.has_no_orphans()
    life.expires_incrementally_by_core()
    life.expires_by_spark()
    life.expires_reachable_by_core()
    life.expires_by_pyiceberg()


class Life:
    """One table, and what is still promised of it."""

    def __init__(self, spark: Any, table: str, truth: Truth, pyiceberg: Catalog | None = None) -> None:
        """PyIceberg finds a catalog on SQLite by itself; another is handed in."""
        self.spark = spark
        self._pyiceberg = pyiceberg
        self.table = table
        self.promised = truth

    def writes(self) -> None:
        for step in (
            maintenance.append,
            maintenance.delete_on_read,
            maintenance.compact,
            maintenance.rewrite_manifests,
            maintenance.append,
        ):
            step(self.spark, self.table)
            self.check(f"after {step.__name__}", by_time=False)
        self.check("after all the writing")

    def expires_incrementally_by_core(self) -> None:
        """This clean-up wants one unbroken line of snapshots, kept by their age; the older half is given up."""
        maintenance.drop_all_refs(self.spark, self.table)
        line = set(self.line_of_main())
        maintenance.expire_ids_by_core(self.spark, self.table, set(self.file().snapshot_ids) - line)
        kept = [each for each in self.by_age() if each in line]
        # The log is cut at the first snapshot that goes: from here on, only ids are promised.
        self.promised = self.promised.only(kept[len(kept) // 2 :])
        oldest = min(map(self.moment_of, self.promised.snapshots), default=self.moment_of_head())
        maintenance.expire_by_core(self.spark, self.table, oldest, incremental=True)
        self.check("after expireSnapshots by the core library, incremental")

    def expires_by_spark(self) -> None:
        """Tags keep what is promised; what was written since then goes."""
        for each in self.promised.snapshots:
            maintenance.tag(self.spark, self.table, each)
        maintenance.expire_by_spark(self.spark, self.table)
        self.check("after expire_snapshots by Spark's procedure")

    def expires_reachable_by_core(self) -> None:
        """The oldest promise is given up, so that files which others share with it are at stake."""
        self.give_up(self.by_age()[:-1][:1])
        maintenance.append(self.spark, self.table)
        maintenance.expire_by_core(self.spark, self.table, self.moment_of_head(), incremental=False)
        self.check("after expireSnapshots by the core library, reachable")

    def has_no_orphans(self) -> None:
        """Asked before anything expires: the incremental clean-up itself leaves files behind."""
        found = maintenance.orphans(self.spark, self.table)
        assert not found, f"remove_orphan_files would delete {len(found)} files: {found[:5]}"

    def expires_by_pyiceberg(self) -> None:
        """What it expires is one snapshot written just before; it deletes no file."""
        catalog, _, name = self.table.partition(".")
        maintenance.append(self.spark, self.table)
        given_up = [self.file().metadata["current-snapshot-id"]]
        maintenance.append(self.spark, self.table)
        table = (self._pyiceberg or self.pyiceberg(catalog)).load_table(name)
        # PyIceberg writes no metadata of format 3; a REST server writes it itself.
        if self.file().has_lineage and not isinstance(table.catalog, RestCatalog):
            with pytest.raises(NotImplementedError, match="Writing V3"):
                maintenance.expire_by_pyiceberg(table, given_up)
        else:
            maintenance.expire_by_pyiceberg(table, given_up)
            assert given_up[0] not in self.file().snapshot_ids
        self.check("after expire_snapshots by PyIceberg")

    def check(self, step: str, *, by_time: bool = True) -> None:
        promised = self.promised if by_time else self.promised.only(self.promised.snapshots)
        try:
            compare_all(promised, truth_again(promised, self.location(), self.spark, self.table))
        except Exception as problem:
            raise AssertionError(f"{step}: {problem}") from problem

    def give_up(self, snapshot_ids: list[int]) -> None:
        for each in snapshot_ids:
            maintenance.untag(self.spark, self.table, each)
        self.promised = self.promised.only(each for each in self.promised.snapshots if each not in snapshot_ids)

    def by_age(self) -> list[int]:
        """What is promised and still there, the oldest first."""
        return sorted(set(self.promised.snapshots) & set(self.file().snapshot_ids), key=self.moment_of)

    def line_of_main(self) -> Iterator[int]:
        """The current snapshot and its ancestors that are still there."""
        metadata = self.file().metadata
        parents = {each["snapshot-id"]: each.get("parent-snapshot-id") for each in metadata["snapshots"]}
        each = metadata["current-snapshot-id"]
        while each in parents:
            yield each
            each = parents[each]

    def moment_of(self, snapshot_id: int) -> int:
        return int({each["snapshot-id"]: each["timestamp-ms"] for each in self.file().metadata["snapshots"]}[snapshot_id])

    def moment_of_head(self) -> int:
        return self.moment_of(self.file().metadata["current-snapshot-id"])

    def location(self) -> str:
        return maintenance.metadata_location(self.spark, self.table)

    def file(self) -> readers.TableFile:
        return maintenance.current_file(self.spark, self.table)

    def pyiceberg(self, catalog: str) -> Catalog:
        """The same SQLite file as Spark's catalog of this name."""
        uri = self.spark.conf.get(f"spark.sql.catalog.{catalog}.uri").removeprefix("jdbc:sqlite:file:")
        return load_catalog(catalog, type="sql", uri=f"sqlite:///{uri}")
