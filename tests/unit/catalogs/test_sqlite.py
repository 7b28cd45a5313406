"""A SQLite file by its uri, and what goes wrong with it."""

import multiprocessing
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import mkdtemp

import pytest
from sqlalchemy.engine import create_engine

from bergung.catalogs.sqlite import Database, database
from bergung.errors import BergungError, Busy, CorruptFile, NotAllowed, UsageError


def make(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        for statement in ("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)", *statements):
            connection.execute(statement)
        connection.commit()
    return path


def ask(source: Database) -> list[object]:
    with source.reading() as connection:
        return [x for (x,) in connection.execute("SELECT x FROM t")]


def write(target: Database) -> None:
    with target.writing() as connection:
        connection.execute("INSERT INTO t VALUES (2)")


@pytest.mark.parametrize(
    "form",
    [
        "sqlite:///{}/lake.db",
        "sqlite+pysqlite:///{}/lake.db",
        "sqlite:///{}/lake.db?timeout=3&check_same_thread=false",
        "sqlite:///lake.db",
        "sqlite:///./lake.db",
        "sqlite:///{}/a b, c+d;é😀.db",
        "sqlite:///{}/a%20b.db",
        "sqlite:///{}/100%25.db",
        "sqlite:///{}/a#b.db",
        "sqlite:///{}/a@b:c.db",
        "sqlite:///file:{}/lake.db?uri=true",
        "sqlite:///file:{}/lake.db?mode=ro&uri=true",
        "sqlite:///file:{}/lake.db?mode=rwc&uri=true&cache=private",
        "sqlite:///file://{}/lake.db?uri=true",
        "sqlite:///file://localhost{}/lake.db?uri=true",
        "sqlite:///file:{}/a%2520b.db?uri=true",
        "sqlite:///file:lake.db?uri=true",
    ],
)
def test_a_uri_opens_the_file_that_sqlalchemy_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.chdir(tmp_path)
    uri = form.format(tmp_path)
    engine = create_engine(uri.replace("mode=ro", "mode=rwc"))
    with closing(engine.raw_connection()) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.execute("INSERT INTO t VALUES ('theirs')")
        connection.commit()
    engine.dispose()
    assert len(list(tmp_path.iterdir())) == 1
    assert ask(database(uri)) == ["theirs"]
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "uri",
    [
        "sqlite:/tmp/lake.db",
        "sqlite://host/lake.db",
        "sqlite://tmp/lake.db",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///file:memory?mode=memory&cache=shared&uri=true",
        "sqlite:///file::memory:?uri=true",
        "postgresql://user@host/db",
    ],
)
def test_what_names_no_file_is_told(uri: str) -> None:
    with pytest.raises(UsageError) as told:
        database(uri)
    assert "sqlite:////absolute/path.db" in told.value.hint


def test_the_options_of_sqlite_are_kept(tmp_path: Path) -> None:
    path = make(tmp_path / "lake.db")
    read_only = database(f"sqlite:///file:{path}?mode=ro&uri=true")
    assert ask(read_only) == [1]
    with pytest.raises(NotAllowed, match="cannot be written") as told:
        write(read_only)
    assert "mode=ro" in told.value.hint
    write(database(f"sqlite:///file:{path}?mode=rwc&uri=true"))
    assert ask(read_only) == [1, 2]


def test_a_missing_file_is_told_and_not_made(tmp_path: Path) -> None:
    for path in (tmp_path / "typo.db", tmp_path / "typo" / "lake.db", make(tmp_path / "a.db") / "lake.db"):
        for action in (ask, write):
            with pytest.raises(UsageError, match="does not exist") as told:
                action(Database(path))
            assert str(path) in told.value.message
            assert told.value.hint.endswith(f"touch {path}")
    with pytest.raises(UsageError) as told:
        ask(Database(tmp_path / "my lake.db"))
    assert told.value.hint.endswith(f"touch '{tmp_path}/my lake.db'")
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]


@pytest.mark.parametrize("query", ["uri=true", "mode=rwc&uri=true"])
def test_a_file_that_goes_away_after_we_looked_is_not_made_again(tmp_path: Path, query: str) -> None:
    gone = database(f"sqlite:///file:{tmp_path}/lake.db?{query}")
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        gone._connect()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a file"):
        ask(Database(tmp_path))


def test_a_file_of_another_kind_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "lake.db"
    path.write_text("catalog:\n" * 1000)
    with pytest.raises(UsageError, match="not a SQLite database"):
        ask(Database(path))


def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    path = make(tmp_path / "lake.db", *(f"INSERT INTO t VALUES ('{'x' * 900}{number}')" for number in range(50)))
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xee" * (len(content) - 4096))
    with pytest.raises(CorruptFile, match="is damaged"):
        ask(Database(path))


def test_a_wrong_statement_is_told_as_an_error_of_ours(tmp_path: Path) -> None:
    path = make(tmp_path / "lake.db", "INSERT INTO t VALUES (CAST(x'ff' AS TEXT))")
    with pytest.raises(BergungError, match="UTF-8"):
        ask(Database(path))


def test_reading_cannot_write(tmp_path: Path) -> None:
    path = make(tmp_path / "lake.db")
    with pytest.raises(NotAllowed), Database(path).reading() as connection:
        connection.execute("INSERT INTO t VALUES (2)")
    assert ask(Database(path)) == [1]


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    path = make(tmp_path / "lake.db")
    with pytest.raises(Busy, match="on the way"), Database(path).writing() as connection:
        connection.execute("INSERT INTO t VALUES (2)")
        raise Busy("on the way")
    assert ask(Database(path)) == [1]
    write(Database(path, wait_seconds=0))
    assert ask(Database(path)) == [1, 2]


def test_a_lock_is_waited_for_then_told(tmp_path: Path) -> None:
    path = make(tmp_path / "lake.db")
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for action in (ask, write):
            with pytest.raises(Busy, match="is locked"):
                action(Database(path, wait_seconds=0.05))
        ends = threading.Timer(0.3, other.execute, ["COMMIT"])
        ends.start()
        write(Database(path))
        ends.join()
    assert ask(Database(path)) == [1, 2]
    assert Database(path).wait_seconds == 10


def test_writers_take_turns_from_their_beginning(tmp_path: Path) -> None:
    """Else what one has read may be old when it writes."""
    path = make(tmp_path / "lake.db")
    with Database(path).writing() as connection:
        connection.execute("SELECT x FROM t").fetchall()
        with pytest.raises(Busy), Database(path, wait_seconds=0).writing():
            pass


def test_a_reader_does_not_stop_a_writer_of_a_log(tmp_path: Path) -> None:
    path = make(tmp_path / "lake.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        with Database(path).reading() as connection:
            assert connection.execute("SELECT count(*) FROM t").fetchone() == (1,)
            other.execute("INSERT INTO t VALUES (2)")
            assert connection.execute("SELECT count(*) FROM t").fetchone() == (1,)
        assert ask(Database(path)) == [1, 2]


def test_what_a_killed_writer_left_is_undone_by_reading(tmp_path: Path) -> None:
    path = make(tmp_path / "lake.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA cache_size = 1")
        other.execute("BEGIN IMMEDIATE")
        other.executemany("INSERT INTO t VALUES (?)", [("x" * 3000,)] * 50)
        for name in ("lake.db", "lake.db-journal"):
            shutil.copy(tmp_path / name, tmp_path / f"killed-{name}")
    killed = tmp_path / "killed-lake.db"
    assert killed.stat().st_size > 100_000
    assert ask(Database(killed)) == [1]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Where every user may look, unlike pytest's own folders."""
    folder = Path(mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_file_that_may_only_be_read_is_read_and_not_written(open_folder: Path) -> None:
    path = make(open_folder / "lake.db")
    path.chmod(0o444)
    assert as_nobody(ask, path) == [1]
    assert as_nobody(write, path) == "NotAllowed: the catalog's database cannot be written"
    assert ask(Database(path)) == [1]


def test_a_folder_in_which_nothing_may_be_made_refuses_writes(open_folder: Path) -> None:
    path = make(open_folder / "lake.db")
    path.chmod(0o666)
    assert as_nobody(ask, path) == [1]
    assert str(as_nobody(write, path)).startswith("NotAllowed: ")


def test_no_permission_is_told(open_folder: Path) -> None:
    path = make(open_folder / "lake.db")
    path.chmod(0o600)
    assert as_nobody(ask, path) == "NotAllowed: no permission for the catalog's database"
    open_folder.chmod(0o700)
    assert as_nobody(ask, path) == "NotAllowed: no permission for the catalog's database"


def as_nobody(action: Callable[[Database], object], path: Path) -> object:
    """Carried out by a process without any rights of its own; for an ordinary user the file's mode is enough."""
    theirs, ours = multiprocessing.Pipe()
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_powerless, args=(action, path, theirs))
    process.start()
    answer = ours.recv()
    process.join()
    return answer


def _powerless(action: Callable[[Database], object], path: Path, answers: Connection) -> None:
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        answers.send(action(Database(path)))
    except BergungError as error:
        answers.send(f"{type(error).__name__}: {error.message.partition(':')[0]}")
