"""Which point gives a table as it was at an instant, and by which metadata file: tables commit once a minute."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bergung.catalogs.sqlite import Database
from bergung.clock import to_ms
from bergung.errors import UnknownTable
from bergung.iceberg.metadata import read_metadata
from bergung.plan.history import Neighbour
from bergung.vault.instants import Resolved, resolve
from bergung.vault.layout import point_key
from bergung.vault.vault import read_state
from bergung.vault.versions import Origin, Version, newest_version, version_at, version_bytes
from tests.faults.counting_store import Counts, counting_open
from tests.faults.lake import Lake
from tests.stories.meddling import StoppedClock, minute
from tests.stories.tables_at_risk import delete_files, metadata_only
from tests.synthetic import MINUTE_MS, START_MS, Shape, SyntheticTable
from tests.synthetic_files import SCHEMA

FIRST = 1001


@dataclass
class Years:
    """A lake whose clock stands where the story says."""

    lake: Lake
    files: dict[float, tuple[str, bytes]] = field(default_factory=dict)
    """By minute: the metadata file that was current from then on."""

    def commit(self, table: SyntheticTable, *, staged: bool = False, name: str | None = None) -> int:
        """The new snapshot's number."""
        table.append(1)
        table.commit(staged=staged)
        self._publish(table, name)
        return len(table._of_snapshot)

    def change(self, table: SyntheticTable, name: str | None = None) -> None:
        """A version without a new snapshot."""
        table.commit(snapshot=False)
        self._publish(table, name)

    def roll_back(self, table: SyntheticTable, number: int) -> None:
        table.roll_back(FIRST + number - 1)
        self.change(table)

    def expire(self, table: SyntheticTable, keep: int) -> None:
        table.expire(keep)
        self.change(table)

    def back_up(self, at: float) -> str:
        """A point; its id."""
        self.lake.clock.moment = minute(at)  # type: ignore[attr-defined]
        return self.lake.backup().run

    def rename(self, old: str, new: str) -> None:
        with Database(self.lake.database).writing() as connection:
            connection.execute("UPDATE iceberg_tables SET table_name = ? WHERE table_name = ?", (new, old))

    def at(self, number: float, *words: str, point: str | None = None) -> Resolved:
        vault = self.lake.vault()
        state = read_state(vault)
        meant = [word if word == "lake" else f"lake.sales.{word}" for word in words]
        return resolve(vault, state, meant, to_ms(minute(number)), state.find(point) if point else None)

    def told(self, number: float, *words: str) -> dict[str, tuple[int | None, str]]:
        """By name: the snapshot's number and the point."""
        found = self.at(number, *words)
        assert not found.untold
        return {each.name.name: (_number(each.found.state.snapshot_id), each.point.id) for each in found.taken}

    def version(self, number: float, name: str = "orders") -> Version:
        (taken,) = self.at(number, name).taken
        return version_at(self.lake.store, taken.entry, taken.found.state, to_ms(minute(number)))

    def bytes_at(self, number: float, name: str = "orders") -> bytes:
        (taken,) = self.at(number, name).taken
        return version_bytes(self.lake.store, taken.entry.location, self.version(number, name))

    def _publish(self, table: SyntheticTable, name: str | None) -> None:
        self.lake.upload(table)
        self.lake.point(name or table.folder.name, table.metadata_path or "")
        self.files[(table._now - START_MS) / MINUTE_MS] = (table.metadata_path or "", table.metadata_bytes())


def _number(snapshot_id: int | None) -> int | None:
    return None if snapshot_id is None else snapshot_id - FIRST + 1


def _told(neighbour: Neighbour | None) -> tuple[int | None, str, int] | None:
    return (_number(neighbour.snapshot_id), neighbour.point, neighbour.at_ms) if neighbour else None


@pytest.fixture
def years(tmp_path: Path) -> Years:
    return Years(Lake(tmp_path, clock=StoppedClock(minute(0))))


def with_history(years: Years, shape: Shape | None = None) -> tuple[SyntheticTable, str, str]:
    """1 to 3, back to 2, 4 is staged, 5 stands on 2; a point; 6 and 7, all but these expire; a point. One thing each minute."""
    table = years.lake.table("orders", shape or Shape())
    for _ in range(3):
        years.commit(table)
    years.roll_back(table, 2)
    years.commit(table, staged=True)
    years.commit(table)
    first = years.back_up(6.5)
    years.commit(table)
    years.commit(table)
    years.expire(table, 2)
    return table, first, years.back_up(9.5)


def test_every_instant_that_a_point_knows(years: Years) -> None:
    _, first, second = with_history(years)
    wanted = {1: 1, 1.9: 1, 2: 2, 3: 3, 3.5: 3, 4: 2, 5: 2, 5.9: 2, 6: 5, 6.5: 5}
    assert {number: years.told(number, "orders") for number in wanted} == {
        number: {"orders": (snapshot, first)} for number, snapshot in wanted.items()
    }
    assert [years.told(number, "orders")["orders"] for number in (7, 7.9, 8, 9.5)] == [(n, second) for n in (6, 6, 7, 7)]


def test_an_instant_that_none_knows_is_told_with_its_neighbours(years: Years) -> None:
    """Between the first point and the oldest snapshot that the second still has."""
    _, first, second = with_history(years)
    (gap,) = years.at(6.8, "orders").untold
    assert gap.is_named and str(gap.name) == "lake.sales.orders"
    assert _told(gap.gap.before) == (5, first, to_ms(minute(6.5)))
    assert _told(gap.gap.after) == (6, second, to_ms(minute(7)))
    (before,), (after,) = years.at(0.9, "orders").untold, years.at(9.6, "orders").untold
    assert (before.gap.before, _told(before.gap.after)) == (None, (1, first, to_ms(minute(1))))
    assert (_told(after.gap.before), after.gap.after) == ((7, second, to_ms(minute(9.5))), None)


def test_one_point_alone_knows_less(years: Years) -> None:
    _, first, second = with_history(years)
    assert [each.point.id for each in years.at(5, "orders", point=first).taken] == [first]
    (gap,) = years.at(5, "orders", point=second).untold
    assert (gap.gap.before, _told(gap.gap.after)) == (None, (6, second, to_ms(minute(7))))


def test_a_renamed_table_is_found_by_what_it_is(years: Years) -> None:
    table = years.lake.table("orders")
    years.commit(table)
    years.commit(years.lake.table("other"))
    first = years.back_up(1.5)
    years.lake.drop("other")
    years.rename("orders", "sold")
    years.commit(table, name="sold")
    second = years.back_up(2.5)
    assert years.told(1.2, "sold") == {"sold": (1, first)}
    assert years.told(1.2, "lake") == years.told(1.2) == {"sold": (1, first), "other": (1, first)}
    assert years.told(2.2, "sold") == {"sold": (2, second)}
    years.rename("sold", "gone")
    years.commit(table, name="gone")
    years.back_up(3.5)
    assert years.told(1.2, "other", "*") == {"gone": (1, first), "other": (1, first)}, "each record has been read for `other`"
    with pytest.raises(UnknownTable, match=r"lake.sales.orders is called lake.sales.gone by now") as raised:
        years.at(1.2, "orders")
    assert raised.value.hint.endswith("bergung restore lake.sales.gone")
    assert years.at(1.2, "?*d*", point=first).taken[0].name.name == "orders", "that point knows it by no other name"


def test_a_pattern_says_which_of_its_tables_have_another_name_by_now(years: Years) -> None:
    one, two = years.lake.table("ord1"), years.lake.table("ord2")
    years.commit(one)
    years.commit(two)
    first = years.back_up(1.5)
    years.rename("ord1", "sold")
    years.back_up(2.5)
    found = years.at(1.2, "ord*")
    assert [(each.name.name, each.point.id) for each in found.taken] == [("ord2", first)]
    assert [tuple(map(str, pair)) for pair in found.renamed] == [("lake.sales.ord1", "lake.sales.sold")]
    assert years.at(1.2, "ord*", "sold").renamed == ()


def test_a_table_made_anew_under_its_name_is_not_taken_for_the_old_one(years: Years) -> None:
    old, new = years.lake.table("orders"), SyntheticTable(years.lake.folder / "new", Shape(location=f"{years.lake.source.url}/new"))
    years.commit(old)
    first = years.back_up(1.5)
    years.lake.drop("orders")
    new._now = to_ms(minute(3))
    years.commit(new, name="orders")
    second = years.back_up(4.5)
    for words in ("orders",), ("lake",), ():
        assert years.told(1.2, *words) == {"orders": (1, first)}
        assert years.told(4.2, *words) == {"orders": (1, second)}
        (gap,) = years.at(2, *words).untold
        assert _told(gap.gap.before) == (1, first, to_ms(minute(1.5)))
        assert _told(gap.gap.after) == (1, second, to_ms(minute(4)))
    identities = [years.at(number, "orders").taken[0].entry.identity for number in (1.2, 4.2)]
    assert identities == [old.uuid, new.uuid]


def test_a_pattern_means_what_was_there_then_and_what_is_there_now(years: Years) -> None:
    one, two, three = (years.lake.table(name) for name in ("one", "two", "three"))
    years.commit(one)
    years.commit(two)
    first = years.back_up(1.5)
    years.lake.drop("two")
    years.commit(one)
    three._now = to_ms(minute(1))
    years.commit(three)
    second = years.back_up(2.5)
    for words in ("lake",), ("*",), ():
        then, now = years.at(1.4, *words), years.at(2.4, *words)
        assert {each.name.name: each.point.id for each in then.taken} == {"one": first, "two": first}
        assert {each.name.name: each.point.id for each in now.taken} == {"one": second, "three": second}
        assert [(each.name.name, each.is_named) for each in then.untold] == [("three", False)]
        assert [each.name.name for each in now.untold] == ["two"]
    assert [each.is_named for each in years.at(1.4, "one", "three").untold] == [True]


def test_words_that_mean_nothing(years: Years) -> None:
    years.commit(years.lake.table("orders"))
    years.back_up(1.5)
    with pytest.raises(UnknownTable, match=r"no point of this vault holds lake.sales.nothing"):
        years.at(1.2, "orders", "nothing")


def test_two_catalogs_that_share_a_table_are_two_entries_of_it(years: Years) -> None:
    table = years.lake.table("orders")
    years.commit(table)
    years.lake.point("orders", table.metadata_path or "", catalog="second")
    years.lake.clock.moment = minute(1.5)  # type: ignore[attr-defined]
    years.lake.backup(("lake", "second"))
    for catalog in ("lake", "second"):
        (taken,) = resolve(
            years.lake.vault(), read_state(years.lake.vault()), [f"{catalog}.sales.orders"], to_ms(minute(1.2))
        ).taken
        assert taken.name.catalog == catalog


def test_a_whole_point_is_taken_before_one_without_the_data(years: Years) -> None:
    table = years.lake.table("orders")
    years.commit(table)
    years.lake.clock.moment = minute(1.5)  # type: ignore[attr-defined]
    metadata = metadata_only(years.lake).run
    whole = years.back_up(1.7)
    assert years.told(1.2, "orders") == {"orders": (1, whole)}
    assert years.at(1.2, "orders", point=metadata).taken[0].point.id == metadata


def test_a_whole_point_is_taken_before_a_damaged_one(years: Years) -> None:
    table = years.lake.table("orders")
    years.commit(table)
    path, years.lake.clock.moment = table.live_paths()[0], minute(1.5)  # type: ignore[attr-defined]
    content = years.lake.source.read(years.lake.key(path))
    delete_files(years.lake, [path])
    assert years.lake.backup().record.backup_metadata.status == "damaged"
    years.lake.source.put_if_absent(years.lake.key(path), [content])
    years.commit(table)
    whole = years.back_up(2.5)
    assert years.told(1.2, "orders") == {"orders": (1, whole)}


def test_a_commit_that_was_under_way_when_the_pointer_was_read(years: Years) -> None:
    """It says minute 2, and the point of minute 2.5 has not seen it yet."""
    table = years.lake.table("orders")
    years.commit(table)
    first = years.back_up(2.5)
    years.commit(table)
    second = years.back_up(3.5)
    assert years.told(1.9, "orders") == {"orders": (1, first)}
    assert years.told(2.2, "orders") == {"orders": (2, second)}


def test_a_table_whose_pointer_was_set_back(years: Years) -> None:
    """As a restore does it: from then on its log says that the last commit never was."""
    table = years.lake.table("orders")
    years.commit(table)
    first_file, kept = table.metadata_path or "", list(table.snapshots)
    years.commit(table)
    first = years.back_up(30)
    years.lake.point("orders", first_file)
    table.snapshots, table.snapshot_log, table.metadata_log = kept, table.snapshot_log[:1], []
    table.current, table._now = FIRST, to_ms(minute(59))
    years.commit(table)
    second = years.back_up(61)
    assert [years.told(number, "orders")["orders"] for number in (1.5, 20, 60.5)] == [(1, first), (2, first), (3, second)]
    (gap,) = years.at(45, "orders").untold
    assert _told(gap.gap.before) == (2, first, to_ms(minute(30)))
    assert _told(gap.gap.after) == (3, second, to_ms(minute(60)))


def test_a_writer_whose_clock_is_ahead_hides_no_later_point(years: Years) -> None:
    table = years.lake.table("orders")
    table._now = to_ms(minute(8))
    years.commit(table)
    years.back_up(2)
    second = years.back_up(10)
    (gap,) = years.at(1.5, "orders").untold
    assert (gap.gap.before, _told(gap.gap.after)) == (None, (1, second, to_ms(minute(9))))
    assert years.told(9.5, "orders") == {"orders": (1, second)}


def test_a_point_whose_record_or_metadata_is_lost_is_passed_over(years: Years) -> None:
    table = years.lake.table("orders")
    years.commit(table)
    points = [years.back_up(1.5)]
    for number in (2, 3, 4):
        years.commit(table)
        points.append(years.back_up(number + 0.5))
    (entry,) = years.lake.record(points[1]).tables.values()
    years.lake.store.overwrite(point_key(points[0]), b"{}")
    years.lake.store.overwrite(entry.location + entry.metadata_file.blob_key, b"{}")
    assert years.told(1.2, "orders") == {"orders": (1, points[2])}
    (gap,) = years.at(4.6, "orders").untold
    assert _told(gap.gap.before) == (4, points[3], to_ms(minute(4.5)))


def test_few_of_many_points_are_read(years: Years) -> None:
    """Of forty those around the instant, and the newest for the name."""
    table, young, short = (years.lake.table(name) for name in ("orders", "young", "short"))
    for number in range(1, 41):
        years.commit(table)
        if number == 30:
            young._now = short._now = table._now - MINUTE_MS
        if number >= 30:
            years.commit(young)
            short._now = to_ms(minute(number - 1.4))
            years.commit(short)
            short._now -= MINUTE_MS // 2
            years.expire(short, 1)
        years.back_up(number + 0.5)
    counts = Counts()
    vault = years.lake.vault(counting_open(counts))
    state = read_state(vault)

    def read(number: float, name: str) -> tuple[Resolved, int, int]:
        counts.clear()
        found = resolve(vault, state, [f"lake.sales.{name}"], to_ms(minute(number)))
        return found, len(counts.keys("read", "points/")), len(counts.keys("read", "tables/"))

    found, records, files = read(20.2, "orders")
    assert [(each.found.state.snapshot_id, each.found.until_ms) for each in found.taken] == [(FIRST + 19, to_ms(minute(21)))]
    assert (records, files) == (4, 3), "the last before, the first two after"
    assert read(3, "young")[1:] == (4, 1), "the log says which point saw it first"
    assert read(33.55, "short")[1:] == (3, 2), "between two points that each know the last snapshot only"


def test_the_original_of_then_is_taken_byte_for_byte(years: Years) -> None:
    """Also where only its properties were others; after the point's own last commit it is the point's own."""
    table, _, _ = with_history(years)
    for number in (1, 2, 3, 4, 5, 6):
        version = years.version(number + 0.4)
        assert (version.origin, version.path) == (Origin.ORIGINAL, years.files[number][0])
        assert years.bytes_at(number + 0.4) == years.files[number][1]
    assert years.version(9.2).path == years.files[9][0]
    assert years.version(8.5).path == years.files[8][0], "not that of the expiry, which has the same snapshot"


def test_what_the_point_has_not_is_taken_out_of_the_original(years: Years) -> None:
    """The file of minute 7 names six snapshots, of which two are in the second point."""
    table, _, _ = with_history(years, Shape(format_version=3))
    version = years.version(7.5)
    assert (version.origin, version.path) == (Origin.OF_THEN, years.files[7][0])
    path, original = years.files[7]
    before, after = read_metadata(original, path), read_metadata(years.bytes_at(7.5), path)
    assert [_number(each.snapshot_id) for each in before.snapshots] == [1, 2, 3, 4, 5, 6]
    assert [_number(each.snapshot_id) for each in after.snapshots] == [6]
    assert after == version.metadata
    assert (after.current_snapshot_id, after.snapshot_log) == (before.current_snapshot_id, before.snapshot_log[-1:])
    counted = [json.loads(data)["next-row-id"] for data in (original, years.bytes_at(7.5), years.files[9][1])]
    assert counted[0] < counted[1] == counted[2]


def test_a_log_of_files_out_of_order_is_not_believed_against_that_of_snapshots(years: Years) -> None:
    """A property is set by a writer whose clock is behind: by its file's time snapshot 2 was current too early."""
    table = years.lake.table("orders")
    years.commit(table)
    table._now = to_ms(minute(4))
    years.commit(table)
    table._now = to_ms(minute(2))
    years.change(table)
    years.back_up(10)
    table._now = to_ms(minute(11))
    years.commit(table)
    years.back_up(13)
    for point in years.lake.points():
        (taken,) = years.at(3.5, "orders", point=point).taken
        version = version_at(years.lake.store, taken.entry, taken.found.state, to_ms(minute(3.5)))
        held = [_number(each.snapshot_id) for each in version.metadata.snapshots]
        assert (_number(taken.found.state.snapshot_id), version.origin, held) == (1, Origin.OF_LATER, [1])


@pytest.mark.parametrize(
    "how", ["gone before the backup", "rolled out of the log", "damaged", "lost in the vault", "of another table"]
)
def test_without_its_original_it_is_made_from_the_newest_file(years: Years, how: str) -> None:
    table = years.lake.table("orders")
    for _ in range(4):
        years.commit(table)
    path, original = years.files[2]
    if how == "gone before the backup":
        delete_files(years.lake, [path])
    elif how == "rolled out of the log":
        table.metadata_log = table.metadata_log[-1:]
        years.change(table)
    elif how == "damaged":
        years.lake.source.overwrite(years.lake.key(path), original[:-9])
    elif how == "of another table":
        years.lake.source.overwrite(
            years.lake.key(path), original.replace(table.uuid.encode(), years.lake.table("x").uuid.encode())
        )
    years.back_up(9)
    if how == "lost in the vault":
        (blob,) = (stat.key for stat in years.lake.store.list("tables/") if stat.key.endswith(path.rpartition("/")[2]))
        years.lake.store.overwrite(blob, b"{}")
    version = years.version(2.5)
    assert (version.origin, version.path) == (Origin.OF_LATER, table.metadata_path)
    after, before = read_metadata(years.bytes_at(2.5), version.path), read_metadata(original, path)
    assert (after.snapshots, after.snapshot_log, after.current_snapshot_id) == (
        before.snapshots,
        before.snapshot_log,
        before.current_snapshot_id,
    )


def test_a_table_before_its_first_snapshot(years: Years) -> None:
    table = years.lake.table("orders")
    years.change(table)
    years.back_up(1.5)
    years.commit(table)
    years.back_up(2.5)
    assert years.told(1.5, "orders")["orders"][0] is None
    assert (years.version(1.5).origin, years.version(1.5).path) == (Origin.ORIGINAL, years.files[1][0])


def test_a_point_itself_is_its_newest_version(years: Years) -> None:
    table, _, _ = with_history(years)
    (entry,) = years.lake.record().tables.values()
    version = newest_version(years.lake.store, entry)
    assert version_bytes(years.lake.store, entry.location, version) == table.metadata_bytes()
    assert (version.path, version.origin) == (table.metadata_path, Origin.ORIGINAL)


DAY = {"id": 3, "name": "day", "required": False, "type": "date"}
NONE = {"spec-id": 0, "fields": []}
BY_DAY = [{"source-id": 3, "field-id": 1000, "transform": "identity", "name": "day"}]


@pytest.mark.parametrize(
    ("specs", "harm", "schema_id", "left"),
    [
        ([NONE, {"spec-id": 1, "fields": BY_DAY}], False, 0, [0]),
        ([NONE, {"spec-id": 1, "fields": BY_DAY}], True, 1, [0, 1]),
        ([{"spec-id": 0, "fields": BY_DAY}, {**NONE, "spec-id": 1}], False, 1, [0, 1]),
    ],
)
def test_partition_specs_with_later_columns_go_unless_a_manifest_may_be_of_them(
    years: Years, specs: list[object], harm: bool, schema_id: int, left: list[int]
) -> None:
    """All manifests are of spec 0. Where they cannot be read, or where that is the one with the column, the schema stays."""
    table = years.lake.table("orders")
    for number in range(1, 5):
        if number == 3:
            schemas = [SCHEMA, {**SCHEMA, "schema-id": 1, "fields": [*SCHEMA["fields"], DAY]}]
            more = {"schemas": schemas, "current-schema-id": 1, "partition-specs": specs, "default-spec-id": 1}
            table.shape = replace(table.shape, more=more)
        years.commit(table)
    table.metadata_log = []
    years.change(table)
    years.back_up(9)
    if harm:
        (blob,) = (stat.key for stat in years.lake.store.list("tables/") if "snap-1001" in stat.key)
        years.lake.store.overwrite(blob, b"{}")
    metadata = years.version(2.5).metadata
    assert (metadata.current_snapshot_id, metadata.schema_id) == (FIRST + 1, schema_id)
    assert [each["spec-id"] for each in json.loads(years.bytes_at(2.5))["partition-specs"]] == left
