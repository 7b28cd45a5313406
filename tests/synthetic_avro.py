"""Avro schemas of manifest lists and manifests as Iceberg's Java writers make them, for format versions 1 to 3."""

from typing import Any

Schema = dict[str, Any]


def optional(name: str, type_: Any, id_: int) -> Schema:
    return {"name": name, "type": ["null", type_], "default": None, "field-id": id_}


def required(name: str, type_: Any, id_: int) -> Schema:
    return {"name": name, "type": type_, "field-id": id_}


def int_map(key_id: int, value_id: int, value: str) -> Schema:
    entry = {
        "type": "record",
        "name": f"k{key_id}_v{value_id}",
        "fields": [required("key", "int", key_id), required("value", value, value_id)],
    }
    return {"type": "array", "items": entry, "logicalType": "map"}


def int_list(element: str, id_: int) -> Schema:
    return {"type": "array", "items": element, "element-id": id_}


def manifest_list(version: int) -> Schema:
    summary = {
        "type": "record",
        "name": "r508",
        "fields": [
            required("contains_null", "boolean", 509),
            optional("contains_nan", "boolean", 518),
            optional("lower_bound", "bytes", 510),
            optional("upper_bound", "bytes", 511),
        ],
    }
    partitions = {"type": "array", "items": summary, "element-id": 508}
    head = [
        required("manifest_path", "string", 500),
        required("manifest_length", "long", 501),
        required("partition_spec_id", "int", 502),
    ]
    counts = [("added", 504), ("existing", 505), ("deleted", 506)]
    if version == 1:
        fields = [
            *head,
            optional("added_snapshot_id", "long", 503),
            *(optional(f"{name}_data_files_count", "int", id_) for name, id_ in counts),
            optional("partitions", partitions, 507),
            *(optional(f"{name}_rows_count", "long", id_ + 8) for name, id_ in counts),
        ]
    else:
        fields = [
            *head,
            required("content", "int", 517),
            required("sequence_number", "long", 515),
            required("min_sequence_number", "long", 516),
            required("added_snapshot_id", "long", 503),
            *(required(f"{name}_files_count", "int", id_) for name, id_ in counts),
            *(required(f"{name}_rows_count", "long", id_ + 8) for name, id_ in counts),
            optional("partitions", partitions, 507),
            optional("key_metadata", "bytes", 519),
        ]
        if version > 2:
            fields.append(optional("first_row_id", "long", 520))
    return {"type": "record", "name": "manifest_file", "fields": fields}


def manifest_entry(version: int) -> Schema:
    if version == 1:
        head = [required("status", "int", 0), required("snapshot_id", "long", 1)]
    else:
        head = [
            required("status", "int", 0),
            optional("snapshot_id", "long", 1),
            optional("sequence_number", "long", 3),
            optional("file_sequence_number", "long", 4),
        ]
    fields = [*head, required("data_file", data_file(version), 2)]
    return {"type": "record", "name": "manifest_entry", "fields": fields}


def data_file(version: int) -> Schema:
    own = [
        required("file_path", "string", 100),
        required("file_format", "string", 101),
        required("partition", {"type": "record", "name": "r102", "fields": []}, 102),
        required("record_count", "long", 103),
        required("file_size_in_bytes", "long", 104),
    ]
    if version == 1:
        own.append(required("block_size_in_bytes", "long", 105))
    else:
        own.insert(0, required("content", "int", 134))
    own += [
        optional("column_sizes", int_map(117, 118, "long"), 108),
        optional("value_counts", int_map(119, 120, "long"), 109),
        optional("null_value_counts", int_map(121, 122, "long"), 110),
        optional("nan_value_counts", int_map(138, 139, "long"), 137),
        optional("lower_bounds", int_map(126, 127, "bytes"), 125),
        optional("upper_bounds", int_map(129, 130, "bytes"), 128),
        optional("key_metadata", "bytes", 131),
        optional("split_offsets", int_list("long", 133), 132),
    ]
    if version > 1:
        own.append(optional("equality_ids", int_list("int", 136), 135))
    own.append(optional("sort_order_id", "int", 140))
    if version > 1:
        own.append(optional("referenced_data_file", "string", 143))
    if version > 2:
        own += [
            optional("first_row_id", "long", 142),
            optional("content_offset", "long", 144),
            optional("content_size_in_bytes", "long", 145),
        ]
    return {"type": "record", "name": "r2", "fields": own}
