"""Bad input gets a fact, a hint and its exit code, and changes nothing that was there."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from bergung.model.names import split_levels
from tests.command import Said, call, child, tree
from tests.contract.stores.child import as_nobody, in_child, open_folder, small_disk, without
from tests.stories.small_lake import SmallLake
from tests.synthetic import Shape, SyntheticTable

MIB = 1024 * 1024


@contextmanager
def unharmed(lake: SmallLake, also_new: tuple[str, ...] = ("runs", "tables")) -> Iterator[None]:
    """Sources, catalog, points and log stay as they are; a run that fails may leave its journal and blobs nobody sees."""
    source, database, vault = tree(lake.warehouse), lake.database.read_bytes(), tree(lake.vault)
    yield
    assert tree(lake.warehouse) == source
    assert lake.database.read_bytes() == database
    after = tree(lake.vault)
    assert {path: after.get(path) for path in vault} == vault
    new = {Path(path).relative_to(lake.vault).parts[0] for path in after.keys() - vault.keys()}
    assert new <= set(also_new)


def told(said: Said, code: int, fact: str, hint: str) -> None:
    """In words, and one error that says it all."""
    assert said.code == code, said
    assert fact in said.errors[-1], said.err
    assert hint in said.hints[-1], said.err
    assert "Traceback" not in said.err and "unforeseen" not in said.err


@pytest.fixture
def shop(lake: SmallLake) -> SmallLake:
    """One healthy table, backed up."""
    lake.make("sales", "orders")
    assert call("backup", "lake").code == 0
    return lake


def synthetic(lake: SmallLake, name: str = "bad", shape: Shape | None = None) -> SyntheticTable:
    """A table of one commit, not in the catalog yet."""
    table = SyntheticTable(lake.warehouse / "sales" / name, shape or Shape())
    table.append(4, manifests=2)
    table.commit()
    return table


@pytest.mark.parametrize(
    ("words", "fact", "hint"),
    [
        ("lake.sales.ordres", "nothing matches lake.sales.ordres", "the nearest names: lake.sales.orders"),
        ("lake.hr", "nothing matches lake.hr", "lake.sales.orders"),
        ("lake.*.x?", "nothing matches lake.*.x?", "lake.sales.orders"),
        ("bay.sales.orders", "no catalog bay in the PyIceberg configuration", "PYICEBERG_CATALOG__BAY__URI"),
        ("lake..orders", "not a table name", "catalog.namespace.table"),
        ("/no/such/table", "no metadata file in file:///no/such/table/metadata", "metadata"),
        ("gs://bucket/table", "no store for", "file:///"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_tables_that_are_not_there(shop: SmallLake, words: str, fact: str, hint: str, more: tuple[str, ...]) -> None:
    with unharmed(shop, also_new=()):
        said = child("backup", words, *more)
    told(said, 2, fact, hint)


def test_everything_is_excluded(shop: SmallLake) -> None:
    with unharmed(shop, also_new=()):
        told(call("backup", "lake", "--exclude", "lake.sales"), 2, "every table that was named is excluded", "--exclude")


VAULT_COMMANDS = [
    ("backup", "lake"),
    ("points",),
    ("show", "latest"),
    ("preview", "latest", "lake.sales.orders"),
    ("restore", "--all"),
    ("verify",),
    ("runs",),
    ("cancel", "x"),
    ("logs", "x"),
]


@pytest.mark.parametrize("words", VAULT_COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("what", ["nothing", "a folder with files", "a file", "a json that is none"])
def test_a_vault_that_is_none(shop: SmallLake, words: tuple[str, ...], what: str) -> None:
    place = shop.folder / "no vault"
    if what == "a file":
        place.write_text("x")
    elif what != "nothing":
        place.mkdir()
        (place / "vault.json").write_text('{"name": "mine"}') if "json" in what else (place / "x").write_text("x")
    before = tree(shop.folder)
    said = call(*words, "--vault", str(place))
    told(said, 10, "no vault at", "bergung init --vault")
    assert str(place) in said.errors[0]
    assert tree(shop.folder) == before


@pytest.mark.parametrize("words", VAULT_COMMANDS, ids=lambda words: words[0])
def test_a_vault_of_a_newer_format(shop: SmallLake, words: tuple[str, ...]) -> None:
    document = json.loads((shop.vault / "vault.json").read_text())
    (shop.vault / "vault.json").write_text(json.dumps({**document, "format": 2, "new": True}))
    with unharmed(shop, also_new=()):
        told(call(*words), 13, "has format 2, this bergung knows 1", "use a newer bergung")


@pytest.mark.parametrize("words", [each for each in VAULT_COMMANDS if each[0] in ("points", "restore", "verify", "show")])
def test_a_log_entry_of_a_newer_kind(shop: SmallLake, words: tuple[str, ...]) -> None:
    head = call("verify", "--json").result["head"]
    slot = max((shop.vault / "log").iterdir())
    number = int(slot.stem) + 1
    entry = {"slot": number, "previous": head, "entry": "transmute", "at": "2026-01-01T00:00:00Z"}
    (slot.parent / f"{number:020d}.json").write_text(json.dumps(entry))
    with unharmed(shop, also_new=("runs",)):
        told(call(*words), 13, "unknown entry 'transmute'", "use a newer bergung")


@pytest.mark.parametrize(("what", "fact"), [("vault", "is a vault already"), ("full", "is not empty: x")])
def test_a_place_where_no_vault_can_be_made(shop: SmallLake, what: str, fact: str) -> None:
    place = shop.vault
    if what == "full":
        place = shop.folder / "full"
        place.mkdir()
        (place / "x").write_text("x")
    before = tree(shop.folder)
    told(call("init", "--vault", str(place)), 2, fact, "--vault" if what == "vault" else "empty")
    assert tree(shop.folder) == before


@pytest.mark.parametrize("word", ["backups", "new/backups"])
def test_a_store_without_working_create_only(shop: SmallLake, word: str) -> None:
    """A file system that has neither hard links nor a rename that replaces nothing."""
    before = tree(shop.folder)
    said = in_child(partial(without, "linkat", "renameat2"), partial(call, "init", "--vault", str(shop.folder / word)))
    told(said, 14, f"this file system cannot create a file only where none is: {shop.folder / word}", "hard links (ext4, xfs")
    assert tree(shop.folder) == before
    assert not any((shop.folder / word).rglob("*"))


def test_a_point_that_is_not_there(shop: SmallLake) -> None:
    with unharmed(shop, also_new=("runs",)):
        for words in (("show", "2099"), ("preview", "2099", "lake.sales.orders"), ("restore", "--all", "--point", "2099")):
            told(call(*words), 2, "no point '2099' in this vault", "bergung points")


def test_a_vault_without_points(lake: SmallLake) -> None:
    with unharmed(lake, also_new=()):
        told(call("restore", "--all"), 2, "there is no point in this vault yet", "bergung backup")


@pytest.fixture
def open_lake(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallLake]:
    """One that every user of the machine may read; and all modules are loaded, which nobody may read."""
    with open_folder() as folder:
        lake = SmallLake(folder)
        lake.announce(monkeypatch)
        lake.make("sales", "orders")
        for words in (("init",), ("backup", "lake"), ("points",), ("restore", "--all"), ("verify",)):
            assert call(*words).code == 0
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        yield lake


def test_no_right_to_write_into_the_vault(open_lake: SmallLake) -> None:
    for words in (("backup", "lake"), ("restore", "--all"), ("verify",)):
        with unharmed(open_lake, also_new=()):
            said = in_child(as_nobody, partial(call, *words))
        told(said, 12, f"permission denied: {open_lake.vault}/runs/", "namei -l")
    assert in_child(as_nobody, partial(call, "points")).code == 0, "who may only read can look"


def test_no_right_to_read_the_vault(open_lake: SmallLake) -> None:
    open_lake.vault.chmod(0o700)
    with unharmed(open_lake, also_new=()):
        told(in_child(as_nobody, partial(call, "points")), 12, "permission denied", "namei -l")


def test_no_right_to_read_a_data_file(open_lake: SmallLake) -> None:
    open_lake.append(("sales", "orders"), range(10, 20))
    for path in (open_lake.warehouse, *open_lake.warehouse.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    for path in (open_lake.vault, *open_lake.vault.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    newest = max(open_lake.files("sales", "orders", kind="*.parquet"), key=lambda path: path.stat().st_mtime_ns)
    newest.chmod(0o000)
    with unharmed(open_lake):
        said = in_child(as_nobody, partial(call, "backup", "lake"))
    told(said, 12, f"permission denied: {newest}", "namei -l")


def test_no_right_to_write_where_a_table_was(open_lake: SmallLake) -> None:
    gone = open_lake.files("sales", "orders", kind="*.parquet")[0]
    gone.unlink()
    for path in (open_lake.vault, *open_lake.vault.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    with unharmed(open_lake):
        said = in_child(as_nobody, partial(call, "restore", "--all"))
    told(said, 12, f"permission denied: {gone.parent}", "namei -l")


def test_the_vaults_disk_is_full(lake: SmallLake) -> None:
    lake.make("sales", "small")
    table = SyntheticTable(lake.warehouse / "sales" / "large", Shape(rows_per_file=1))
    table.add_files([{"file_path": f"{table.location}/data/large.bin", "file_size_in_bytes": 8 * MIB}])
    table.local(f"{table.location}/data/large.bin").write_bytes(os.urandom(8 * MIB))
    table.commit()
    lake.adopt("sales.large", table)
    disk = lake.folder / "disk"
    disk.mkdir()

    def fill() -> list[Said]:
        on_disk = ("--vault", str(disk / "vault"))
        words = [("init",), ("backup", "lake.sales.small"), ("backup", "lake"), ("points", "--json"), ("verify",)]
        return [call(*each, *on_disk) for each in words]

    with unharmed(lake, also_new=()):
        made, small, full, points, verified = in_child(partial(small_disk, disk, 4 * MIB), fill)
    assert (made.code, small.code, verified.code) == (0, 0, 0)
    told(full, 1, "no space left on device", "make room, then run the same command again: df -h")
    assert len(points.result["points"]) == 1


def test_the_disk_of_a_table_is_full(lake: SmallLake) -> None:
    lake.make("sales", "orders")
    lake.append(("sales", "orders"), range(200_000))
    assert call("backup", "lake").code == 0
    folder = lake.warehouse / "sales" / "orders"
    lake.lose("sales", "orders")
    folder.mkdir()

    def fill() -> Said:
        return call("restore", "--all")

    with unharmed(lake):
        said = in_child(partial(small_disk, folder, MIB // 4), fill)
    told(said, 1, "no space left on device", "make room, then run the same command again: df -h")
    assert call("restore", "--all").code == 0 and lake.rows("sales", "orders")


@pytest.mark.parametrize("cut", [0, 1, 100])
def test_a_truncated_metadata_file(shop: SmallLake, cut: int) -> None:
    table = synthetic(shop)
    shop.adopt("sales.bad", table)
    path = table.local(table.metadata_path or "")
    path.write_bytes(path.read_bytes()[:cut])
    with unharmed(shop):
        said = call("backup", "lake.sales.bad")
    told(said, 5, f"file://{path} is damaged", "an intact metadata file")


def test_a_table_that_cannot_be_read_does_not_stop_the_others(shop: SmallLake) -> None:
    table = synthetic(shop)
    shop.adopt("sales.bad", table)
    table.local(table.metadata_path or "").write_text("{")
    source = tree(shop.warehouse)
    said = call("backup", "lake")
    assert said.code == 3 and tree(shop.warehouse) == source
    assert said.errors[0].startswith("lake.sales.bad: ") and said.hints[0]
    assert said.errors[1].startswith("1 of 2 tables not in point ") and said.errors[1].endswith(": lake.sales.bad")
    told_to_programs = call("backup", "lake", "--json")
    assert told_to_programs.code == 3 and told_to_programs.result["status"] == "partial"
    (failed,) = told_to_programs.result["failed"]
    assert (failed["table"], failed["error"]) == ("lake.sales.bad", "CorruptFile")
    assert "lake.sales.bad is not in it" in call("show", "latest").out


def test_a_metadata_file_that_is_gone(shop: SmallLake) -> None:
    table = synthetic(shop)
    shop.adopt("sales.bad", table)
    table.local(table.metadata_path or "").unlink()
    with unharmed(shop):
        told(call("backup", "lake.sales.bad"), 1, "names a metadata file that is gone", "bergung restore lake.sales.bad")


@pytest.mark.parametrize(
    ("more", "fact"), [({"format-version": 4}, "has Iceberg format version 4"), ({"view-uuid": "x"}, "it describes a view")]
)
def test_what_is_no_table_that_is_known(shop: SmallLake, more: dict[str, object], fact: str) -> None:
    shop.adopt("sales.bad", synthetic(shop, shape=Shape(more=more)))
    with unharmed(shop):
        said = call("backup", "lake.sales.bad")
    told(said, 14 if "format-version" in more else 5, fact, "")


def reached(table: SyntheticTable, kind: str) -> list[str]:
    return [path for path, found in table.reached.items() if found == kind]


@pytest.mark.parametrize("kind", ["manifest", "manifest_list", "data"])
@pytest.mark.parametrize("harm", ["gone", "cut short", "other bytes"])
def test_damage_in_the_source_is_named_and_sealed_as_damage(shop: SmallLake, kind: str, harm: str) -> None:
    table = synthetic(shop)
    shop.adopt("sales.bad", table)
    victim = reached(table, kind)[0]
    path = table.local(victim)
    right = path.read_bytes()
    path.unlink()
    if harm != "gone":
        path.write_bytes(right[:-20] if harm == "cut short" else b"\0" * len(right))
    source = tree(shop.warehouse)
    said = call("backup", "lake.sales.bad")
    assert tree(shop.warehouse) == source
    if (kind, harm) == ("data", "other bytes"):
        # Nothing says what the bytes of a data file should have been.
        assert said.code == 0
        return
    told(said, 5, "1 table lost files before this backup: lake.sales.bad", "bergung points lake.sales.bad")
    assert f"  {victim}" in said.out.splitlines()
    assert call("points", "lake.sales.bad", "--json").result["points"][0]["status"] == "damaged"
    assert call("verify").code == 0, "the vault itself holds what it said it holds"


def test_a_file_outside_the_tables_folders_is_not_read(shop: SmallLake) -> None:
    secret = shop.folder / "etc"
    secret.mkdir()
    (secret / "shadow").write_text("root:secret")
    table = synthetic(shop)
    table.add_files([{"file_path": f"file://{secret}/shadow", "file_size_in_bytes": 11}])
    table.commit()
    shop.adopt("sales.bad", table)
    with unharmed(shop):
        said = call("backup", "lake.sales.bad")
    told(said, 14, f"names a file outside its own folders: file://{secret}/shadow", f"add --allow-prefix file://{secret}")
    assert not any(b"secret" in path.read_bytes() for path in shop.vault.rglob("*") if path.is_file())
    beside = call("backup", "lake")
    assert beside.code == 3 and "names a file outside" in beside.errors[0]
    allowed = call("backup", "lake.sales.bad", "--allow-prefix", f"file://{secret}")
    assert allowed.code == 0
    planned = call("backup", "lake.sales.bad", "--dry-run", "--json", "--allow-prefix", f"file://{secret}").result
    assert f"file://{secret}" in planned["tables"][0]["prefixes"]
    (secret / "shadow").unlink()
    refused = call("restore", "lake.sales.bad")
    told(refused, 14, f"outside its own folders: file://{secret}/shadow", "--allow-prefix")
    assert call("restore", "lake.sales.bad", "--allow-prefix", f"file://{secret}").code == 0
    assert (secret / "shadow").read_text() == "root:secret"


@pytest.mark.parametrize("what", ["list", "statistics", "climbing"])
def test_metadata_that_names_a_file_outside_is_refused_too(shop: SmallLake, what: str) -> None:
    table = synthetic(shop)
    path = table.local(table.metadata_path or "")
    document = json.loads(path.read_text())
    outside = f"{table.location}/../../../etc" if what == "climbing" else f"file://{shop.folder}/etc"
    if what == "statistics":
        own = {"snapshot-id": document["current-snapshot-id"], "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1}
        document["statistics"] = [{**own, "statistics-path": f"{outside}/x.stats", "blob-metadata": []}]
    else:
        document["snapshots"][0]["manifest-list"] = f"{outside}/list.avro"
    path.write_text(json.dumps(document))
    shop.adopt("sales.bad", table)
    with unharmed(shop):
        said = call("backup", "lake.sales.bad")
    told(said, 14, "names a file outside its own folders", "never read" if what == "climbing" else "--allow-prefix")


def round_trip(lake: SmallLake, *words: str) -> None:
    """Backed up, lost, restored, byte for byte."""
    files = tree(lake.warehouse)
    backup = call("backup", *words)
    assert backup.code == 0, backup.err
    assert call("verify").code == 0
    for path in files:
        Path(path).unlink()
    restore = call("restore", "--all")
    assert restore.code == 0, restore.err
    assert tree(lake.warehouse) == files


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_table_without_snapshots_is_valid(lake: SmallLake, version: int) -> None:
    table = SyntheticTable(lake.warehouse / "sales" / "empty", Shape(format_version=version))
    table.commit(snapshot=False)
    lake.adopt("sales.empty", table)
    round_trip(lake, "lake")


ODD = [
    "with space",
    "comma,s", "50% off", "a%2Fb", "1+1", "Ünïcödé", "東京", "e\u0301", "k=v", "a'b\"c", "[x]", "a:b", "~x", "-x", "#1?",
]  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_names_and_paths(lake: SmallLake, name: str) -> None:
    table = SyntheticTable(lake.warehouse / name, Shape())
    table.append(2)
    odd = f"{table.location}/data/{name}/{name}=1/{name}.parquet"
    table.local(odd).parent.mkdir(parents=True)
    table.local(odd).write_bytes(b"rows")
    table.add_files([{"file_path": odd, "file_size_in_bytes": 4}])
    table.commit()
    lake.adopt(f"`{name}`.`{name}`", table)
    round_trip(lake, f"lake.`{name}`.`{name}`")
    (key,) = call("show", "latest", "--json").result["record"]["tables"]
    assert split_levels(key) == ("lake", name, name)
    assert lake.pointer(name, name) == table.metadata_path


@pytest.mark.parametrize("name", ["with space", "comma,s", "50% off", "1+1", "Ünïcödé", "東京"])
def test_odd_names_as_pyiceberg_writes_them(lake: SmallLake, name: str) -> None:
    lake.make(name, name)
    before = lake.rows(name, name)
    round_trip(lake, "lake")
    assert lake.rows(name, name) == before


def test_a_namespace_of_three_levels(lake: SmallLake) -> None:
    lake.make("shop", "eu", "north", "stock")
    before = lake.rows("shop", "eu", "north", "stock")
    assert call("backup", "lake.shop.eu").code == 0
    lake.lose("shop", "eu", "north", "stock")
    for levels in (("shop", "eu", "north"), ("shop", "eu"), ("shop",)):
        lake.catalog.drop_namespace(levels)
    assert call("restore", "lake.shop.eu.north.stock").code == 0
    assert lake.rows("shop", "eu", "north", "stock") == before
    assert lake.catalog.load_namespace_properties(("shop", "eu", "north"))["depth"] == "3"


@pytest.mark.nightly
def test_files_of_no_bytes_and_of_more_than_five_gigabytes(lake: SmallLake) -> None:
    """The large one is sparse, and made of zeros but for its end; ten gigabytes of disk for a moment."""
    table = SyntheticTable(lake.warehouse / "large", Shape())
    sizes = {"empty.bin": 0, "large.bin": 5 * 1024**3 + 7}
    for name, size in sizes.items():
        with table.local(f"{table.location}/data/{name}").open("wb") as file:
            file.truncate(size)
            if size:
                file.seek(size - 3)
                file.write(b"end")
    table.add_files([{"file_path": f"{table.location}/data/{name}", "file_size_in_bytes": size} for name, size in sizes.items()])
    table.commit()
    lake.adopt("sales.large", table)
    large = table.local(f"{table.location}/data/large.bin")
    try:
        said = call("backup", "lake", "--json")
        assert said.code == 0 and said.result["new_files"] == 5
        (blob,) = lake.vault.rglob("large.bin")
        assert blob.stat().st_size == sizes["large.bin"]
        with blob.open("rb") as file:
            file.seek(-5, os.SEEK_END)
            assert file.read() == b"\0\0end"
        for name in sizes:
            table.local(f"{table.location}/data/{name}").unlink()
        assert call("restore", "--all").code == 0
        assert {name: table.local(f"{table.location}/data/{name}").stat().st_size for name in sizes} == sizes
        with large.open("rb") as file:
            file.seek(-5, os.SEEK_END)
            assert file.read() == b"\0\0end"
    finally:
        for path in (large, *lake.vault.rglob("large.bin")):
            path.unlink(missing_ok=True)
