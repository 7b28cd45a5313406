"""A Hive Metastore by its uri, and what goes wrong on the way to it; tests/contract asks a real one."""

import gzip
import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hive_metastore.ttypes import InvalidObjectException, MetaException
from pyiceberg.catalog.hive import SchemaToHiveConverter
from pyiceberg.schema import Schema, visit
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UnknownType,
    UUIDType,
)
from thrift.Thrift import TApplicationException, TException

from bergung.catalogs.hive_client import Metastore, metastore
from bergung.catalogs.hive_columns import hive_type, shown
from bergung.errors import BergungError, CorruptFile, NotAllowed, UsageError
from tests.servers.process import HOST, free_port
from tests.servers.without import run_without


@pytest.mark.parametrize(
    ("uri", "hosts"),
    [
        ("thrift://one:9083", [("one", 9083)]),
        ("thrift://one", [("one", 9083)]),
        ("thrift://one:1,thrift://two:2", [("one", 1), ("two", 2)]),
        ("thrift://one:1, two:2,three", [("one", 1), ("two", 2), ("three", 9083)]),
        ("thrift://[::1]:5", [("::1", 5)]),
    ],
)
def test_a_uri_names_its_hosts(uri: str, hosts: list[tuple[str, int]]) -> None:
    assert list(metastore({"uri": uri}).hosts) == hosts


@pytest.mark.parametrize("uri", ["", "thrift://", "thrift://one:port", "http://one:9083", "thrift://one:9083,", "thrift:one"])
def test_what_names_no_host_is_told(uri: str) -> None:
    with pytest.raises(UsageError, match="not the uri of a Hive Metastore") as told:
        metastore({"uri": uri})
    assert "thrift://host:9083" in told.value.hint


def test_users_and_kerberos_are_those_of_pyiceberg() -> None:
    assert metastore({"uri": "thrift://one"}) == Metastore((("one", 9083),))
    assert metastore({"uri": "thrift://one", "ugi": "anna:staff:lake"}).user == ("anna", "staff", "lake")
    assert metastore({"uri": "thrift://one", "hive.kerberos-authentication": "true"}).kerberos_service == "hive"
    named = {"hive.kerberos-authentication": "true", "hive.kerberos-service-name": "meta"}
    assert metastore({"uri": "thrift://one", **named}).kerberos_service == "meta"
    assert metastore({"uri": "thrift://one", "hive.kerberos-service-name": "meta"}).kerberos_service == ""


def refused(source: Metastore, kind: type[BergungError], words: str) -> BergungError:
    with pytest.raises(kind, match=words) as told, source.asked() as client:
        client.get_all_databases()
    assert told.type is kind
    assert told.value.hint
    return told.value


def test_a_server_that_is_not_there_is_told_and_nothing_logged(caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    refused(Metastore(((HOST, port),)), BergungError, f"the metastore is not there: thrift://{HOST}:{port}")
    refused(Metastore((("no-host.invalid", 1),)), UsageError, "there is no such host: thrift://no-host.invalid:1")
    # Without a handler of its own, Python would print what it logs.
    assert logging.getLogger("thrift").hasHandlers()
    assert any(isinstance(each, logging.NullHandler) for each in logging.getLogger("thrift").handlers)


@contextmanager
def server(answer: Callable[[socket.socket], object]) -> Iterator[int]:
    """Takes one connection after the other, and does this with it."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen()

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    with server(lambda connection: connection.recv(65536) and connection.recv(1)) as port:
        refused(Metastore(((HOST, port),), patience_seconds=0.3), BergungError, "did not answer in time")


def test_a_server_that_hangs_up_is_told() -> None:
    with server(lambda connection: connection.recv(65536)) as port:
        refused(Metastore(((HOST, port),)), BergungError, "went away")


def test_a_server_of_another_kind_is_told() -> None:
    nothing = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
    with server(lambda connection: (connection.recv(65536), connection.sendall(nothing))) as port:
        refused(Metastore(((HOST, port),)), BergungError, "no Hive Metastore that is known")


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (MetaException("AccessControlException Permission denied: user=anna"), NotAllowed, "does not allow this: Access"),
        (InvalidObjectException("a b is not a valid object name"), UsageError, "cannot hold this: a b is not"),
        (MetaException("No FileSystem for scheme: nofs"), BergungError, "failed: No FileSystem for scheme"),
        (TApplicationException(TApplicationException.INTERNAL_ERROR, "processing"), BergungError, "failed: processing"),
        (
            TApplicationException(TApplicationException.UNKNOWN_METHOD, "get_table_req"),
            BergungError,
            "no Hive Metastore that is known",
        ),
        (OSError("no buffer space"), BergungError, "failed: no buffer space"),
        (TException("strange"), BergungError, "failed: strange"),
    ],
)
def test_what_a_metastore_says_is_told(error: Exception, kind: type[BergungError], words: str) -> None:
    with server(lambda connection: connection.recv(1)) as port:
        with pytest.raises(kind, match=words) as told, Metastore(((HOST, port),)).asked():
            raise error
    assert told.type is kind


PLAIN: list[IcebergType] = [
    BooleanType(),
    IntegerType(),
    LongType(),
    FloatType(),
    DoubleType(),
    DecimalType(9, 2),
    DateType(),
    TimeType(),
    TimestampType(),
    TimestamptzType(),
    StringType(),
    UUIDType(),
    FixedType(16),
    BinaryType(),
    UnknownType(),
]


def test_types_are_shown_as_pyiceberg_shows_them() -> None:
    inner = StructType(*(NestedField(100 + number, f"f{number}", kind) for number, kind in enumerate(PLAIN)))
    kinds = [*PLAIN, inner, ListType(1, inner), MapType(1, StringType(), 2, ListType(3, LongType()))]
    for kind in kinds:
        written = json.loads(kind.model_dump_json())
        assert hive_type(written) == visit(kind, SchemaToHiveConverter(False))


@pytest.mark.parametrize("kind", ["variant", "geometry(srid:4326)", "geography", "timestamp_ns", {"type": "new"}])
def test_types_that_others_do_not_know_are_shown_as_something(kind: object) -> None:
    assert hive_type(kind) in ("binary", "timestamp")


def test_a_metadata_file_shows_its_current_columns(tmp_path: Path) -> None:
    schema = Schema(NestedField(1, "value", LongType(), doc="how much"), NestedField(2, "name", StringType()))
    fields = json.loads(schema.model_dump_json())["fields"]
    old = {"location": "s3://lake/t", "schema": {"type": "struct", "fields": fields}}
    schemas = [{"schema-id": 0, "fields": []}, {"schema-id": 1, "fields": fields}]
    new = {"location": "s3://lake/t", "schemas": schemas, "current-schema-id": 1}
    for content in (json.dumps(old).encode(), json.dumps(new).encode(), gzip.compress(json.dumps(new).encode())):
        found = shown(content, "path")
        assert found.location == "s3://lake/t"
        assert found.columns == (("value", "bigint", "how much"), ("name", "string", None))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b"{}",
        b'{"schemas": [], "current-schema-id": 1}',
        b"\x1f\x8bnone",
        gzip.compress(b"{}")[:12],
        b"\xff\xfe",
    ],
)
def test_what_is_no_metadata_file_is_told(content: bytes) -> None:
    with pytest.raises(CorruptFile, match="not a metadata file: path"):
        shown(content, "path")


def test_missing_packages_are_told_with_their_cure(tmp_path: Path) -> None:
    said = run_without(
        ("thrift",),
        """
import os
os.environ["PYICEBERG_CATALOG__LAKE__URI"] = "thrift://127.0.0.1:1"
from bergung.catalogs.settings import open_catalog
from bergung.errors import UsageError
try:
    open_catalog("lake")
except UsageError as error:
    print(error.message, "|", error.hint)
""",
        tmp_path,
    )
    assert said == "the catalog lake needs a package that is not installed: thrift | pip install 'bergung[hive]'\n"


def test_kerberos_without_its_package_is_told_with_its_cure(tmp_path: Path) -> None:
    said = run_without(
        ("puresasl", "pure_sasl", "kerberos"),
        """
from bergung.catalogs.hive_client import Metastore
from bergung.errors import UsageError
try:
    Metastore((("127.0.0.1", 1),), kerberos_service="hive").asked().__enter__()
except UsageError as error:
    print(error.message, "|", error.hint)
""",
        tmp_path,
    )
    assert said == "Kerberos needs a package that is not installed: puresasl | pip install 'pyiceberg[hive-kerberos]'\n"
