"""SQL catalogs in a PostgreSQL database, opened as PyIceberg opens it through SQLAlchemy: same uri, same drivers."""

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

from bergung.catalogs.database import Rows
from bergung.catalogs.declaration import Declaration, declared_access
from bergung.catalogs.postgres_errors import Place, told
from bergung.catalogs.sql import SqlCatalog
from bergung.errors import UsageError

_DRIVERS = {"postgresql": ("psycopg2", "psycopg"), "postgresql+psycopg2": ("psycopg2",), "postgresql+psycopg": ("psycopg",)}
_FORM = "write postgresql+psycopg2://user:password@host:5432/database, with %40 for an @ in user or password"
_NAMED = re.compile(r":(\w+)")
_TURNS = 0x62657267756E67
"""The advisory lock by which our writers take turns: two that make the tables at once would both fail, IF NOT EXISTS or not."""
_PATIENCE = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
"""Without these a server that is cut off is waited for during hours."""


class Connection:
    """Either driver's, with values by name as SQLite has them."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def execute(self, statement: str, values: Mapping[str, str] | None = None, /) -> Rows:
        """Carry out one statement."""
        cursor = self._raw.cursor()
        cursor.execute(_NAMED.sub(r"%(\1)s", statement), values)
        found: Rows = cursor
        return found

    def columns(self, table: str) -> list[str]:
        """Of the table that the name means: the first on the search path."""
        rows = self.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(:table) AND attnum > 0 AND NOT attisdropped",
            {"table": table},
        )
        return [name for (name,) in rows]


@dataclass(frozen=True)
class Database:
    """Where it is and how it is entered, as the driver takes it; a connection of its own for each transaction."""

    drivers: tuple[str, ...]
    options: Mapping[str, str] = field(repr=False)
    wait_seconds: float = 10

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One read transaction: everything that is asked inside is of one instant."""
        with self._opened("ISOLATION LEVEL REPEATABLE READ READ ONLY") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """All that is done inside, or nothing when an error leaves it."""
        with self._opened("ISOLATION LEVEL READ COMMITTED") as connection:
            connection.execute(f"SELECT pg_advisory_xact_lock({_TURNS})")
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _opened(self, transaction: str) -> Iterator[Connection]:
        driver = _driver(self.drivers)
        try:
            with closing(driver.connect(**self.options)) as raw:
                raw.autocommit = True
                connection = Connection(raw)
                connection.execute(f"BEGIN {transaction}")
                connection.execute(f"SET LOCAL lock_timeout = {round(self.wait_seconds * 1000)}")
                connection.execute("SET LOCAL statement_timeout = 60000")
                yield connection
        except driver.Error as error:
            raise told(error, Place.of(self.options)) from error


def open_declared(declaration: Declaration) -> SqlCatalog:
    """In the database of the declaration's uri."""
    access = declared_access(declaration)
    return SqlCatalog(declaration.name, database(declaration.uri), declaration.clock, access)


def database(uri: str) -> Database:
    """The database that PyIceberg, through SQLAlchemy, would open for this uri."""
    # Imported here: it costs more than all else, and the sessions of SQLAlchemy are not used.
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import SQLAlchemyError

    try:
        url = make_url(uri)
        drivers = _DRIVERS.get(url.drivername, ())
        dialect = url.set(drivername="postgresql+psycopg2").get_dialect()()
        options = dialect.create_connect_args(url)[1]
    except (SQLAlchemyError, ValueError) as error:
        # What SQLAlchemy says of it may hold the password.
        raise UsageError("not the uri of a PostgreSQL database", _FORM) from error
    if not drivers:
        raise UsageError(f"no driver of this version: {url.drivername}", _FORM)
    if "@" in str(options.get("host", "")):
        raise UsageError("not the uri of a PostgreSQL database: an @ in its host", _FORM)
    texts = {key: str(value) for key, value in options.items()}
    return Database(drivers, {"client_encoding": "utf8", **_PATIENCE, **texts})


def _driver(names: tuple[str, ...]) -> ModuleType:
    """The first that is there; imported only when a database is opened."""
    for name in names:
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
    install = "bergung[postgres]" if "psycopg2" in names else "psycopg[binary]"
    raise UsageError(f"the driver of PostgreSQL is not installed: {names[0]}", f"pip install '{install}'")
