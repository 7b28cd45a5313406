"""Which states are compared, and tables that cannot be."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bergung.catalogs.location import LocationCatalog
from bergung.catalogs.select import Selected
from bergung.clock import to_ms
from bergung.compare.request import CompareRequest
from bergung.compare.sides import Side, find_side
from bergung.compare.states import choose_states
from bergung.errors import BergungError, DamageFound, MissingObject, Refused, UnsupportedTable, UsageError
from bergung.stores.access import Access
from bergung.stores.open import Stores, open_store
from tests.synthetic import Shape, SyntheticTable


def side(path: str, stores: Stores = open_store) -> Side:
    catalog = LocationCatalog(path, stores)
    return find_side("the table", Selected(catalog.table, catalog), stores)


@pytest.fixture
def table(tmp_path: Path) -> SyntheticTable:
    """Three snapshots, a minute apart."""
    made = SyntheticTable(tmp_path / "t")
    for _ in range(3):
        made.append(1)
        made.commit()
    return made


def metadata(table: SyntheticTable) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(table.metadata_bytes())
    return found


def rewritten(table: SyntheticTable, change: Callable[[dict[str, Any]], object]) -> str:
    """Another metadata file beside its own."""
    found = metadata(table)
    change(found)
    place = table.folder / "metadata" / "changed.metadata.json"
    place.write_text(json.dumps(found))
    return str(place)


def chosen(one: Side, other: Side | None = None, **words: Any) -> list[tuple[int | None, int | None]]:
    states = choose_states(CompareRequest(**words), one, other or one)
    return [(a.snapshot_id, b.snapshot_id) for a, b in states.pairs]


def test_a_table_as_it_is_now_has_its_own_schema_and_a_snapshot_the_one_it_was_written_with(table: SyntheticTable) -> None:
    def evolve(found: dict[str, Any]) -> None:
        found["schemas"].append({**found["schemas"][0], "schema-id": 9})
        found["current-schema-id"] = 9

    own = side(rewritten(table, evolve))
    for words, schema in (({}, 9), ({"snapshot_a": str(own.metadata.current_snapshot_id)}, 0)):
        ((a, _),) = choose_states(CompareRequest(**words), own, own).pairs
        assert (a.snapshot_id, a.schema.get("schema-id"), a.is_now) == (own.metadata.current_snapshot_id, schema, not words)


def test_an_instant_is_looked_up_in_each_log(table: SyntheticTable) -> None:
    own = side(table.metadata_path or "")
    log = own.metadata.snapshot_log
    assert chosen(own, at_ms=log[1].timestamp_ms) == [(log[1].snapshot_id,) * 2]
    assert chosen(own, at_ms=log[2].timestamp_ms - 1) == [(log[1].snapshot_id,) * 2]
    assert chosen(own, at_ms=log[2].timestamp_ms + 10**9) == [(log[2].snapshot_id,) * 2]
    for unknown in (log[0].timestamp_ms - 1, to_ms(own.read_at) + 1):
        with pytest.raises(Refused, match="is not known"):
            chosen(own, at_ms=unknown)


def test_an_instant_behind_a_gap_of_the_log_is_not_known(table: SyntheticTable) -> None:
    def expire(found: dict[str, Any]) -> None:
        found["snapshots"] = found["snapshots"][1:]

    own = side(rewritten(table, expire))
    first, second, _ = metadata(table)["snapshot-log"]
    assert chosen(own, at_ms=second["timestamp-ms"]) == [(second["snapshot-id"],) * 2]
    with pytest.raises(Refused):
        chosen(own, at_ms=first["timestamp-ms"])


def test_a_tag_named_as_a_number_does_not_hide_a_snapshot(table: SyntheticTable) -> None:
    ids = [each["snapshot-id"] for each in metadata(table)["snapshots"]]
    tags = {str(ids[0]): ids[2], "12": ids[1]}

    def tag(found: dict[str, Any]) -> None:
        found["refs"] = {name: {"snapshot-id": id_, "type": "tag"} for name, id_ in tags.items()}

    own = side(rewritten(table, tag))
    assert chosen(own, snapshot_a=str(ids[0]), snapshot_b="12") == [(ids[0], ids[1])]


@pytest.mark.parametrize(("change", "words"), [
    (lambda found: found["refs"].update(gone={"snapshot-id": 5, "type": "tag"}), {"snapshot_a": "gone"}),
    (lambda found: found["snapshots"][0].update({"schema-id": 8}), {"every_snapshot": True}),
], ids=["snapshot", "schema"])  # fmt: skip
def test_what_a_metadata_file_names_and_does_not_hold_is_damage(
    table: SyntheticTable, change: Callable[[dict[str, Any]], object], words: dict[str, Any]
) -> None:
    def change_refs(found: dict[str, Any]) -> None:
        found.setdefault("refs", {})
        change(found)

    with pytest.raises(DamageFound, match="does not hold"):
        chosen(side(rewritten(table, change_refs)), **words)


@pytest.mark.parametrize(("change", "error"), [
    (lambda found: found.pop("table-uuid"), UnsupportedTable),
    (lambda found: found["properties"].update({"encryption.key-id": "k"}), UnsupportedTable),
    (lambda found: found.update({"format-version": 4}), UnsupportedTable),
], ids=["no uuid", "encrypted", "format 4"])  # fmt: skip
def test_tables_that_spark_cannot_read(
    table: SyntheticTable, change: Callable[[dict[str, Any]], object], error: type[BergungError]
) -> None:
    def change_properties(found: dict[str, Any]) -> None:
        found.setdefault("properties", {})
        change(found)

    with pytest.raises(error):
        side(rewritten(table, change_properties))


def test_tables_without_a_common_snapshot(table: SyntheticTable, tmp_path: Path) -> None:
    bare = SyntheticTable(tmp_path / "bare", Shape())
    bare.commit(snapshot=False)
    with pytest.raises(UsageError, match="no snapshot in common"):
        chosen(side(table.metadata_path or ""), side(bare.metadata_path or ""), every_snapshot=True)


def test_a_catalog_that_names_a_file_that_is_gone(table: SyntheticTable) -> None:
    class Stale(LocationCatalog):
        def _named(self) -> str:
            return self.address

    catalog = Stale(f"{table.folder}/metadata/gone.metadata.json")
    with pytest.raises(MissingObject, match="names a metadata file that is gone"):
        find_side("the table", Selected(catalog.table, catalog), open_store)


def test_a_table_is_reached_by_the_one_access_of_all_its_files(table: SyntheticTable) -> None:
    def move(found: dict[str, Any]) -> None:
        found["location"] = "s3://lake/t"
        found["properties"] = {"write.data.path": "s3://lake/data"}

    path = rewritten(table, move)
    both, mine = Access("s3://lake/", key_id="k", secret="s"), Access("s3://lake/data/", key_id="other", secret="s")
    found = side(path, Stores((both,))).table.access
    assert found is not None and (found.key_id, found.secret) == ("k", "s")
    assert side(path).table.access == Access(""), "the SDK's own business"
    with pytest.raises(Refused, match="are reached in 2 ways"):
        side(path, Stores((both, mine)))


def test_a_profile_is_looked_up_here_since_others_do_not_know_it(
    table: SyntheticTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "credentials").write_text("[reader]\naws_access_key_id = mine\naws_secret_access_key = hidden\n")
    (tmp_path / "config").write_text("[profile reader]\nregion = eu-central-1\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    path = rewritten(table, lambda found: found.update({"location": "s3://lake/t"}))
    access = side(path, Stores((Access("s3://lake/", profile="reader"),))).table.access
    assert access is not None and (access.key_id, access.secret, access.region) == ("mine", "hidden", "eu-central-1")
    assert "hidden" not in repr(access)
