"""Runs that carried files and were never sealed: stopped, killed, or at the end of their window."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from bergung.backup.entry import summed
from bergung.backup.surveying import Survey
from bergung.carry.remembering import outcome
from bergung.carry.rows import Row
from bergung.stores.base import Store
from bergung.stores.together import at_once, together
from bergung.vault.journal import Run, documents
from bergung.vault.layout import RUNS
from bergung.vault.vault import State

SURVEYED = "surveyed-"
"""How the steps begin that say where a run kept which table."""

LOOK_BACK = timedelta(days=7)
"""What is older may have been pruned, and a day more is a question more to the store."""


WORTH_LOOKING_BYTES = 64 * 1024 * 1024
"""Less is carried again in the time of a look."""


@dataclass(frozen=True)
class Earlier:
    """By run, the folders of its tables by their numbers, and the stored outcomes of its slices."""

    folders: Mapping[str, Mapping[int, str]]
    outcomes: Mapping[str, tuple[str, ...]]

    def rows(self) -> list[Row]:
        """The outcomes as rows, to be unfolded where manifests are opened."""
        return [outcome(run, part) for run, parts in self.outcomes.items() for part in parts]

    def numbers(self, folders: Mapping[int, str]) -> dict[str, dict[int, int]]:
        """By run, from the numbers of its tables to those that the same folders have now."""
        own = {folder: number for number, folder in folders.items()}
        return {run: {number: own[each] for number, each in of.items() if each in own} for run, of in self.folders.items()}


NOTHING = Earlier({}, {})


def is_worth_looking(surveys: Sequence[Survey]) -> bool:
    """By the summaries of what is new; one that says nothing may be much."""
    return sum(map(_new_bytes, surveys)) >= WORTH_LOOKING_BYTES


def _new_bytes(survey: Survey) -> int:
    snapshots = survey.new_snapshots()
    said = [summed(snapshot.summary, ("added-files-size",)) for snapshot in snapshots[:-1]]
    # The oldest one kept holds what earlier, expired ones added as well.
    said += [summed(snapshot.summary, ("total-files-size",)) for snapshot in snapshots[-1:]]
    return sum(WORTH_LOOKING_BYTES if size is None else size for size in said)


def find_earlier(run: Run, state: State) -> Earlier:
    """Of the last days, oldest first, so that what a later run knows of a file counts."""
    sealed = {entry.body.get("run") for entry in state.chain.entries}
    parts: dict[str, list[str]] = {}
    for key in _done_keys(run):
        name, _, part = key.removeprefix(RUNS).partition("/")
        if name != run.id and name not in sealed:
            parts.setdefault(name, []).append(part)
    told = together(at_once(run.store.url), partial(_folders, run.store), parts)
    folders = dict(zip(parts, told, strict=True))
    return Earlier(folders, {name: tuple(parts[name]) for name in sorted(parts) if folders[name]})


def _done_keys(run: Run) -> Iterable[str]:
    """Ids of runs begin with their day."""
    days = (run.started_at - timedelta(days=back) for back in range(LOOK_BACK.days + 1))
    prefixes = [f"{RUNS}{day:%Y%m%d}" for day in days]
    found = together(at_once(run.store.url), lambda prefix: [stat.key for stat in run.store.list(prefix)], prefixes)
    return (key for keys in found for key in keys if "/done/" in key)


def _folders(store: Store, run: str) -> dict[int, str]:
    found: dict[int, str] = {}
    for _, facts in documents(store, run, SURVEYED):
        found |= _numbered(facts)
    return found


def _numbered(facts: Mapping[str, Any]) -> dict[int, str]:
    folders = facts.get("folders", {})
    if not isinstance(folders, Mapping):
        return {}
    return {int(number): str(folder) for number, folder in folders.items() if number.isdigit()}
