"""Iceberg's own `rewrite_table_path`, and what its manual says to do with what it makes: copy as planned, then register."""

import csv
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import Lake
from two_lakes import local

from maintenance import current_file


@dataclass(frozen=True)
class Procedure:
    """From one lake into a folder of its own."""

    lake: Lake
    folder: Path
    """Where the tables go."""

    def location(self, table: str) -> str:
        return str(current_file(self.lake.spark, self.lake.full(table)).metadata["location"])

    def rewritten(self, table: str, target: Path, **more: str) -> "Rewritten":
        """One call; `more` are further arguments."""
        staging = self.folder / f"staging-{target.name}-{len(more)}"
        arguments = {"table": table, "source_prefix": self.location(table), "target_prefix": f"file:{target}"}
        arguments |= {"staging_location": f"file:{staging}", **more}
        said = ", ".join(f"{name} => '{value}'" for name, value in arguments.items())
        (row,) = self.lake.spark.sql(f"CALL {self.lake.name}.system.rewrite_table_path({said})").collect()
        return Rewritten(target, row["latest_version"], row["file_list_location"])

    def table(self, name: str, target: Path, **more: str) -> str:
        """Rewritten, copied, registered; the new table's name."""
        made = self.rewritten(name, target, **more)
        made.copy()
        return self.register(f"db.{target.name}", made.metadata)

    def register(self, name: str, metadata: Path) -> str:
        self.lake.sql(f"CALL {self.lake.name}.system.register_table(table => '{name}', metadata_file => 'file:{metadata}')")
        return self.lake.full(name)

    def rows(self, table: str, columns: str = "*") -> list[Any]:
        return sorted(tuple(row) for row in self.lake.spark.sql(f"SELECT {columns} FROM {table}").collect())


@dataclass(frozen=True)
class Rewritten:
    """What a call answered."""

    target: Path
    latest_version: str
    file_list: str

    @property
    def metadata(self) -> Path:
        return next(self.target.rglob(self.latest_version))

    def plan(self) -> list[list[str]]:
        """The pairs to copy, as they are written: comma-separated."""
        place = local(self.file_list)
        files = [place] if place.is_file() else sorted(place.glob("part-*"))
        return [row for file in files for row in csv.reader(file.read_text().splitlines(), quoting=csv.QUOTE_NONE)]

    def copy(self) -> None:
        for source, target in self.plan():
            local(target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(local(source), local(target))
