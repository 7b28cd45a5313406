"""What works from here."""

import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of

from bergung import version
from bergung.catalogs.settings import catalog_names, open_catalog
from bergung.cli import words
from bergung.cli.door import Door
from bergung.cli.engines import PROCESS
from bergung.cli.telling import Grid, Result
from bergung.cli.work import open_vault
from bergung.errors import BergungError, UsageError
from bergung.spark import java
from bergung.stores.local import LocalStore
from bergung.stores.probe import probe
from bergung.vault.vault import read_state

OK, NOT_OK = "ok", "not ok"


@dataclass(frozen=True)
class Check:
    """One line: what was looked at, whether it works, and whether anything depends on it."""

    name: str
    fact: str
    is_ok: bool = True
    is_needed: bool = True
    hint: str = ""


def doctor(door: Door) -> Result:
    """Look at everything; one thing that fails hides no other."""
    checks = list(_checks(door))
    broken = [check for check in checks if not check.is_ok and check.is_needed]
    rows = [(check.name, _state(check), check.fact) for check in checks]
    hints = [f"{check.name}: {check.hint}" for check in checks if not check.is_ok and check.hint]
    facts = {"checks": [_facts(check) for check in checks]}
    errors = (_broken(broken),) if broken else ()
    return Result("failed" if broken else "complete", facts, [Grid(("", "", ""), rows), *hints], errors)


def _state(check: Check) -> str:
    return OK if check.is_ok else NOT_OK if check.is_needed else "-"


def _facts(check: Check) -> dict[str, object]:
    return {"check": check.name, "ok": check.is_ok, "needed": check.is_needed, "fact": check.fact, "hint": check.hint}


def _broken(broken: list[Check]) -> BergungError:
    names = ", ".join(check.name for check in broken)
    return BergungError(f"needed, but it does not work: {names}", "see the hints above")


def _checks(door: Door) -> Iterator[Check]:
    yield Check("bergung", version.VERSION)
    yield Check("python", f"{platform.python_version()}, {sys.executable}")
    settings = _tried("settings", lambda: str(door.settings.file or "no bergung.toml"))
    yield settings
    if not settings.is_ok:
        return
    with_spark = door.engine_kind() != PROCESS
    is_local = with_spark and not door.settings.text("spark.remote")
    yield _tried("java", _java, is_needed=is_local)
    yield _tried("pyspark", _pyspark, is_needed=with_spark)
    yield _jars()
    yield _vault(door)
    yield from _catalogs(door)


def _tried(name: str, look: Callable[[], str], is_needed: bool = True) -> Check:
    try:
        return Check(name, look(), True, is_needed)
    except BergungError as error:
        return Check(name, error.message, False, is_needed, error.hint)


def _java() -> str:
    home = java.find_home()
    return f"{java.major_version(home)}, {home}"


def _pyspark() -> str:
    try:
        return version_of("pyspark")
    except PackageNotFoundError as error:
        raise BergungError("pyspark is not installed", "pip install bergung; or use --engine process") from error


def _jars() -> Check:
    """Spark reads and writes Iceberg tables by them; a backup or a restore does not."""
    from bergung.spark import jars
    from bergung.spark.session import default_cache

    found = jars.present(default_cache())
    if found:
        return Check("jars", f"{len(found)} in {default_cache() / 'jars'}", is_needed=False)
    return Check("jars", f"none in {default_cache() / 'jars'}", False, False, "only the demo needs them, and fetches them")


def _vault(door: Door) -> Check:
    def look() -> str:
        vault = open_vault(door)
        probe(vault.store)
        points = words.many(len(read_state(vault).points), "point")
        return f"{points}, refuses a second write, {_room(vault.store)}{vault.url}"

    return _tried("vault", look)


def _room(store: object) -> str:
    return f"{words.size(shutil.disk_usage(store.root).free)} free, " if isinstance(store, LocalStore) else ""


def _catalogs(door: Door) -> Iterator[Check]:
    try:
        names = catalog_names()
    except UsageError as error:
        yield Check("catalogs", error.message, False, True, error.hint)
        return
    if not names:
        yield Check("catalogs", "none declared; tables can be named by their path", False, False, _declare())
    for name in names:
        yield _catalog(door, name)


def _catalog(door: Door, name: str) -> Check:
    try:
        catalog = open_catalog(name, open_store=door.stores)
    except UsageError as error:
        # Of a kind that is not known yet: nothing here depends on it.
        return Check(f"catalog {name}", error.message, False, False, error.hint)
    return _tried(f"catalog {name}", lambda: words.many(len(catalog.tables()), "table"))


def _declare() -> str:
    return "declare one in ~/.pyiceberg.yaml, as PyIceberg reads it"
