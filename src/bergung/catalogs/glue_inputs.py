"""The entries of AWS Glue: what stands in an answer, and what is sent."""

from collections.abc import Collection, Mapping
from typing import Any

METADATA = "metadata_location"
PREVIOUS = "previous_metadata_location"

_KIND = "table_type"
_ICEBERG = "ICEBERG"
_LOCATION, _DESCRIPTION = "location", "Description"


def is_iceberg(entry: Mapping[str, Any]) -> bool:
    """By the parameter that every engine writes and looks at."""
    return str(entry.get("Parameters", {}).get(_KIND, "")).upper() == _ICEBERG


def pointer_of(entry: Mapping[str, Any]) -> str:
    """The pointer; empty when the entry names no file."""
    return str(entry.get("Parameters", {}).get(METADATA, ""))


def new_table_input(name: str, location: str) -> dict[str, Any]:
    """As engines write it, without columns: they stand in the metadata file, which is not opened here.

    Athena wants a storage descriptor, be it empty, and the type EXTERNAL_TABLE.
    """
    return {
        "Name": name,
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {_KIND: _ICEBERG, METADATA: location},
        "StorageDescriptor": {"Columns": [], **_place(location)},
    }


def swapped_table_input(entry: Mapping[str, Any], location: str, allowed: Collection[str]) -> dict[str, Any]:
    """Everything that the entry has, with another pointer."""
    parameters = {**entry["Parameters"], METADATA: location, PREVIOUS: pointer_of(entry)}
    return {key: value for key, value in entry.items() if key in allowed} | {"Parameters": parameters}


def database_properties(database: Mapping[str, Any]) -> dict[str, str]:
    """A database's properties under the names that PyIceberg gives them."""
    properties = dict(database.get("Parameters", {}))
    for key, own in ((_LOCATION, "LocationUri"), (_DESCRIPTION, "Description")):
        if own in database:
            properties[key] = database[own]
    return properties


def database_input(name: str, properties: Mapping[str, str]) -> dict[str, Any]:
    """The other way."""
    own = {key: value for key, value in properties.items() if key not in (_LOCATION, _DESCRIPTION)}
    words: dict[str, Any] = {"Name": name, "Parameters": own}
    if _LOCATION in properties:
        words["LocationUri"] = properties[_LOCATION]
    if _DESCRIPTION in properties:
        words["Description"] = properties[_DESCRIPTION]
    return words


def _place(location: str) -> dict[str, str]:
    """The table's folder, where it can be told from the name of its metadata file."""
    folder, _, last = location.rpartition("/")[0].rpartition("/")
    return {"Location": folder} if last == "metadata" else {}
