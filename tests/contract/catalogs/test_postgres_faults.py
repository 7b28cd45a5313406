"""A PostgreSQL database by its uri, and what goes wrong with it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg2
import pytest
from sqlalchemy.engine import create_engine

from bergung.catalogs.postgres import Database, database
from bergung.errors import BergungError, Busy, NotAllowed, UsageError
from tests.servers.postgres import PASSWORD, Postgres, postgres
from tests.servers.process import HOST, free_port
from tests.servers.without import run_without

SECRETS = (PASSWORD, "p%40ss", "ss/w", "w:rd")


@pytest.fixture
def fresh(postgres_server: Postgres) -> Postgres:
    found = postgres_server.new()
    found.execute("CREATE TABLE t (x int)", "INSERT INTO t VALUES (1)")
    return found


def ask(source: Database) -> list[object]:
    with source.reading() as connection:
        return [x for (x,) in connection.execute("SELECT x FROM t ORDER BY x")]


def write(target: Database) -> None:
    with target.writing() as connection:
        connection.execute("INSERT INTO t VALUES (2)")


@contextmanager
def other(server: Postgres) -> Iterator["psycopg2.extensions.cursor"]:
    with closing(server.connect()) as connection:
        yield connection.cursor()
        connection.commit()


def refused(source: Database, kind: type[BergungError], words: str) -> BergungError:
    with pytest.raises(kind, match=words) as told:
        ask(source)
    assert told.type is kind
    assert told.value.hint
    assert not any(secret in told.value.message + told.value.hint for secret in SECRETS)
    return told.value


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg2", "postgresql+psycopg"])
def test_a_uri_opens_the_database_that_sqlalchemy_opens(fresh: Postgres, scheme: str) -> None:
    uri = fresh.uri.replace("postgresql+psycopg2", scheme)
    engine = create_engine(uri.replace("postgresql:", "postgresql+psycopg:"))
    with closing(engine.raw_connection()) as connection:
        connection.cursor().execute("INSERT INTO t VALUES (7)")
        connection.commit()
    engine.dispose()
    assert ask(database(uri)) == [1, 7]
    write(database(uri))
    assert ask(database(uri)) == [1, 2, 7]


def test_what_stands_behind_the_question_mark_is_used(fresh: Postgres) -> None:
    fresh.execute("CREATE SCHEMA lake", "CREATE TABLE lake.t (x int)", "INSERT INTO lake.t VALUES (5)")
    assert ask(database(f"{fresh.uri}?options=-csearch_path%3Dlake")) == [5]
    with database(f"{fresh.uri}?options=-csearch_path%3Dlake").reading() as connection:
        assert connection.columns("t") == ["x"]
        assert connection.columns("u") == []
    refused(database(f"{fresh.uri}?sslmode=require"), UsageError, "cannot be opened with these settings.*SSL")
    refused(database(f"{fresh.uri}?nonsense=1"), UsageError, "cannot be opened with these settings.*nonsense")
    refused(database(f"{fresh.uri}?connect_timeout=x"), UsageError, "cannot be opened with these settings.*connect_timeout")


def test_the_second_host_is_asked_when_the_first_is_not_there(fresh: Postgres) -> None:
    head = fresh.uri.partition("@")[0]
    uri = f"{head}@/{fresh.database}?host={HOST}:{free_port()}&host={HOST}:{fresh.port}"
    assert ask(database(uri)) == [1]


@pytest.mark.parametrize(
    "uri",
    [
        "postgresql://u:p@ss@host/db",
        "postgresql://u:p@host:port/db",
        "postgresql+asyncpg://u:p@host/db",
        "postgresql+nonsense://u:p@host/db",
        "postgresql:p@ss",
    ],
)
def test_what_names_no_database_is_told_without_the_password(uri: str) -> None:
    with pytest.raises(UsageError) as told:
        database(uri)
    assert "postgresql+psycopg2://user:password@host:5432/database" in told.value.hint
    assert "ss" not in told.value.message.replace("psycopg", "").replace("password", "")


def test_no_password_is_shown(fresh: Postgres) -> None:
    assert PASSWORD not in repr(database(fresh.uri))


def test_who_is_not_let_in_is_told(fresh: Postgres) -> None:
    refused(database(fresh.uri.replace("p%40ss", "other")), NotAllowed, "does not let in the user owner")
    refused(database(fresh.uri.replace("owner:", "nobody:")), NotAllowed, "does not let in the user nobody")


def test_what_is_not_there_is_told(fresh: Postgres) -> None:
    told = refused(database(fresh.uri + "typo"), UsageError, f"there is no such database: {HOST}:{fresh.port}/{fresh.database}typo")
    assert f"psql -h {HOST} -p {fresh.port} -l" in told.hint
    refused(database(fresh.uri.replace(HOST, "no-host.invalid")), UsageError, "there is no such host: no-host.invalid")
    port = free_port()
    told = refused(database(fresh.uri.replace(str(fresh.port), str(port))), BergungError, f"is not there: {HOST}:{port}/")
    assert f"pg_isready -h {HOST} -p {port}" in told.hint


def test_a_server_that_says_nothing_is_not_waited_for(fresh: Postgres) -> None:
    with socket.socket() as silent:
        silent.bind((HOST, 0))
        silent.listen()
        uri = fresh.uri.replace(str(fresh.port), str(silent.getsockname()[1]))
        refused(database(f"{uri}?connect_timeout=2"), BergungError, "did not answer in time")


def test_a_user_without_rights_is_told(fresh: Postgres) -> None:
    fresh.execute(f"DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'")
    reader = replace(fresh, user="reader")
    told = refused(database(reader.uri), NotAllowed, "does not allow this to the user reader.*permission denied for table t")
    assert "SELECT on iceberg_tables" in told.hint
    fresh.execute("GRANT SELECT ON t TO reader")
    assert ask(database(reader.uri)) == [1]
    with pytest.raises(NotAllowed, match="does not allow this to the user reader"):
        write(database(reader.uri))


def test_reading_cannot_write(fresh: Postgres) -> None:
    with pytest.raises(NotAllowed, match="cannot be written") as told, database(fresh.uri).reading() as connection:
        connection.execute("INSERT INTO t VALUES (2)")
    assert "not a standby" in told.value.hint
    assert ask(database(fresh.uri)) == [1]


def test_all_that_is_asked_in_one_reading_is_of_one_instant(fresh: Postgres) -> None:
    with database(fresh.uri).reading() as connection:
        assert list(connection.execute("SELECT count(*) FROM t")) == [(1,)]
        fresh.execute("INSERT INTO t VALUES (2)")
        assert list(connection.execute("SELECT count(*) FROM t")) == [(1,)]
    assert ask(database(fresh.uri)) == [1, 2]


def test_a_write_that_fails_leaves_nothing(fresh: Postgres) -> None:
    with pytest.raises(Busy, match="on the way"), database(fresh.uri).writing() as connection:
        connection.execute("INSERT INTO t VALUES (2)")
        raise Busy("on the way")
    assert ask(database(fresh.uri)) == [1]


def test_a_lock_is_waited_for_then_told(fresh: Postgres) -> None:
    with other(fresh) as cursor:
        cursor.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        for action in (ask, write):
            with pytest.raises(Busy, match="is locked"):
                action(replace(database(fresh.uri), wait_seconds=0.1))
        ends = threading.Timer(0.3, cursor.connection.commit)
        ends.start()
        write(database(fresh.uri))
        ends.join()
    assert ask(database(fresh.uri)) == [1, 2]


def test_writers_take_turns(fresh: Postgres) -> None:
    with database(fresh.uri).writing(), pytest.raises(Busy, match="is locked"):
        write(replace(database(fresh.uri), wait_seconds=0.1))
    assert ask(database(fresh.uri)) == [1]


def test_what_is_too_long_or_there_already_is_told(fresh: Postgres) -> None:
    fresh.execute("CREATE TABLE u (x varchar(3) PRIMARY KEY)", "INSERT INTO u VALUES ('a')")
    for value, kind in (("abcd", UsageError), ("a", Busy)):
        with pytest.raises(kind), database(fresh.uri).writing() as connection:
            connection.execute("INSERT INTO u VALUES (:value)", {"value": value})


def test_a_server_that_goes_away_or_takes_nobody_is_told(postgres_server: Postgres) -> None:
    with postgres(max_connections=4) as own:
        with pytest.raises(BergungError, match="went away"), database(own.uri).reading() as connection:
            own.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'owner'"
            )
            connection.execute("SELECT 1")
        with other(own), other(own), other(own), other(own):
            refused(database(own.uri), Busy, "takes nobody at this moment")


def test_a_missing_driver_is_told_with_its_cure(tmp_path: Path) -> None:
    said = run_without(
        ("psycopg",),
        """
from bergung.catalogs.postgres import database
from bergung.errors import UsageError
for driver in ("", "+psycopg2", "+psycopg"):
    try:
        database(f"postgresql{driver}://u@127.0.0.1/db").reading().__enter__()
    except UsageError as error:
        print(error.message, "|", error.hint)
""",
        tmp_path,
    )
    assert said.splitlines() == [
        "the driver of PostgreSQL is not installed: psycopg2 | pip install 'bergung[postgres]'",
        "the driver of PostgreSQL is not installed: psycopg2 | pip install 'bergung[postgres]'",
        "the driver of PostgreSQL is not installed: psycopg | pip install 'psycopg[binary]'",
    ]
