"""bergung compare on real tables: what is equal is told to be equal, and one row, one type, one name that differs is found."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from conftest import Lake, new_lake
from pyspark.sql import SparkSession

from bergung.carry.effects import Effects, NobodyWatches, here
from bergung.cli.tables import named_table
from bergung.compare.request import CompareRequest
from bergung.compare.run import run_compare
from bergung.compare.sides import find_side
from bergung.demo.tables import MERGE_ON_READ
from bergung.errors import Interrupted, UsageError
from bergung.spark.comparing import CONFS
from bergung.spark.engine import SparkEngine
from bergung.spark.tables import OpenTable, TableAt
from bergung.stores.access import Access
from bergung.stores.open import open_store
from readers import print_of, rows_by_duckdb, table_file
from tests.command import Said, call
from tests.stories.test_json_contract import TOLD, check

COLUMNS = "id BIGINT NOT NULL, name STRING, amount DECIMAL(9, 2)"
ROWS = "SELECT id, concat('customer ', id) AS name, cast(id / 4 AS decimal(9, 2)) AS amount FROM range(100)"


@pytest.fixture
def home(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user without any settings, whose commands find the session of the tests open."""
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.chdir(place)
    for variable in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(place))
    monkeypatch.setenv("BERGUNG_ENGINE", "process")
    yield place
    for name in CONFS:
        spark.conf.unset(name)


@pytest.fixture
def shop(home: Path, lake_as_made: Lake, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """The demo lake, in its catalog."""
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", f"sqlite:///{lake_as_made.sqlite_path}")
    return lake_as_made


@dataclass(frozen=True)
class Pairs:
    """A lake of small tables: `db.base`, and others that differ from it in one thing."""

    lake: Lake

    def sql(self, *statements: str) -> None:
        for statement in statements:
            self.lake.sql(statement)

    def made(self, name: str, columns: str = COLUMNS, rows: str = ROWS, more: str = "") -> str:
        """Once; the full name."""
        full = self.lake.full(f"db.{name}")
        if f"db.{name}" not in self.lake.tables():
            self.sql(f"CREATE TABLE {full} ({columns}) USING iceberg {more}")
            if rows:
                self.sql(f"INSERT INTO {full} {rows}")
        return full

    def compare(self, a: str, b: str, *words: str) -> Said:
        return call("compare", a, b, *words, "--json")


@pytest.fixture(scope="module")
def made_pairs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Pairs:
    lake = new_lake(spark, "pairs", tmp_path_factory.mktemp("pairs"))
    lake.sql("CREATE NAMESPACE pairs.db")
    found = Pairs(lake)
    found.made("base")
    return found


@pytest.fixture
def pairs(home: Path, made_pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> Pairs:
    monkeypatch.setenv("PYICEBERG_CATALOG__PAIRS__URI", f"sqlite:///{made_pairs.lake.sqlite_path}")
    return made_pairs


BASE = "pairs.db.base"


def only(said: Said) -> dict[str, Any]:
    """The one pair of states that was compared."""
    (found,) = said.result["compared"]
    return dict(found)


def differences(said: Said) -> list[tuple[str, str | None, str | None]]:
    return [(each["what"], each["a"], each["b"]) for each in (*said.result["definition"], *only(said)["schema"])]


# Equal


@pytest.mark.parametrize("table", ["visits", "orders", "payments", "places", "products", "customers", "eu.north.stock"])
def test_every_snapshot_of_every_kind_of_table_is_read_as_other_readers_read_it(shop: Lake, table: str) -> None:
    full = shop.full(f"shop.{table}")
    said = call("compare", full, shop.location(f"shop.{table}"), "--snapshots", "all", "--json")
    assert (said.code, said.result["status"]) == (0, "complete"), said.err
    file = table_file(shop.location(f"shop.{table}"))
    told = {each["snapshot_a"]: each["fingerprint_b"] for each in said.result["compared"]}
    assert told == {id_: print_of(rows_by_duckdb(file.location, id_), file.fields(id_)).digest for id_ in file.snapshot_ids}


def test_what_was_restored_elsewhere_is_compared_with_its_original(
    shop: Lake, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERGUNG_VAULT", str(tmp_path / "vault"))
    names = ("orders", "payments")
    assert call("init").code == 0
    assert call("backup", *(f"lake.shop.{name}" for name in names)).code == 0
    restored = call("restore", "--all", "--to", "lake.copies.*", "--location", str(tmp_path / "copies"))
    assert restored.code == 0, restored.err
    for name, *words in (("orders",), ("payments", "--lineage")):
        pair = f"lake.shop.{name}", f"lake.copies.{name}"
        said = call("compare", *pair, "--snapshots", "all", *words, "--json")
        assert (said.code, said.result["only_in_a"], said.result["only_in_b"]) == (0, [], []), said.err
        assert len(said.result["compared"]) == len(table_file(lake.location(f"shop.{name}")).snapshot_ids)
        lake.sql(f"DELETE FROM {pair[1]} WHERE {name[:-1]}_id = 2")
        assert call("compare", *pair, *words, "--json").result["compared"][0]["only_a"] == 1


def test_tables_without_a_snapshot_are_equal(shop: Lake, pairs: Pairs) -> None:
    empty = pairs.made("empty", "id BIGINT, wish STRING", rows="")
    said = pairs.compare(empty, shop.full("shop.wishes"))
    assert (said.code, only(said)["snapshot_a"], only(said)["rows_b"]) == (0, None, 0)


def test_the_same_rows_in_other_files_under_another_format_are_equal(pairs: Pairs) -> None:
    more = f"PARTITIONED BY (bucket(3, id)) TBLPROPERTIES ('format-version' = '3', {MERGE_ON_READ})"
    other = pairs.made("laid_out", rows=f"{ROWS} ORDER BY hash(id)", more=more)
    pairs.sql(f"INSERT INTO {other} VALUES (1000, 'x', 0)", f"DELETE FROM {other} WHERE id = 1000")
    said = pairs.compare(BASE, other)
    assert (said.code, only(said)["equal"]) == (6, True)
    assert differences(said) == [("partitioning", None, "bucket[3](id) as id_bucket")]
    assert said.errors == [f"{BASE} and {other} differ: the partitioning"]
    assert said.hints == ["the rows are the same; to let the rest pass: --rows-only"]
    assert pairs.compare(BASE, other, "--rows-only").code == 0


# One thing differs


def test_one_changed_row_is_found_and_shown(pairs: Pairs) -> None:
    other = pairs.made("changed")
    pairs.sql(f"UPDATE {other} SET amount = amount + 0.01 WHERE id = 42")
    said = pairs.compare(BASE, other)
    assert (said.code, said.result["status"]) == (6, "different")
    assert said.errors == [f"{BASE} and {other} differ: 1 row only in the first, 1 only in the second"]
    values = {"id": 42, "name": "customer 42", "amount": "10.50"}
    assert only(said)["sample"] == [
        {"only_in": "a", "times": 1, "values": values},
        {"only_in": "b", "times": 1, "values": {**values, "amount": "10.51"}},
    ]


def test_a_row_that_is_there_twice_more_is_found_with_its_count(pairs: Pairs) -> None:
    other = pairs.made("twice")
    pairs.sql(*[f"INSERT INTO {other} SELECT * FROM {BASE} WHERE id = 7"] * 2)
    said = pairs.compare(BASE, other)
    assert (only(said)["only_a"], only(said)["only_b"]) == (0, 2)
    assert [(row["only_in"], row["times"], row["values"]["id"]) for row in only(said)["sample"]] == [("b", 2, 7)]


def test_the_first_twenty_rows_are_shown_by_their_value_and_all_are_counted(pairs: Pairs) -> None:
    other = pairs.made("many", rows="SELECT id, 'other', NULL FROM range(3, 103)")
    said = call("compare", BASE, other)
    assert said.code == 6
    lines = said.out.splitlines()
    place = lines.index("rows that only one has, 180 more are not shown:")
    shown = [line.split() for line in lines[place + 2 :]]
    assert lines[place + 1].split() == ["in", "times", "id", "name", "amount"]
    assert [row[:3] for row in shown[:5]] == [["A", "1", "0"], ["A", "1", "1"], ["A", "1", "2"], ["A", "1", "3"], ["B", "1", "3"]]
    assert (len(shown), shown[4][3:]) == (20, ['"other"', "NULL"])


def test_more_differing_rows_than_are_looked_for_are_all_counted(pairs: Pairs) -> None:
    other = pairs.made("wide", rows=f"{ROWS} UNION ALL SELECT id, 'more', NULL FROM range(-1000, 0)")
    said = pairs.compare(BASE, other)
    assert (only(said)["only_a"], only(said)["only_b"]) == (0, 1000)
    assert [row["values"]["id"] for row in only(said)["sample"]] == list(range(-1000, -980))


def test_an_empty_table_and_a_full_one(pairs: Pairs) -> None:
    empty = pairs.made("bare", rows="")
    said = pairs.compare(empty, BASE)
    assert (only(said)["rows_a"], only(said)["rows_b"], only(said)["only_b"]) == (0, 100, 100)


SCHEMAS: Mapping[str, tuple[str, list[tuple[str, str | None, str | None]], list[str]]] = {
    "a wider type": (
        "ALTER COLUMN amount TYPE DECIMAL(18, 2)",
        [("column", "3 amount decimal(9,2)", "3 amount decimal(18,2)")],
        [],
    ),
    "a null that is allowed": ("ALTER COLUMN id DROP NOT NULL", [("column", "1 id long required", "1 id long")], []),
    "another name": ("RENAME COLUMN name TO title", [("column", "2 name string", "2 title string")], []),
    "a column more": ("ADD COLUMN more INT", [("column", None, "4 more int")], ["more"]),
    "another order": ("ALTER COLUMN amount FIRST", [("order of columns", "id, name, amount", "amount, id, name")], []),
    "fields that identify": ("SET IDENTIFIER FIELDS id", [("identifier fields", None, "id")], []),
    "a sort order": ("WRITE ORDERED BY name DESC", [("sort order", None, "name desc nulls-last")], []),
}


@pytest.mark.parametrize("what", SCHEMAS)
def test_what_differs_beside_the_rows_is_told_and_may_be_let_pass(pairs: Pairs, what: str) -> None:
    change, expected, left_out = SCHEMAS[what]
    other = pairs.made(what.replace(" ", "_"))
    pairs.sql(f"ALTER TABLE {other} {change}")
    said = pairs.compare(BASE, other)
    assert (said.code, differences(said), only(said)["equal"], only(said)["left_out"]) == (6, expected, True, left_out)
    assert pairs.compare(BASE, other, "--rows-only").code == 0


def test_a_column_of_another_type_is_left_out_and_said(pairs: Pairs) -> None:
    other = pairs.made("typed", "id BIGINT NOT NULL, name STRING, amount DOUBLE")
    said = pairs.compare(BASE, other)
    assert differences(said) == [("column", "3 amount decimal(9,2)", "3 amount double")]
    assert (only(said)["left_out"], only(said)["columns"], only(said)["equal"]) == (["amount"], ["id", "name"], True)
    told = call("compare", BASE, other).out
    assert "rows are compared without columns that only one has, or has otherwise: amount\n" in told


def test_tables_without_a_common_column_are_never_equal(pairs: Pairs) -> None:
    other = pairs.made("strange", "other STRING", rows="SELECT 'x'")
    said = pairs.compare(BASE, other, "--rows-only")
    assert (said.code, only(said)["equal"], only(said)["rows_a"]) == (6, False, None)
    assert said.errors == [f"{BASE} and {other} differ: they have no column in common to compare rows by"]


def test_a_table_made_anew_has_other_ids_and_is_matched_by_name(pairs: Pairs) -> None:
    other = pairs.made("anew", "dropped INT, amount DECIMAL(9, 2), name STRING, id BIGINT NOT NULL", rows="")
    pairs.sql(f"ALTER TABLE {other} DROP COLUMN dropped", f"INSERT INTO {other} SELECT amount, name, id FROM {BASE}")
    said = pairs.compare(BASE, other)
    assert said.code == 6 and ("column", "1 id long required", "4 id long required") in differences(said)
    assert said.hints[0].endswith("match them by name with --by-name")
    by_name = pairs.compare(BASE, other, "--by-name")
    assert differences(by_name) == [("order of columns", "id, name, amount", "amount, name, id")] and only(by_name)["equal"]
    pairs.sql(f"UPDATE {other} SET name = 'x' WHERE id = 5")
    assert pairs.compare(BASE, other, "--by-name", "--rows-only").code == 6


# Values


ODD = """VALUES (1, 0.0D, float('NaN'), X'', ''), (2, double('-Infinity'), float(0.1), X'00FF', 'NULL'),
    (3, NULL, NULL, NULL, NULL), (4, 1e300, float('-Infinity'), X'CAFE', 'Grüße')"""


def test_values_that_are_the_same_to_iceberg_are_equal_and_others_are_not(pairs: Pairs) -> None:
    columns = "id BIGINT, big DOUBLE, small FLOAT, code BINARY, words STRING"
    one = pairs.made("odd", columns, rows=ODD)
    same = pairs.made("odd_too", columns, rows=ODD.replace("0.0D", "-0.0D"))
    assert pairs.compare(one, same).code == 0, "-0.0 is 0.0, and NaN is NaN"
    changed = ODD.replace("X''", "NULL").replace("'NULL'", "'null'").replace("(3, NULL,", "(3, 0,")
    other = pairs.made("odd_not", columns, rows=changed)
    sample = only(pairs.compare(one, other))["sample"]
    assert [(row["only_in"], *row["values"].values()) for row in sample] == [
        ("b", 1, 0.0, "nan", None, ""),
        ("a", 1, 0.0, "nan", "0x", ""),
        ("a", 2, "-inf", 0.1, "0x00ff", "NULL"),
        ("b", 2, "-inf", 0.1, "0x00ff", "null"),
        ("a", 3, None, None, None, None),
        ("b", 3, 0.0, None, None, None),
    ]


NESTED = """SELECT id, named_struct('x', id, 'y', array(id, NULL)) AS place, map('k', id) AS counts,
    parse_json(concat('{"n": ', id, '}')) AS what FROM range(20)"""


def test_nested_columns_and_variants(pairs: Pairs) -> None:
    columns = "id BIGINT, place STRUCT<x: BIGINT, y: ARRAY<BIGINT>>, counts MAP<STRING, BIGINT>, what VARIANT"
    more = "TBLPROPERTIES ('format-version' = '3')"
    one = pairs.made("nested", columns, NESTED, more)
    other = pairs.made("nested_too", columns, NESTED.replace("array(id, NULL)", "array(id, if(id = 3, 0, NULL))"), more)
    pairs.sql(f"ALTER TABLE {other} ADD COLUMN place.z INT")
    said = pairs.compare(one, other)
    assert (only(said)["only_a"], only(said)["only_b"], only(said)["left_out"]) == (1, 1, ["place.z"])
    values = [row["values"] for row in only(said)["sample"]]
    assert [row["place"] for row in values] == [{"x": 3, "y": [3, 0]}, {"x": 3, "y": [3, None]}]
    assert values[0]["counts"] == [["k", 3]] and set(values[0]["what"]) == {"metadata", "value"}
    assert pairs.compare(one, one).code == 0


def test_lineage_is_compared_when_asked_for(pairs: Pairs) -> None:
    one = pairs.made("born", "id BIGINT", "SELECT id FROM range(10) ORDER BY id", "TBLPROPERTIES ('format-version' = '3')")
    other = pairs.made("reborn", "id BIGINT", "SELECT id FROM range(10) ORDER BY id DESC", "TBLPROPERTIES ('format-version' = '3')")
    assert pairs.compare(one, other).code == 0
    said = pairs.compare(one, other, "--lineage")
    assert said.code == 6 and only(said)["columns"] == ["id", "_last_updated_sequence_number", "_row_id"]
    assert only(said)["sample"][0]["values"] == {"id": 0, "_last_updated_sequence_number": 1, "_row_id": 0}
    assert pairs.compare(one, one, "--lineage").code == 0
    refused = pairs.compare(one, BASE, "--lineage")
    assert (refused.code, refused.errors) == (2, [f"{BASE} has format version 2: its rows have no lineage"])


# States


@pytest.fixture
def history(pairs: Pairs) -> tuple[str, list[int], list[int]]:
    """A table of three snapshots, a tag and a branch; their ids and the milliseconds at which they became current."""
    full = pairs.made("history", "id BIGINT", rows="")
    if not table_file(pairs.lake.location("db.history")).snapshot_ids:
        for number in range(3):
            pairs.sql(f"INSERT INTO {full} VALUES ({number})")
        pairs.sql(f"ALTER TABLE {full} CREATE TAG second AS OF VERSION {ids_of(pairs, 'history')[1]}")
        pairs.sql(f"ALTER TABLE {full} CREATE BRANCH side", f"INSERT INTO {full}.branch_side VALUES (9)")
    return full, ids_of(pairs, "history"), table_file(pairs.lake.location("db.history")).moments


def ids_of(pairs: Pairs, table: str) -> list[int]:
    return table_file(pairs.lake.location(f"db.{table}")).snapshot_ids


@pytest.mark.parametrize(("words", "rows"), [
    (lambda ids, times: ["--snapshot-a", str(ids[0]), "--snapshot-b", "second"], (1, 2)),
    (lambda ids, times: ["--snapshot-b", "side"], (3, 4)),
    (lambda ids, times: ["--snapshot", str(ids[1])], (2, 2)),
    (lambda ids, times: ["--at", str(times[1])], (2, 2)),
    (lambda ids, times: ["--at", str(times[1] - 1)], (1, 1)),
], ids=["ids and tags", "a branch", "one for both", "a moment", "just before it"])  # fmt: skip
def test_states_are_chosen_by_id_by_name_and_by_time(
    pairs: Pairs, history: tuple[str, list[int], list[int]], words: Callable[..., list[str]], rows: tuple[int, int]
) -> None:
    full, ids, times = history
    said = pairs.compare(full, full, *words(ids, times))
    assert (only(said)["rows_a"], only(said)["rows_b"]) == rows
    assert said.code == (0 if rows[0] == rows[1] else 6)


def test_all_snapshots_are_those_that_both_have(pairs: Pairs, history: tuple[str, list[int], list[int]]) -> None:
    full, ids, _ = history
    said = pairs.compare(full, str(older(pairs)), "--snapshots", "all")
    assert [each["snapshot_b"] for each in said.result["compared"]] == ids[:2]
    assert (said.code, said.result["only_in_a"], said.result["only_in_b"]) == (0, sorted(ids[2:]), [])
    assert "only A has 2 more snapshots" in call("compare", full, str(older(pairs)), "--snapshots", "all").out


def older(pairs: Pairs) -> Path:
    """The metadata file of its first two snapshots."""
    return next((pairs.lake.warehouse / "db" / "history" / "metadata").glob("00002-*.metadata.json"))


WRONG: Mapping[str, tuple[list[str], int, str]] = {
    "an unknown table": (["pairs.db.nothing"], 2, "no table pairs.db.nothing"),
    "an unknown catalog": (["nowhere.db.base"], 2, "nowhere"),
    "half a name": (["base"], 2, "not a full table name"),
    "a folder without a table": (["/"], 2, "no metadata file"),
    "an unknown snapshot": ([BASE, "--snapshot", "12"], 2, "has no snapshot, branch or tag 12"),
    "an unknown tag": ([BASE, "--snapshot-b", "christmas"], 2, "has no snapshot, branch or tag christmas"),
    "a time before the first": ([BASE, "--at", "2020-01-01T00:00Z"], 14, "is not known"),
    "no time": ([BASE, "--at", "soon"], 2, "not a time"),
    "two states": ([BASE, "--at", "now", "--snapshot", "1"], 2, "both say which state is compared"),
    "no snapshot in common": (["pairs.db.changed", "--snapshots", "all"], 2, "have no snapshot in common"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_words_are_refused_before_spark_is_asked(pairs: Pairs, what: str) -> None:
    words, code, fact = WRONG[what]
    pairs.made("changed")
    said = pairs.compare(BASE, *words)
    assert (said.code, len(said.errors)) == (code, 1), said.err
    assert fact in said.errors[0] and said.hints


# Elsewhere


def test_batches_of_three_rows_make_no_difference(pairs: Pairs, home: Path) -> None:
    other = pairs.made("in_threes")
    pairs.sql(f"UPDATE {other} SET name = 'x' WHERE id % 40 = 1")
    whole = pairs.compare(BASE, other)
    (home / "bergung.toml").write_text('[spark]\n"sql.execution.arrow.maxRecordsPerBatch" = 3\n')
    assert only(pairs.compare(BASE, other)) == only(whole) and only(whole)["only_a"] == 3


def test_names_that_need_quotes_and_differ_only_in_case(pairs: Pairs, spark: SparkSession) -> None:
    spark.conf.set("spark.sql.caseSensitive", "true")
    columns = "`a.b` BIGINT, `Ä b` STRUCT<`x.y`: STRING>, `A.b` INT"
    one = pairs.made("quoted", columns, "SELECT id, named_struct('x.y', string(id)), 1 FROM range(3)")
    other = pairs.made("quoted_too", columns, "SELECT id, named_struct('x.y', 'z'), 1 FROM range(3)")
    spark.conf.unset("spark.sql.caseSensitive")
    sample = only(pairs.compare(one, other))["sample"]
    assert sample[0]["values"] == {"a.b": 0, "Ä b": {"x.y": "0"}, "A.b": 1}


def test_a_lost_file_is_told_as_damage(pairs: Pairs) -> None:
    full = pairs.made("broken")
    lost = next((pairs.lake.warehouse / "db" / "broken" / "data").rglob("*.parquet"))
    lost.unlink()
    said = pairs.compare(BASE, full)
    assert said.code == 5 and lost.name in said.errors[0], said.err


def test_a_path_that_spark_would_misread_goes_another_way_without_a_trace(
    pairs: Pairs, spark: SparkSession, tmp_path: Path
) -> None:
    """A snapshot of old writers, whose summary counts nothing, at a path with a #."""
    metadata = json.loads(Path(pairs.lake.location("db.base").removeprefix("file:")).read_text())
    metadata["snapshots"][0]["summary"] = {"operation": "append"}
    place = tmp_path / "a#b, c'd" / "v1.metadata.json"
    place.parent.mkdir()
    place.write_text(json.dumps(metadata))
    keys = Access("s3://", key_id="a key", secret="a secret")
    found = OpenTable(spark, TableAt(str(place), keys))
    assert found.frame(None).count() == found.frame(metadata["current-snapshot-id"]).count() == 100
    assert not [key for key in spark.conf.getAll if "bergung_" in key]
    assert pairs.compare(BASE, str(place)).code == 0


def test_the_page_on_json_tells_of_every_field(pairs: Pairs, history: tuple[str, list[int], list[int]]) -> None:
    full, ids, times = history
    other = pairs.made("told", "id BIGINT, more INT", "SELECT id, 1 FROM range(2)", "PARTITIONED BY (more)")
    seen: dict[str, set[str]] = {}
    for a, b, *words in (
        (full, other),
        (other, full),
        (full, full, "--at", str(times[1])),
        (full, BASE, "--snapshot-b", "main"),
        (pairs.made("strange", "other STRING", rows="SELECT 'x'"), full),
        (full, str(older(pairs)), "--snapshots", "all"),
        (str(older(pairs)), full, "--snapshots", "all"),
        (pairs.made("empty", "id BIGINT, wish STRING", rows=""),) * 2,
    ):
        for line in pairs.compare(a, b, *words).lines:
            check(line, seen)
    assert seen["compare"] == set(TOLD["compare"])


def test_ctrl_c_ends_it_before_the_next_snapshot(
    pairs: Pairs, history: tuple[str, list[int], list[int]], spark: SparkSession
) -> None:
    class Stops(NobodyWatches):
        steps: ClassVar[list[str]] = []

        def step(self, name: str) -> None:
            self.steps.append(name)

        def stopped(self) -> bool:
            return len(self.steps) == 2

    side = find_side(history[0], named_table(open_store, history[0]), open_store)
    effects = Effects(engine=lambda: SparkEngine(spark, 2), watch=Stops())
    with pytest.raises(Interrupted):
        run_compare(effects, CompareRequest(every_snapshot=True), side, side)
    assert Stops.steps == ["compare 1 of 4", "compare 2 of 4"]
    with pytest.raises(UsageError, match="on Spark only"):
        run_compare(replace(effects, engine=here), CompareRequest(), side, side)


@pytest.fixture
def made_by_hand(pairs: Pairs, spark: SparkSession, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """A table of one column of a type that Spark's SQL has no word for."""

    def made(type_: str) -> str:
        full = pairs.made(f"of_{type_.partition('(')[0]}", "id BIGINT", rows="")
        metadata = json.loads(Path(pairs.lake.location(full.removeprefix("pairs.")).removeprefix("file:")).read_text())
        metadata["format-version"] = 3
        metadata["next-row-id"] = 0
        metadata["schemas"][0]["fields"].append({"id": 2, "name": "v", "type": type_, "required": False})
        metadata["last-column-id"] = 2
        place = tmp_path / f"{type_.partition('(')[0]}.metadata.json"
        place.write_text(json.dumps(metadata))
        return str(place)

    yield made


@pytest.mark.parametrize("type_", ["time", "timestamp_ns", "timestamptz_ns"])
def test_what_spark_cannot_read_is_refused(pairs: Pairs, made_by_hand: Callable[[str], str], type_: str) -> None:
    said = pairs.compare(BASE, made_by_hand(type_))
    assert (said.code, "has columns that Spark cannot read: v" in said.errors[0]) == (14, True)
