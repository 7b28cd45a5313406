"""An ORC file in memory: Arrow reads its stripes, and its footer says what Arrow does not."""

from functools import cached_property

import pyarrow as pa
import pyarrow.orc as orc

from bergung.errors import UnsupportedTable
from bergung.iceberg.avro import corrupt
from bergung.iceberg.relocate.formats import protobuf
from bergung.iceberg.relocate.formats.path_column import PathColumn
from bergung.iceberg.relocate.formats.protobuf import VARINT, Message
from bergung.iceberg.relocate.formats.reading import reading

# Numbers of fields in ORC's own definition (orc_proto.proto).
_POSTSCRIPT, _FOOTER = 1, 2
_FOOTER_BYTES, _COMPRESSION = 1, 2
_STRIPES, _TYPES, _METADATA, _STATISTICS, _ENCRYPTION, _CALENDAR = 3, 4, 5, 7, 10, 11
_OF_STRINGS = 4
_KIND, _SUBTYPES, _NAMES, _LENGTH, _PRECISION, _SCALE, _ATTRIBUTES = range(1, 8)

_ORIGINAL = 1
"""Of a block in a compressed stream: it is not compressed."""
_LARGEST_BLOCK = 1 << 23


class OrcFile:
    """What a position delete file of this format holds."""

    def __init__(self, data: bytes | pa.Buffer, where: str) -> None:
        self.where = where
        content = pa.py_buffer(data)
        if content.size < 4 or content[:3].to_pybytes() != b"ORC":
            raise _not_orc(content, where)
        with reading(where):
            self.arrow = orc.ORCFile(pa.BufferReader(content))
            self.schema = self.arrow.schema
            tail = protobuf.read(self.arrow.reader.serialized_file_tail())
            self.postscript, self.footer = (protobuf.read(protobuf.parts(tail, field)[0]) for field in (_POSTSCRIPT, _FOOTER))
        if protobuf.parts(self.footer, _ENCRYPTION):
            raise _encrypted(where)

    @cached_property
    def types(self) -> list[list[tuple[int, int | bytes]]]:
        """Kinds, names, precision, attributes; numbers that are nought count as not said."""
        types = (protobuf.read(part) for part in protobuf.parts(self.footer, _TYPES))
        return [sorted(((number, value) for number, _, value in each if value), key=repr) for each in types]

    @property
    def kinds(self) -> set[int]:
        return {protobuf.numbers(protobuf.read(part), _KIND)[0] for part in protobuf.parts(self.footer, _TYPES)}

    @property
    def compression(self) -> int:
        return (protobuf.numbers(self.postscript, _COMPRESSION) or [0])[0]

    @property
    def kept(self) -> Message:
        """What of the footer only its writer knows: key and value metadata, and the calendar."""
        return sorted(protobuf.only(self.footer, (_METADATA, _CALENDAR)), key=repr)

    @property
    def stripe_offsets(self) -> tuple[int, ...]:
        return tuple(protobuf.numbers(protobuf.read(part), 1)[0] for part in protobuf.parts(self.footer, _STRIPES))

    def bounds(self, name: str) -> tuple[bytes, bytes] | None:
        """The lowest and the highest text of a column of the uppermost level, as the statistics have it."""
        root = protobuf.read(protobuf.parts(self.footer, _TYPES)[0])
        place = protobuf.parts(root, _NAMES).index(name.encode())
        column = protobuf.packed(protobuf.parts(root, _SUBTYPES))[place]
        strings = protobuf.parts(protobuf.read(protobuf.parts(self.footer, _STATISTICS)[column]), _OF_STRINGS)
        if not strings:
            return None
        lowest, highest = (protobuf.parts(protobuf.read(strings[0]), field) for field in (1, 2))
        return (lowest[0], highest[0]) if lowest and highest else None

    def column(self, wanted: tuple[int, str]) -> str:
        """The name of a column of the uppermost level, found by its id; by its name only where no id says so."""
        field_id, name = wanted
        ids = {field.name: (field.metadata or {}).get(b"iceberg.id") for field in self.schema}
        by_id: list[str] = [column for column, id_ in ids.items() if id_ == str(field_id).encode()]
        found = by_id or [column for column, id_ in ids.items() if id_ is None and column == name]
        if len(found) != 1:
            raise corrupt(self.where, f"it has {len(found)} columns {name}")
        return found[0]

    def paths(self, name: str) -> PathColumn:
        """The column of paths, by stripe."""
        column = PathColumn(self.where)
        for stripe in range(self.arrow.nstripes):
            column.add_group([self._path_column(stripe, name).dictionary_encode()])
        return column

    def others(self, stripe: int, name: str) -> pa.Table:
        """All columns of a stripe but the paths."""
        names = [each for each in self.schema.names if each != name]
        with reading(self.where):
            return pa.Table.from_batches([self.arrow.read_stripe(stripe, columns=names)])

    def rows(self, name: str) -> pa.Table:
        """All columns, the paths by a dictionary."""
        place, tables = self.schema.get_field_index(name), []
        for stripe in range(self.arrow.nstripes):
            column = self._path_column(stripe, name).dictionary_encode()
            tables.append(self.others(stripe, name).add_column(place, name, column))
        if tables:
            return pa.concat_tables(tables)
        empty = self.schema.field(place).with_type(pa.dictionary(pa.int32(), pa.string()))
        return self.schema.set(place, empty).empty_table()

    def _path_column(self, stripe: int, name: str) -> pa.Array:
        with reading(self.where):
            paths = self.arrow.read_stripe(stripe, columns=[name]).column(0)
        if paths.type not in (pa.string(), pa.binary()):
            raise corrupt(self.where, "its paths are no strings")
        return paths


def with_kept(content: pa.Buffer, old: OrcFile) -> bytes:
    """A file with more at the end of its footer: what the old one has and Arrow does not write.

    The last value of a field counts, and repeated ones add up; so nothing that is there need be read.
    """
    data = content.to_pybytes()
    end = len(data) - 1 - data[-1]
    postscript = protobuf.read(data[end:-1])
    more = protobuf.written(old.kept)
    if protobuf.numbers(postscript, _COMPRESSION)[0]:
        blocks = [more[start : start + _LARGEST_BLOCK] for start in range(0, len(more), _LARGEST_BLOCK)]
        more = b"".join((len(block) << 1 | _ORIGINAL).to_bytes(3, "little") + block for block in blocks)
    size = protobuf.numbers(postscript, _FOOTER_BYTES)[0] + len(more)
    others = [each for each in postscript if each[0] != _FOOTER_BYTES]
    closed = protobuf.written([(_FOOTER_BYTES, VARINT, size), *others])
    return b"".join((data[:end], more, closed, bytes([len(closed)])))


def _not_orc(content: pa.Buffer, where: str) -> Exception:
    if content[:4].to_pybytes() == b"AGS1":
        return _encrypted(where)
    return corrupt(where, "it is no ORC file, or is cut off" if content.size else "it is empty")


def _encrypted(where: str) -> UnsupportedTable:
    return UnsupportedTable(f"{where} is encrypted", "such a file cannot be opened without its keys")
