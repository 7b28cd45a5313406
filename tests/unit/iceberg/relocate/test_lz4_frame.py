"""Frames that Arrow's LZ4 library reads, header checksum and all, and that say their content's length."""

import os

import pyarrow as pa
import pytest

from bergung.iceberg.relocate import lz4_frame

CONTENTS = [b"", b"a", b"abc" * 1000, os.urandom(5_000_000), b"x" * 9_000_000]


@pytest.mark.parametrize("content", CONTENTS, ids=len)
def test_arrow_reads_them(content: bytes) -> None:
    frame = lz4_frame.compress(content)
    assert int.from_bytes(frame[6:14], "little") == len(content)
    assert frame[4] & 0b1000
    assert pa.input_stream(pa.BufferReader(frame), compression="lz4").read() == content
    assert lz4_frame.decompress(frame) == content


@pytest.mark.parametrize("place", range(4, 15))
def test_the_header_is_under_its_checksum(place: int) -> None:
    frame = bytearray(lz4_frame.compress(b"abc" * 1000))
    frame[place] ^= 1
    with pytest.raises((OSError, pa.ArrowException)):
        lz4_frame.decompress(bytes(frame))


def test_frames_of_others() -> None:
    assert lz4_frame.decompress(pa.Codec("lz4").compress(b"abc" * 1000, asbytes=True)) == b"abc" * 1000
