"""What a metastore keeps of tables and databases, and which of it is Iceberg's."""

import getpass
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from hive_metastore.ttypes import (
    ClientCapabilities,
    ClientCapability,
    Database,
    FieldSchema,
    GetTableRequest,
    GetTablesRequest,
    NoSuchObjectException,
    PrincipalType,
    SerDeInfo,
    StorageDescriptor,
    Table,
    UnknownDBException,
)

from bergung.catalogs.base import Namespace
from bergung.catalogs.hive_columns import Shown
from bergung.model.names import TableName

POINTER = "metadata_location"
PREVIOUS = "previous_metadata_location"
AT_ONCE = 500
"""So many tables in one answer: a table of a thousand columns is half a megabyte of it."""
_CAPABILITIES = ClientCapabilities([ClientCapability.INSERT_ONLY_TABLES])
"""Without this one transactional table of Hive's would make the metastore refuse a whole list."""
_OWNER, _OWNER_TYPE = "hive.metastore.database.owner", "hive.metastore.database.owner-type"
_SERDE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
_INPUT, _OUTPUT = "org.apache.hadoop.mapred.FileInputFormat", "org.apache.hadoop.mapred.FileOutputFormat"


def is_table(entry: Table) -> bool:
    """An Iceberg table; Hive's own are none of ours."""
    return _kind(entry) == "iceberg"


def is_view(entry: Table) -> bool:
    """Iceberg's or Hive's own."""
    return _kind(entry) == "iceberg-view" or entry.tableType == "VIRTUAL_VIEW"


def _kind(entry: Table) -> str:
    return str((entry.parameters or {}).get("table_type", "")).lower()


def entry_of(client: Any, database: str, name: str) -> Table:
    """Raises NoSuchObjectException."""
    return client.get_table_req(GetTableRequest(dbName=database, tblName=name, capabilities=_CAPABILITIES)).table


def entries_of(client: Any, database: str, names: list[str]) -> Iterator[Table]:
    """Those that are there."""
    for start in range(0, len(names), AT_ONCE):
        wanted = GetTablesRequest(dbName=database, tblNames=names[start : start + AT_ONCE], capabilities=_CAPABILITIES)
        try:
            yield from client.get_table_objects_by_name_req(wanted).tables
        except (NoSuchObjectException, UnknownDBException):
            return


def all_entries(client: Any) -> Iterator[Table]:
    """Of all databases; one that goes away meanwhile is passed over."""
    for database in client.get_all_databases():
        yield from entries_of(client, database, client.get_all_tables(database))


def new_entry(table: TableName, metadata_location: str, shown: Shown, now: datetime) -> Table:
    """What Iceberg's Java library writes, but for what the next commit of any engine writes anyhow.

    `external.table.purge` is left out: with it DROP TABLE in Hive would delete the files.
    """
    columns = [FieldSchema(name, kind, comment) for name, kind, comment in shown.columns]
    seconds = int(now.timestamp())
    return Table(
        dbName=table.namespace[0],
        tableName=table.name,
        owner=getpass.getuser(),
        createTime=seconds,
        lastAccessTime=seconds,
        sd=StorageDescriptor(columns, shown.location, _INPUT, _OUTPUT, serdeInfo=SerDeInfo(serializationLib=_SERDE)),
        partitionKeys=[],
        parameters={"EXTERNAL": "TRUE", "table_type": "ICEBERG", POINTER: metadata_location},
        tableType="EXTERNAL_TABLE",
    )


def namespace_of(database: Database) -> Namespace:
    """With the properties under which Iceberg's Java library shows what stands in columns of its own."""
    properties = dict(database.parameters or {})
    if database.description:
        properties["comment"] = database.description
    if database.locationUri:
        properties["location"] = database.locationUri
    if database.ownerName:
        properties[_OWNER] = database.ownerName
        properties[_OWNER_TYPE] = PrincipalType._VALUES_TO_NAMES[database.ownerType or PrincipalType.USER]
    return Namespace((database.name,), properties)


def new_database(namespace: Namespace) -> Database:
    """The same the other way round; where no location is given the metastore chooses one."""
    properties = dict(namespace.properties)
    kind = PrincipalType._NAMES_TO_VALUES.get(properties.pop(_OWNER_TYPE, "USER"), PrincipalType.USER)
    owner = properties.pop(_OWNER, None)
    return Database(
        name=namespace.levels[0],
        description=properties.pop("comment", None),
        locationUri=properties.pop("location", None),
        ownerName=owner,
        ownerType=kind if owner else None,
        parameters=properties,
    )
