"""The metadata folder of a Hadoop table: versions, the hint, and how the next version is taken.

A version is committed by being there. Readers of Iceberg's Java library begin at the hint, or at the highest number where there
is none, and go on while the next version is there; others, such as DuckDB and PyIceberg, believe the hint.
"""

from contextlib import suppress
from dataclasses import dataclass

from bergung.catalogs.newest import hadoop_versions, newest
from bergung.errors import MissingObject, ObjectExists, Refused
from bergung.stores.base import Store

HINT = "version-hint.text"

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Versions:
    """What lies in a metadata folder, by number, and the number in the hint."""

    files: dict[int, list[str]]
    hinted: int | None

    @property
    def highest(self) -> int:
        """Of the files and of the hint; 0 when there is nothing."""
        return max([*self.files, self.hinted or 0])

    def current(self) -> list[str]:
        """The file that the table is now, or none; Refused when readers would not agree.

        A hint above all files names one that was lost: it is what the table should be, as the pointer of any
        other catalog to a file that is gone.
        """
        if self.files and self.hinted is not None and self.hinted > max(self.files):
            like = self.files[max(self.files)][0]
            return [f"v{self.hinted}.{like.partition('.')[2]}"]
        return newest([name for names in self.files.values() for name in names], self.hinted)


@dataclass(frozen=True)
class MetadataFolder:
    """One table's; `prefix` ends with a slash."""

    store: Store
    prefix: str

    def look(self) -> Versions:
        """One listing, of what begins as versions and the hint do: manifests do not."""
        names = [stat.key.removeprefix(self.prefix) for stat in self.store.list(f"{self.prefix}v")]
        return Versions(hadoop_versions(names), read_hint(self.store, self.prefix) if HINT in names else None)

    def has_other_metadata(self) -> bool:
        """Metadata files with names of other catalogs, which no reader of Hadoop tables looks at."""
        return any(stat.key.endswith(".metadata.json") for stat in self.store.list(self.prefix))

    def commit(self, number: int, data: bytes) -> None:
        """Take this version, in the order in which Java does; ObjectExists when another has.

        Java's writers stop at a hint that vanished under them, so it goes first.
        """
        self._remove(HINT)
        name = f"v{number}{'.gz' if data.startswith(_GZIP) else ''}.metadata.json"
        self._remove(f".{name}.crc")
        self.store.put_if_absent(f"{self.prefix}{name}", [data])
        if self.look().files[number] != [name]:
            # Another took the number under a name of another compression: nobody has it, and both try again.
            self.store.delete(f"{self.prefix}{name}")
            raise ObjectExists(f"version {number} is there twice in {self.prefix}")
        self.store.make_durable([f"{self.prefix}{name}"])
        self._hint(number)

    def point_at(self, number: int) -> None:
        """Let the hint say this number."""
        if read_hint(self.store, self.prefix) != number:
            self._remove(HINT)
            self._hint(number)

    def _hint(self, number: int) -> None:
        # Where one is again, another writer has gone further; and some buckets take no name again that was deleted.
        with suppress(ObjectExists, Refused):
            self.store.put_if_absent(f"{self.prefix}{HINT}", [str(number).encode()])

    def _remove(self, name: str) -> None:
        # Hadoop's local file system keeps a sum beside each file, and does not read a file that differs from it.
        for each in (name, f".{name}.crc"):
            with suppress(MissingObject):
                self.store.delete(f"{self.prefix}{each}")


def read_hint(store: Store, prefix: str) -> int | None:
    """The number in the hint; none where it is missing or unreadable, for readers do without it too."""
    try:
        return int(store.read(f"{prefix}{HINT}"))
    except (MissingObject, ValueError):
        return None


def number_of(name: str) -> int:
    """The version that a file name says."""
    return next(iter(hadoop_versions([name])))


def with_advice(error: Refused, folder: str) -> Refused:
    """The same, for somebody who named a table and not a folder."""
    advice = f"look into {folder}: if the highest version is the right one, take {HINT} away; of two files take the wrong one away"
    return Refused(error.message, advice)
