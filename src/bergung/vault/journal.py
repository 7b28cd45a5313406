"""What every run did: one create-only document per step that matters (format.md R6)."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from bergung.clock import Clock, from_text, to_text
from bergung.errors import BergungError, CorruptFile, Interrupted, MissingObject, ObjectExists, UsageError
from bergung.stores.base import Store, Version
from bergung.stores.together import at_once, together
from bergung.vault.documents import put_document, read_mapping
from bergung.vault.layout import RUNS, run_key


@dataclass(frozen=True)
class Run:
    """A run that writes its own journal."""

    id: str
    started_at: datetime
    store: Store
    clock: Clock

    def step(self, name: str, **facts: Any) -> None:
        """Write what has just been done; a name is used once."""
        put_document(self.store, run_key(self.id, f"{name}.json"), {"at": to_text(self.clock.now()), **facts})

    def fail(self, error: BergungError) -> None:
        """The last step of a run that came to no end; where even this cannot be written, the error is what counts."""
        with suppress(BergungError):
            self.step("end", status="interrupted" if isinstance(error, Interrupted) else "failed", error=error.message)

    def is_cancelled(self) -> bool:
        """Somebody asked this run to stop."""
        return _exists(self.store, run_key(self.id, "cancel.json"))

    def age(self) -> timedelta:
        """How long ago this run wrote its intent."""
        return self.clock.now() - self.started_at


@dataclass(frozen=True)
class RunFacts:
    """A run as its journal tells it."""

    id: str
    verb: str
    started_at: str
    ended_at: str | None
    status: str
    steps: tuple[str, ...]


def begin(store: Store, run: str, clock: Clock, **intent: Any) -> Run:
    """Write the intent, which must come before the run's first look-up in the vault."""
    started_at = clock.now()
    put_document(store, run_key(run, "start.json"), {"at": to_text(started_at), **intent})
    return Run(run, started_at, store, clock)


def ask_to_cancel(store: Store, run: str, clock: Clock) -> None:
    """Leave word for a run; it stops before its next wave."""
    facts = read_run(store, run)
    if facts.ended_at is not None:
        raise UsageError(f"run {run} has ended: {facts.status}")
    with suppress(ObjectExists):
        put_document(store, run_key(run, "cancel.json"), {"at": to_text(clock.now())})


def runs(store: Store) -> list[RunFacts]:
    """Every run, newest first."""
    ids = dict.fromkeys(version.key.removeprefix(RUNS).split("/")[0] for version in store.list_versions(RUNS))
    found = together(at_once(store.url), partial(_told, store), reversed(ids))
    return [facts for facts in found if facts is not None]


def read_run(store: Store, run: str) -> RunFacts:
    """One run; UsageError when there is none of that id."""
    facts = _told(store, run)
    if facts is None:
        raise UsageError(f"no run {run!r}", "run bergung runs for those there are")
    return facts


def _told(store: Store, run: str) -> RunFacts | None:
    """A run writes its start first: what has none is no run."""
    steps = dict(documents(store, run))
    if "start" not in steps:
        return None
    start, end = steps["start"], steps.get("end", {})
    status = str(end.get("status", "cancelled" if "cancel" in steps else "not ended"))
    return RunFacts(run, str(start.get("verb", "")), str(start["at"]), end.get("at"), status, tuple(steps))


def documents(store: Store, run: str, step: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The journal documents of a run, in the order of time; all, or those of the steps whose names begin so."""
    found = [(_step(run, key), facts) for key, facts in _documents(store, run_key(run, step), set())]
    yield from sorted(found, key=lambda step: from_text(step[1]["at"]))


def news(store: Store, seen: set[str]) -> list[tuple[str, str, dict[str, Any]]]:
    """Run, step and facts of the journal documents that are not among those seen, in the order of time; now they are."""
    found = [(key.removeprefix(RUNS).split("/")[0], key, facts) for key, facts in _documents(store, RUNS, seen)]
    return sorted(((run, _step(run, key), facts) for run, key, facts in found), key=lambda step: str(step[2]["at"]))


def _documents(store: Store, prefix: str, seen: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Keys and facts; what was there first counts, and junk that others left is passed over."""
    new: dict[str, Version] = {}
    for version in store.list_versions(prefix):
        if not version.is_marker and version.key not in seen and version.key.endswith(".json"):
            new.setdefault(version.key, version)
    for key, facts in zip(new, together(at_once(store.url), partial(_facts, store), new.values()), strict=True):
        seen.add(key)
        if facts is not None:
            yield key, facts


def _facts(store: Store, version: Version) -> dict[str, Any] | None:
    data = store.read(version.key, version=version.version)
    try:
        facts = dict(read_mapping(data, version.key))
        from_text(facts["at"])
    except (CorruptFile, KeyError, TypeError, ValueError):
        return None
    return facts


def _step(run: str, key: str) -> str:
    return key.removeprefix(run_key(run, "")).removesuffix(".json")


def _exists(store: Store, key: str) -> bool:
    try:
        store.head(key)
    except MissingObject:
        return False
    return True
