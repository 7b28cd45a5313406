"""docs/json.md tells of every field of every result, and every field that it tells of comes."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from bergung.cli.main import cli
from bergung.cli.watching import LineWatching, facts
from bergung.clock import SystemClock
from bergung.stores.memory import MemoryStore
from bergung.vault.layout import VAULT_DOCUMENT
from tests.command import Said, call, child
from tests.stories.small_lake import SmallLake
from tests.synthetic import Shape, SyntheticTable

PAGE = Path(__file__).parents[2] / "docs" / "json.md"
ROW = re.compile(r"\| `([^`]+)` \| ([a-z ]+) \|")
KINDS = {str: "text", bool: "true or false", int: "number", float: "number", type(None): "null"}
RESULT = "The result"
Fields = dict[str, set[str]]


def page() -> dict[str, Fields]:
    """Section, field, and the types that it may have."""
    found: dict[str, Fields] = {}
    for section in re.split(r"^##+ ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        title, _, text = section.partition("\n")
        found[title] = {name: set(types.split(" or ")) | {types} for name, types in ROW.findall(text)}
    return found


TOLD = page()


def fields_of(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every field of a line, and its type."""
    if isinstance(value, dict) and path != "record":
        for key, each in value.items():
            key = key.replace(".", "·")
            yield from fields_of(each, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for each in value:
            yield from fields_of(each, f"{path}[]")
    else:
        yield path, "object" if isinstance(value, dict) else KINDS[type(value)]


def told_as(path: str, fields: Fields) -> str | None:
    """The field of the page that means this path: by its name, or by one with a `*` in it."""
    if path in fields:
        return path
    patterns = {name: re.escape(name).replace(r"\*", "[^.]+") for name in fields if "*" in name}
    return next((name for name, pattern in patterns.items() if re.fullmatch(rf"{pattern}(\[\].*|\..*)?", path)), None)


def section_of(line: dict[str, Any]) -> list[str]:
    if line["type"] != "result":
        return [str(line["type"])]
    own = [line["command"]] if line["status"] != "failed" or line["command"] == "doctor" else []
    if line["status"] == "planned":
        own = [*own, f"{line['command']} --dry-run"] if line["command"] == "restore" else [f"{line['command']} --dry-run"]
    return [RESULT, *own]


def check(line: dict[str, Any], seen: dict[str, set[str]]) -> None:
    """Every field of the line is told of; what was seen is noted."""
    sections = section_of(line)
    for path, kind in fields_of(line):
        for section in sections:
            name = told_as(path, TOLD[section])
            if name is not None:
                assert TOLD[section][name] & {kind, "any"}, f"{section}: {path} is {kind}"
                seen.setdefault(section, set()).add(name)
                break
        else:
            raise AssertionError(f"{PAGE.name} does not tell of {path} ({kind}) of {sections}")


def every_kind_of_result(lake: SmallLake) -> Iterator[Said]:
    """Commands that go well, commands that do not, and those between."""
    yield call("points", "--vault", "nowhere", "--json")
    yield call("init", "--vault", "other", "--json")
    for name in ("orders", "items", "bad"):
        lake.make("sales", name)
    items = lake.catalog.load_table("sales.items")
    with items.transaction() as change:
        change.set_properties({"audit.folder": f"{items.location()}/audit"})
    yield call("backup", "lake", "--keep", "9d", "--json")
    yield call("restore", "lake.sales.items", "--to", "lake.sales.copy", "--location", str(lake.folder / "there"), "--json")
    harm(lake)
    yield call("backup", "lake", "--dry-run", "--json")
    yield call("backup", "lake", "--json")
    for words in (("points",), ("show", "latest", "--files"), ("preview", "latest", "lake.sales.orders"), ("runs",)):
        yield call(*words, "--json")
    lake.lose("sales", "items")
    lake.append(("sales", "orders"), range(20, 30))
    yield call("restore", "--all", "--dry-run", "--json")
    metadata = call("show", "latest", "--json").result["record"]["tables"]["lake.sales.items"]["metadata_location"]
    Path(metadata.removeprefix("file://")).mkdir(parents=True)
    yield call("restore", "--all", "--confirm", "--json")
    for blob in lake.vault.glob("tables/sales.orders-*/files/data/*"):
        blob.unlink()
    yield call("vault", "copy", "second", "--dry-run", "--json")
    yield call("vault", "copy", "second", "--data", "10%", "--json")
    (lake.vault / "log" / f"{len(list((lake.vault / 'log').iterdir())):020d}.json").write_text("void")
    yield call("verify", "--json")
    yield tampered_vault()
    run = "20990101T000000Z-0123456789"
    (lake.vault / "runs" / run).mkdir()
    (lake.vault / "runs" / run / "start.json").write_text('{"at": "2099-01-01T00:00:00.000000Z", "verb": "backup"}')
    yield call("cancel", run, "--json")
    for words in (
        ("logs", run),
        ("logs", "202"),
        ("runs",),
        ("doctor",),
        ("vault", "validate"),
        ("config", "show"),
        ("completion", "bash"),
    ):
        yield call(*words, "--json")
    runs = call("runs", "--json").result["runs"]
    yield call("logs", runs[0]["run"], "--json")


def tampered_vault() -> Said:
    """Somebody wrote over an object of a vault that keeps versions."""
    store = MemoryStore("tampered", versioned=True)
    assert call("init", "--vault", store.url).code == 0
    store.overwrite(VAULT_DOCUMENT, b"{}")
    return call("verify", "--vault", store.url, "--json")


def harm(lake: SmallLake) -> None:
    """One table loses a data file and its statistics, one cannot be read at all, one is new and has no snapshot."""
    lost = SyntheticTable(lake.warehouse / "sales" / "lost", Shape())
    lost.append(2)
    lost.commit()
    lost.add_statistics()
    lost.commit()
    for path, kind in lost.reached.items():
        if kind == "statistics" or path == lost.live_paths()[0]:
            lost.local(path).unlink()
    lake.adopt("sales.lost", lost)
    Path(lake.pointer("sales", "bad").removeprefix("file://")).write_text("{")
    # Written by a clock that is far ahead: there is no time at which this table and the others are all known.
    bare = SyntheticTable(lake.warehouse / "sales" / "bare", Shape(more={"last-updated-ms": 4_102_444_800_000}))
    bare.commit(snapshot=False)
    lake.adopt("sales.bare", bare)
    lake.append(("sales", "orders"), range(10, 20))


def test_the_page_and_the_lines_agree(lake: SmallLake) -> None:
    seen: dict[str, set[str]] = {}
    for said in every_kind_of_result(lake):
        assert said.result["errors"] == [] or said.code != 0
        for line in said.lines:
            check(line, seen)
    watch = LineWatching(as_json=True)
    check(facts(watch.standing, SystemClock()), seen)
    elsewhere = {"step", "demo", "compare"}
    untold = {section: set(fields) - seen.get(section, set()) for section, fields in TOLD.items() if fields}
    missing = {section: names for section, names in untold.items() if names and section not in elsewhere}
    assert missing == {}


def test_every_command_has_its_section() -> None:
    assert set(commands(cli)) - set(TOLD) == set()


def commands(group: click.Group, above: str = "") -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, f"{above}{name} ")
        else:
            yield above + name


@pytest.mark.nightly
def test_the_demo_too(lake: SmallLake) -> None:
    seen: dict[str, set[str]] = {}
    said = child("demo", "--json")
    assert said.code == 0, said.err
    for line in said.lines:
        check(line, seen)
    assert seen["demo"] == set(TOLD["demo"])
    assert said.result["seconds"] < 120, "on two cores that have nothing else to do: 35 to 60"
