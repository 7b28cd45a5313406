"""One attempt at a set of located tables; those whose files vanished meanwhile get another."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from bergung.backup.capturing import Carried, carry, losses, write_root
from bergung.backup.earlier import NOTHING, SURVEYED, Earlier, find_earlier, is_worth_looking
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
from bergung.stores.together import at_once, both, together
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

    @property
    def _most(self) -> int:
        return at_once(self.vault.url)

    def known(self, tables: Sequence[Located]) -> dict[str, Predecessor]:
        """By name, what they can be built on."""
        return predecessors(self.vault, self.state, tables, self.request.captured)

    def capture(self, tables: Sequence[Located], known: Mapping[str, Predecessor]) -> Captured:
        """Survey and carry what changed; take over what did not."""
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

    def _capture(self, tables: Sequence[Located], known: Mapping[str, Predecessor]) -> Captured:
        if not tables:
            return Captured()
        self.effects.watch.step("survey")
        numbered = list(enumerate(tables, self._taken))
        self._taken += len(tables)
        surveys = list(together(self._most, lambda each: self._begin(*each, known), numbered))
        folders = {survey.index: self._folder(survey, known) for survey in surveys}
        job = self._job(surveys, folders)
        self._hold(job, surveys)
        earlier = self._settle(surveys, folders)
        replaced = {s.index: replace(job.tables[s.index], replaced=s.replaced()) for s in surveys}
        job = replace(job, tables=replaced, earlier=earlier.numbers(folders))
        self.effects.watch.step("carry")
        carried = carry(self.effects, job, surveys, earlier.rows())
        return self._captured(job, surveys, carried)

    def _hold(self, job: Job, surveys: Sequence[Survey]) -> None:
        """The new manifest lists, and the metadata files; what will be asked of the predecessors' is read meanwhile."""
        calls: list[Callable[[], None]] = [partial(survey.known.read_ahead, survey.parents()) for survey in surveys]
        calls += [partial(self._hold_file, job, survey) for survey in surveys if survey.error is None]
        both(self._most, partial(read_lists, self.effects, job, surveys), partial(self._all, calls))

    def _hold_file(self, job: Job, survey: Survey) -> None:
        folder, located, store = job.tables[survey.index].folder, survey.located, self.vault.store
        place = (located.metadata.location, located.metadata_location)
        kept = keep(store, folder, place, lambda: iter([located.data]))
        store.make_durable([folder + kept.blob_key])
        survey.file = MetadataFile(kept.blob_key, kept.digest, kept.size_bytes, located.source_version)

    def _settle(self, surveys: Sequence[Survey], folders: dict[int, str]) -> Earlier:
        """Which manifests are held, and what earlier runs left; with that the survey is noted."""
        facts = {"tables": len(surveys), "lists": sum(len(s.lists) for s in surveys), "folders": folders}
        calls: list[Callable[[], None]] = [partial(settle_manifests, survey) for survey in surveys]
        calls += [partial(self.run.step, f"{SURVEYED}{surveys[0].index:06d}", **facts)]
        return both(self._most, partial(self._earlier, surveys), partial(self._all, calls))[0]

    def _earlier(self, surveys: Sequence[Survey]) -> Earlier:
        return find_earlier(self.run, self.state) if is_worth_looking(surveys) else NOTHING

    def _all(self, calls: Iterable[Callable[[], None]]) -> None:
        for _ in together(self._most, lambda call: call(), calls):
            pass

    def _begin(self, index: int, located: Located, known: Mapping[str, Predecessor]) -> Survey:
        before = known.get(located.name)
        entry, prefixes = before.entry if before else None, self._prefixes(located)
        lists = located.metadata.encrypted and self.request.captured == ALL
        more = listed_below(self.effects, located, prefixes) if lists else []
        return begin(located, index, Known(self.vault, entry), prefixes, more)

    def _prefixes(self, located: Located) -> tuple[str, ...]:
        return allowed_prefixes(located.metadata, located.metadata_location, self.request.allow_prefixes)

    def _folder(self, survey: Survey, known: Mapping[str, Predecessor]) -> str:
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

    def _captured(self, job: Job, surveys: Sequence[Survey], carried: Carried) -> Captured:
        for survey in surveys:
            _require_sight(job, survey)
        whole = [(survey, survey.file) for survey in surveys if survey.error is None and survey.file is not None]
        made = together(self._most, lambda each: self._entry(job, *each), whole)
        entries = dict(zip((survey.name for survey, _ in whole), made, strict=True))
        failed = {survey.name: survey.error for survey in surveys if survey.error is not None}
        lossy = tuple(survey.located for survey, _ in whole if losses(survey))
        return Captured(entries, failed, lossy, carried.totals, carried.opened_manifests)

    def _entry(self, job: Job, survey: Survey, file: MetadataFile) -> TableEntry:
        receipts = write_root(job, survey, file.digest)
        folder = job.tables[survey.index].folder
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
