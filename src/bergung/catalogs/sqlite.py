"""SQL catalogs in a SQLite file as PyIceberg's configuration names it: never created by opening it, its errors told as ours."""

import re
import shlex
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode

from bergung.catalogs.declaration import Declaration, declared_access
from bergung.catalogs.sql import SqlCatalog
from bergung.errors import BergungError, Busy, CorruptFile, NotAllowed, UsageError

_URI = re.compile(r"sqlite(?:\+\w+)?://(?P<host>[^/?]*)(?:/(?P<database>[^?]*))?(?:\?(?P<query>.*))?", re.DOTALL)
_FORMS = "write sqlite:////absolute/path.db or sqlite:///relative/path.db"


class Connection(sqlite3.Connection):
    """Python's own, and it tells the columns of a table."""

    def columns(self, table: str) -> list[str]:
        """The names of its columns; none when there is no such table."""
        return [name for (name,) in self.execute("SELECT name FROM pragma_table_info(:table)", {"table": table})]


@dataclass(frozen=True)
class Database:
    """One file; `options` are SQLite's own, such as mode=ro."""

    path: Path
    options: tuple[tuple[str, str], ...] = ()
    wait_seconds: float = 10

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One read transaction: everything that is asked inside is of one instant."""
        with self._opened() as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """All that is done inside, or nothing when an error leaves it."""
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _opened(self) -> Iterator[Connection]:
        _look_at(self.path)
        try:
            with closing(self._connect()) as connection:
                yield connection
        except sqlite3.Error as error:
            raise _told(error, self.path) from error

    def _connect(self) -> Connection:
        # "rw" never creates. It reads a file it may not write as well, and unlike "ro" it can finish or undo
        # what a writer that died has left, as any other reader of the file would.
        options = {"mode": "rw", **dict(self.options)}
        uri = f"file:{quote(str(self.path))}?{urlencode(options, quote_via=quote)}"
        return sqlite3.connect(uri, uri=True, timeout=self.wait_seconds, isolation_level=None, factory=Connection)


def open_declared(declaration: Declaration) -> SqlCatalog:
    """In the file of the declaration's uri."""
    access = declared_access(declaration)
    return SqlCatalog(declaration.name, database(declaration.uri), declaration.clock, access)


def database(uri: str) -> Database:
    """The file that PyIceberg, through SQLAlchemy, would open for this uri."""
    found = _URI.fullmatch(uri)
    if found is None or found["host"]:
        raise UsageError("not the uri of a SQLite file", _FORMS)
    name = _unescaped(found["database"] or "", uri)
    query = dict(parse_qsl(found["query"] or ""))
    options: dict[str, str] = {}
    if query.get("uri", "").lower() in ("true", "1", "yes", "on", "y", "t"):
        name, inner = _file_uri(name)
        # Some are meant for Python's driver; SQLite passes over what it does not know.
        options = inner | query
    if name in ("", ":memory:") or options.get("mode") == "memory":
        raise UsageError("a SQLite database in memory holds no catalog that others could share", _FORMS)
    if options.get("mode") == "rwc":
        del options["mode"]
    return Database(Path(name).absolute(), tuple(sorted(options.items())))


def _unescaped(name: str, uri: str) -> str:
    if "%" not in name:
        return name
    # SQLAlchemy 2.1 reads %20 in a path as a space, 2.0 as three letters: only the one that is installed knows.
    # Imported here because it costs more than everything else that an opening does.
    from sqlalchemy.engine import make_url

    return make_url(uri).database or ""


def _file_uri(name: str) -> tuple[str, dict[str, str]]:
    """SQLite's own file: form, as far as a path can be told from it."""
    if not name.startswith("file:"):
        return name, {}
    path, _, query = name.removeprefix("file:").partition("?")
    if path.startswith("//"):
        path = "/" + path[2:].partition("/")[2]
    return unquote(path), dict(parse_qsl(query))


def _look_at(path: Path) -> None:
    """Tell a wrong path before SQLite does: its one answer to all of them is `unable to open`."""
    try:
        mode = path.stat().st_mode
    except PermissionError as error:
        raise _not_allowed(path) from error
    except OSError as error:
        raise UsageError(
            f"the catalog's database does not exist: {path}",
            f"check the catalog's uri in the PyIceberg configuration; for a new, empty catalog: touch {_quoted(path)}",
        ) from error
    if not stat.S_ISREG(mode):
        raise UsageError(f"not a file: {path}", "check the catalog's uri in the PyIceberg configuration")


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _not_allowed(path: Path) -> NotAllowed:
    return NotAllowed(
        f"no permission for the catalog's database: {path}",
        f"look at the rights of the file and of its folder: ls -la {_quoted(path.parent)}",
    )


def _told(error: sqlite3.Error, path: Path) -> BergungError:
    # The low byte is SQLite's primary code; above it stand finer ones that change nothing here.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Busy(f"the catalog's database is locked: {path}", "another program writes to it; try again in a moment")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return _not_allowed(path)
    if code == sqlite3.SQLITE_READONLY:
        return NotAllowed(
            f"the catalog's database cannot be written: {path}",
            "look at the rights of the file and of its folder, and for mode=ro in the catalog's uri",
        )
    if code == sqlite3.SQLITE_NOTADB:
        return UsageError(f"not a SQLite database: {path}", "check the catalog's uri in the PyIceberg configuration")
    if code == sqlite3.SQLITE_CORRUPT:
        return CorruptFile(
            f"the catalog's database is damaged: {path}",
            f"bring the file back from a copy; what can still be read: sqlite3 {_quoted(path)} .recover",
        )
    return BergungError(f"the catalog's database {path} says: {error}", "try again; look at the disk and at the file")
