"""Whether a store keeps its promises."""

from pathlib import Path

from bergung.cli.door import Door
from bergung.cli.settings import address as absolute
from bergung.cli.telling import Grid, Result
from bergung.stores.probe import PROMISES, Finding, examine


def validate(door: Door, address: str | None) -> Result:
    """A line for each promise; one that is broken hides no other."""
    store = door.stores(door.vault_address() if address is None else absolute(address, Path.cwd()))
    findings = list(examine(store))
    broken = [finding for finding in findings if finding.error is not None and finding.promise.is_needed]
    shown = {finding.promise.name for finding in findings}
    rows = [(finding.promise.name, _state(finding), finding.fact) for finding in findings]
    rows += [(promise.name, "-", "not asked here") for promise in PROMISES if promise.name not in shown]
    hints = [
        f"{each.promise.name}: {each.error.hint}" for each in findings if each.error is not None and not each.promise.is_needed
    ]
    facts = {"store": store.url, "promises": [_facts(finding) for finding in findings]}
    errors = tuple(finding.error for finding in broken if finding.error is not None)
    return Result("failed" if broken else "complete", facts, [store.url, Grid(("", "", ""), rows), *hints], errors)


def _state(finding: Finding) -> str:
    if finding.is_kept:
        return "ok"
    return "not ok" if finding.promise.is_needed else "-"


def _facts(finding: Finding) -> dict[str, object]:
    promise = finding.promise
    return {"promise": promise.name, "kept": finding.is_kept, "needed": promise.is_needed, "fact": finding.fact}
