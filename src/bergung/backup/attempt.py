"""One attempt at a set of located tables; those whose files vanished meanwhile get another."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from bergung.backup.capturing import Carried, carry, losses, write_root
from bergung.backup.earlier import NOTHING, find_earlier, is_worth_looking
from bergung.backup.entry import Stored, entry_of, unchanged_entry
from bergung.backup.known import Known, Predecessor, predecessors
from bergung.backup.listing import listed_below
from bergung.backup.locating import Located
from bergung.backup.request import ALL, BackupRequest
from bergung.backup.surveying import Survey, begin, read_lists, settle_manifests, table_job
from bergung.backup.unchanged import is_unchanged
from bergung.carry.effects import Effects
from bergung.carry.job import Job
from bergung.carry.waves import Totals
from bergung.errors import BergungError, Refused
from bergung.iceberg.survey import allowed_prefixes
from bergung.model.record import Count, MetadataFile, TableEntry
from bergung.vault.blobs import keep
from bergung.vault.journal import Run
from bergung.vault.layout import table_folder
from bergung.vault.receipts import MISSING
from bergung.vault.vault import State, Vault

_SIGHT = "keep tables where all executors reach them, in a store or a folder that is mounted on all; or --engine process"


@dataclass(frozen=True)
class Captured:
    """Entries of tables that are in the vault now, errors of those that are not."""

    entries: dict[str, TableEntry] = field(default_factory=dict)
    failed: dict[str, BergungError] = field(default_factory=dict)
    lossy: tuple[Located, ...] = ()
    """Tables that lost something: perhaps only because they moved on while they were read."""
    totals: Totals = field(default_factory=Totals)
    opened_manifests: int = 0
    bases: dict[str, str] = field(default_factory=dict)
    """For each table the point that it was built on."""

    def over(self, again: "Captured") -> "Captured":
        """With what a further attempt came to."""
        done = {*again.entries, *again.failed}
        return Captured(
            {**{name: entry for name, entry in self.entries.items() if name not in done}, **again.entries},
            {**{name: error for name, error in self.failed.items() if name not in done}, **again.failed},
            again.lossy,
            self.totals.and_(again.totals),
            self.opened_manifests + again.opened_manifests,
            {**self.bases, **again.bases},
        )


@dataclass
class Attempt:
    """Captures sets of tables within one run."""

    effects: Effects
    vault: Vault
    state: State
    request: BackupRequest
    run: Run
    _taken: int = 0

    def capture(self, tables: Sequence[Located]) -> Captured:
        """Survey and carry what changed; take over what did not."""
        known = predecessors(self.vault, self.state, tables, self.request.captured)
        bases, entries, changed = {}, {}, []
        for each in tables:
            before = known.get(each.name)
            if before is not None:
                bases[each.name] = before.point.id
            if before is not None and is_unchanged(each, before):
                entries[each.name] = unchanged_entry(before, each)
            else:
                changed.append(each)
        captured = self._capture(changed, known)
        return replace(captured, bases=bases, entries={**captured.entries, **entries})

    def _capture(self, tables: Sequence[Located], known: dict[str, Predecessor]) -> Captured:
        if not tables:
            return Captured()
        self.effects.watch.step("survey")
        surveys = [self._begin(each, known.get(each.name)) for each in tables]
        folders = {survey.index: self._folder(survey, known) for survey in surveys}
        read_lists(self.effects, self._job(surveys, folders), surveys)
        for survey in surveys:
            settle_manifests(survey)
        earlier = find_earlier(self.run, self.state) if is_worth_looking(surveys) else NOTHING
        job = replace(self._job(surveys, folders), earlier=earlier.numbers(folders))
        facts = {"tables": len(surveys), "lists": sum(len(s.lists) for s in surveys)}
        self.run.step(f"surveyed-{surveys[0].index:06d}", **facts, folders=folders)
        self.effects.watch.step("carry")
        carried = carry(self.effects, job, surveys, earlier.rows())
        return self._captured(job, surveys, carried)

    def _begin(self, located: Located, before: Predecessor | None) -> Survey:
        index = self._taken
        self._taken += 1
        entry, prefixes = before.entry if before else None, self._prefixes(located)
        lists = located.metadata.encrypted and self.request.captured == ALL
        more = listed_below(self.effects, located, prefixes) if lists else []
        return begin(located, index, Known(self.vault, entry), prefixes, more)

    def _prefixes(self, located: Located) -> tuple[str, ...]:
        return allowed_prefixes(located.metadata, located.metadata_location, self.request.allow_prefixes)

    def _folder(self, survey: Survey, known: dict[str, Predecessor]) -> str:
        """The folder of first sight, whatever the table is called now."""
        metadata, table = survey.located.metadata, survey.located.selected.table
        before = known.get(survey.name)
        return before.entry.location if before else table_folder(table.namespace, table.name, metadata.identity)

    def _job(self, surveys: Sequence[Survey], folders: dict[int, str]) -> Job:
        tables = {s.index: table_job(s, folders[s.index], self._prefixes(s.located)) for s in surveys}
        return Job(
            self.vault.url,
            self.run.id,
            tables,
            with_data=self.request.captured == ALL,
            open=self.effects.open_store,
        )

    def _captured(self, job: Job, surveys: Iterable[Survey], carried: Carried) -> Captured:
        entries: dict[str, TableEntry] = {}
        failed: dict[str, BergungError] = {}
        lossy: list[Located] = []
        for survey in surveys:
            _require_sight(job, survey)
            if survey.error is not None:
                failed[survey.name] = survey.error
                continue
            entries[survey.name] = self._entry(job, survey)
            lossy += [survey.located] if losses(survey) else []
        return Captured(entries, failed, tuple(lossy), carried.totals, carried.opened_manifests)

    def _entry(self, job: Job, survey: Survey) -> TableEntry:
        folder, located = job.tables[survey.index].folder, survey.located
        place = (located.metadata.location, located.metadata_location)
        kept = keep(self.vault.store, folder, place, lambda: iter([located.data]))
        self.vault.store.make_durable([folder + kept.blob_key])
        file = MetadataFile(kept.blob_key, kept.digest, kept.size_bytes, located.source_version)
        receipts = write_root(job, survey, kept.digest)
        return entry_of(survey, Stored(folder, self.request.captured, file, receipts, _new_files(survey, file)))


def _new_files(survey: Survey, file: MetadataFile) -> dict[str, Count]:
    """What the vault had not before: metadata by its rows, data by the sums that came with its manifests."""
    own = [row for row in (*survey.lists, *survey.opened) if row["size_bytes"] is not None]
    metadata = Count(1 + len(own), file.size_bytes + sum(row["size_bytes"] for row in own))
    data = [Count(row["new_files"] or 0, row["new_bytes"] or 0) for row in survey.manifests.values()]
    return {"metadata": metadata, "data": sum(data, Count())}


def _require_sight(job: Job, survey: Survey) -> None:
    """What executors miss and this process has is not lost: they have other folders under the same names."""
    path = next((row["path"] for row in losses(survey) if row["state"] == MISSING), None)
    if path is None or survey.error is not None:
        return
    with suppress(BergungError):
        store, key = job.at(survey.index, path)
        store.head(key)
        survey.error = Refused(f"an executor does not see {path}, which is there", _SIGHT)
