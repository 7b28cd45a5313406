"""The runs of a vault: those there were, what they did, and word for one to stop."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from threading import Event
from typing import Any

from bergung.cli import telling, words
from bergung.cli.door import Door
from bergung.cli.stopping import stopping
from bergung.cli.telling import Grid, Part, Result
from bergung.cli.work import open_vault
from bergung.clock import SystemClock, from_text
from bergung.errors import UsageError
from bergung.stores.base import Store
from bergung.vault import journal
from bergung.vault.journal import RunFacts

LOOK_SECONDS = 1.0
HIDDEN = ("at", "status")


def runs(door: Door, follow: bool) -> Result:
    """All runs; then each new step, until the user has seen enough."""
    store = open_vault(door).store
    seen: set[str] = set()
    if follow:
        journal.news(store, seen)
    found = _in_order(store)
    result = Result("complete", {"runs": [_facts(run) for run in found]}, list(_parts(found)))
    if follow:
        if not door.as_json:
            telling.print_parts(result.parts)
        _follow(store, door, seen)
        return Result("complete", result.facts)
    return result


def cancel(door: Door, wanted: str) -> Result:
    """Leave word; the run itself reads it."""
    store = open_vault(door).store
    run = _find(store, wanted)
    journal.ask_to_cancel(store, run.id, SystemClock())
    return Result(
        "complete", {"run": run.id}, [f"asked run {run.id} to stop; see it end: bergung logs {run.id}{door.vault_words()}"]
    )


def logs(door: Door, wanted: str) -> Result:
    """Every journal document of a run."""
    store = open_vault(door).store
    run = _find(store, wanted)
    steps = list(journal.documents(store, run.id))
    facts = {**_facts(run), "steps": [{"step": name, **said} for name, said in steps]}
    title = f"run {run.id}: {run.verb}, {run.status}"
    return Result("complete", facts, [title, *(_line(name, said) for name, said in steps)])


def _find(store: Store, wanted: str) -> RunFacts:
    """By its id, a beginning of it that fits one only, or latest."""
    found = _in_order(store)
    fitting = found[-1:] if wanted == "latest" else [run for run in found if run.id.startswith(wanted)]
    if len(fitting) != 1:
        fact = f"{len(fitting)} runs begin with {wanted!r}" if fitting else f"no run {wanted!r} in this vault"
        raise UsageError(fact, "bergung runs lists those there are")
    return fitting[0]


def _in_order(store: Store) -> list[RunFacts]:
    """Oldest first; ids of one second say nothing of the order."""
    return sorted(journal.runs(store), key=lambda run: run.started_at)


def _facts(run: RunFacts) -> dict[str, Any]:
    return {
        "run": run.id,
        "verb": run.verb,
        "run_status": run.status,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
    }


def _parts(found: Sequence[RunFacts]) -> Iterator[Part]:
    if not found:
        yield "no runs yet"
        return
    yield Grid(("run", "verb", "started (UTC)", "took", "status"), [_row(run) for run in found], frozenset({3}))


def _row(run: RunFacts) -> tuple[str, ...]:
    took = "-"
    if run.ended_at is not None:
        took = words.seconds((from_text(run.ended_at) - from_text(run.started_at)).total_seconds())
    return run.id, run.verb, words.time(run.started_at), took, run.status


def _line(step: str, facts: Mapping[str, Any]) -> str:
    status = f" {facts['status']}" if "status" in facts else ""
    said = ", ".join(f"{name} {_value(value)}" for name, value in facts.items() if name not in HIDDEN)
    return f"{words.time(str(facts['at']))} {step}{status}{': ' if said else ''}{said}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {each}" for name, each in value.items()) or "none"
    return " ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


def _follow(store: Store, door: Door, seen: set[str]) -> None:
    over = Event()

    def enough() -> bool:
        return False

    with stopping(over.set, enough, first=""):
        while not over.wait(LOOK_SECONDS):
            for run, step, facts in journal.news(store, seen):
                if door.as_json:
                    telling.print_json({"type": "step", "run": run, "step": step, **facts})
                else:
                    print(f"{run} {_line(step, facts)}", file=sys.stdout, flush=True)
