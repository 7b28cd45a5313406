"""Tables that Iceberg 1.12's `rewrite_table_path` spoils or refuses: it is run, what comes of it is shown, and ours is right."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from procedure import Procedure
from pyspark.sql import SparkSession
from two_lakes import TwoLakes, local, two_lakes

from bergung.model.names import TableName
from equality_deletes import make_table_with_equality_deletes
from maintenance import current_file, expire_by_spark
from position_deletes import data_files, delete_positions
from readers import table_file
from tests.avro_files import rows as avro_rows
from truth import compare_all, truth_again


@pytest.fixture(scope="module")
def lakes(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> TwoLakes:
    """With paths like `file:/a`: of a warehouse `file:///a` the procedure moves no table at all."""
    return two_lakes(spark, tmp_path_factory.mktemp("wrong"))


@pytest.fixture
def procedure(lakes: TwoLakes, tmp_path: Path) -> Procedure:
    return Procedure(lakes.lake, tmp_path)


def made(lakes: TwoLakes, name: str, *properties: str, version: int = 2) -> str:
    """An empty table `db.NAME`; its full name."""
    table, said = lakes.lake.full(f"db.{name}"), ", ".join((f"'format-version' = '{version}'", *properties))
    lakes.lake.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg TBLPROPERTIES ({said})")
    return table


def insert(lakes: TwoLakes, table: str, *starts: int) -> None:
    for start in starts:
        lakes.lake.sql(f"INSERT INTO {table} SELECT id FROM range({start}, {start} + 4)")


def test_an_older_sequence_number_and_a_later_equality_delete(lakes: TwoLakes, procedure: Procedure, tmp_path: Path) -> None:
    """The procedure drops the number: the data file is younger than the delete, and the deleted row is back."""
    make_table_with_equality_deletes(lakes.lake.spark, lakes.lake.full("db.words"), rows=10)
    before = procedure.rows(lakes.lake.full("db.words"), "id, coalesce(word, 'none')")
    theirs = procedure.rows(procedure.table("db.words", tmp_path / "words_copy"), "id, coalesce(word, 'none')")
    assert set(theirs) - set(before) == {(4, "none")}
    lakes.moved("db.words")


def test_snapshots_are_expired_and_the_log_is_rolled(lakes: TwoLakes, procedure: Procedure, tmp_path: Path) -> None:
    """The procedure copies no file whose adding snapshot it does not find in a metadata file."""
    table = made(lakes, "rolled", "'write.metadata.previous-versions-max' = '1'")
    insert(lakes, table, 0, 4, 8)
    expire_by_spark(lakes.lake.spark, table)
    insert(lakes, table, 12, 16)
    rewritten = procedure.rewritten("db.rolled", tmp_path / "rolled_copy")
    rewritten.copy()
    copied = {source for source, _ in rewritten.plan()}
    assert len(set(data_files(lakes.lake.spark, table)) - copied) == 4
    theirs = procedure.register("db.rolled_copy", rewritten.metadata)
    with pytest.raises(Exception, match="rolled_copy/data/.* does not exist"):
        procedure.rows(theirs)
    lakes.moved("db.rolled")


def test_a_position_delete_of_version_2_that_names_its_data_file(lakes: TwoLakes, procedure: Procedure, tmp_path: Path) -> None:
    """The procedure keeps the old path in `referenced_data_file`: the delete is for a file that is not in the table."""
    table = made(lakes, "named")
    insert(lakes, table, 0, 4)
    (first, *_) = data_files(lakes.lake.spark, table)
    delete_positions(lakes.lake.spark, table, [(first, 0)], "named", refers=True)
    before = procedure.rows(table)
    theirs = procedure.rows(procedure.table("db.named", tmp_path / "named_copy"))
    assert (len(before), len(theirs)) == (7, 8)
    lakes.moved("db.named")


def test_an_upgrade_to_version_3_that_holds_an_older_snapshot(lakes: TwoLakes, procedure: Procedure, tmp_path: Path) -> None:
    table = made(lakes, "upgraded")
    insert(lakes, table, 0, 4)
    lakes.lake.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')")
    insert(lakes, table, 8)
    lakes.lake.sql(f"DELETE FROM {table} WHERE id = 9")
    with pytest.raises(Exception, match="NullPointerException"):
        procedure.rewritten("db.upgraded", tmp_path / "upgraded_copy")
    lakes.moved("db.upgraded")


def test_again_under_a_prefix_of_another_length(lakes: TwoLakes, procedure: Procedure, tmp_path: Path) -> None:
    """The procedure's new list has the old lengths of manifests that it did not write again."""
    table = made(lakes, "again")
    insert(lakes, table, 0)
    first = Path(current_file(lakes.lake.spark, table).location).name
    whole = procedure.rewritten("db.again", tmp_path / "again_copy")
    whole.copy()
    insert(lakes, table, 4)
    more = procedure.rewritten("db.again", tmp_path / "again_copy", start_version=first)
    more.copy()
    assert wrong_lengths(str(more.metadata)), "lengths are right"
    assert wrong_lengths(lakes.moved("db.again")) == []
    insert(lakes, table, 8)
    longer = f"{lakes.there.warehouse.as_uri()}/of/another/length/{'long' * 20}"
    assert wrong_lengths(lakes.moved("db.again", to="db.longer", location=longer)) == []


def wrong_lengths(metadata: str) -> list[str]:
    """Manifests that are not as long as a list of them says."""
    found = []
    for snapshot in table_file(metadata).metadata["snapshots"]:
        for row in avro_rows(local(snapshot["manifest-list"]).read_bytes()):
            if row["manifest_length"] != local(row["manifest_path"]).stat().st_size:
                found.append(row["manifest_path"])
    return found


def test_an_old_metadata_file_is_gone(lakes: TwoLakes, procedure: Procedure, tmp_path: Path) -> None:
    table = made(lakes, "hole")
    insert(lakes, table, 0, 4)
    local(current_file(lakes.lake.spark, table).metadata["metadata-log"][0]["metadata-file"]).unlink()
    with pytest.raises(Exception, match="metadata.json"):
        procedure.rewritten("db.hole", tmp_path / "hole_copy")
    pointer = lakes.moved("db.hole")
    log = [each["metadata-file"] for each in table_file(pointer).metadata["metadata-log"]]
    assert log and all(local(each).is_file() for each in log)


def test_data_is_written_outside_the_location(lakes: TwoLakes, procedure: Procedure, tmp_path: Path) -> None:
    fast = lakes.lake.warehouse / "fast"
    table = made(lakes, "outside", f"'write.data.path' = 'file:{fast}'")
    insert(lakes, table, 0, 4)
    with pytest.raises(Exception, match="does not start with"):
        procedure.rewritten("db.outside", tmp_path / "outside_copy")
    pointer = lakes.moved("db.outside")
    assert table_file(pointer).metadata["properties"]["write.data.path"].startswith(lakes.there.warehouse.as_uri())


def test_a_comma_in_a_path(lakes: TwoLakes, procedure: Procedure, tmp_path: Path) -> None:
    """The procedure's plan has neither quotes nor escapes: such a line has more fields than two."""
    table = lakes.lake.full("db.comma")
    lakes.lake.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg LOCATION 'file:{lakes.lake.warehouse}/a,b'")
    insert(lakes, table, 0, 4)
    rewritten = procedure.rewritten("db.comma", tmp_path / "comma_copy")
    assert {len(row) for row in rewritten.plan()} != {2}
    lakes.moved("db.comma", location=f"{lakes.there.warehouse.as_uri()}/c,d")


def test_a_summary_without_totals(lakes: TwoLakes, procedure: Procedure, tmp_path: Path) -> None:
    """The procedure rewrites the table, but Iceberg's `register_table` fails on what it made, once it has registered it."""
    table = made(lakes, "untold")
    insert(lakes, table, 0, 4)
    without_totals(lakes, "untold")
    with pytest.raises(Exception, match="Cannot parse null string"):
        procedure.table("db.untold", tmp_path / "untold_copy")
    lakes.moved("db.untold")


def without_totals(lakes: TwoLakes, name: str) -> None:
    """As writers leave it that do not count: a new metadata file, under which the table goes on."""
    old = lakes.pointer(lakes.lake, f"db.{name}")
    metadata = table_file(old).metadata
    for snapshot in metadata["snapshots"]:
        snapshot["summary"] = {"operation": snapshot["summary"]["operation"]}
    new = old.replace("metadata/0", "metadata/1")
    local(new).write_text(json.dumps(metadata))
    lakes.catalog(lakes.lake.name).replace(TableName(lakes.lake.name, ("db",), name), new, expected=old)


@pytest.fixture
def lost(lakes: TwoLakes) -> Iterator[str]:
    table = made(lakes, "lost")
    insert(lakes, table, 0, 4)
    yield table
    lakes.lake.sql(f"DROP TABLE IF EXISTS {table}")


def test_the_original_is_gone(lakes: TwoLakes, procedure: Procedure, lost: str, tmp_path: Path) -> None:
    """The procedure reads a table, and there is none any more: of a byte copy and of a vault nobody can make one but we."""
    before, rows = lakes.truth("db.lost"), procedure.rows(lost)
    assert lakes.backup(lost).failed == {}
    folder = local(procedure.location("db.lost"))
    shutil.copytree(folder, tmp_path / "lost_copy")
    newest = next(iter(sorted((tmp_path / "lost_copy" / "metadata").glob("*.metadata.json"), reverse=True)))
    lakes.lake.sql(f"DROP TABLE {lost}")
    shutil.rmtree(folder)
    procedure.register("db.lost", newest)
    with pytest.raises(Exception, match="does not start with"):
        procedure.table("db.lost", tmp_path / "lost_again")
    lakes.sql(f"DROP TABLE {lost}")
    pointer = lakes.restored("db.lost")
    compare_all(before, truth_again(before, pointer, lakes.lake.spark, lakes.there.full("db.lost")))
    assert procedure.rows(lakes.there.full("db.lost")) == rows
