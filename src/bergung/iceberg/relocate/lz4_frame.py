"""One LZ4 frame that says how long its content is, as the Puffin specification wants it; Arrow's own frames do not say."""

import pyarrow as pa

_MAGIC = 0x184D2204.to_bytes(4, "little")
_FLAGS = bytes([0b01101000, 0x70])
"""Version 1, independent blocks, content size; blocks of up to 4 MiB."""
_BLOCK = 4 * 1024 * 1024
_AS_IT_IS = 1 << 31
_LARGEST = 512 * 1024 * 1024
_WORD = 1 << 32


def compress(data: bytes) -> bytes:
    """The whole of it as one frame."""
    described = _FLAGS + len(data).to_bytes(8, "little")
    blocks = (data[start : start + _BLOCK] for start in range(0, len(data), _BLOCK))
    return b"".join((_MAGIC, described, _header_checksum(described), *map(_block, blocks), bytes(4)))


def decompress(data: bytes) -> bytes:
    """The content of a frame; one of Arrow's errors or ValueError when it is none."""
    with pa.CompressedInputStream(pa.BufferReader(data), "lz4") as stream:
        content: bytes = stream.read(_LARGEST)
        if stream.read(1):
            raise ValueError("larger than any writer makes")
    return content


def _block(content: bytes) -> bytes:
    packed: bytes = pa.compress(content, codec="lz4_raw", asbytes=True)
    if len(packed) < len(content):
        return len(packed).to_bytes(4, "little") + packed
    return (len(content) | _AS_IT_IS).to_bytes(4, "little") + content


def _header_checksum(described: bytes) -> bytes:
    """The second byte of XXH32 with seed 0, for less than 16 bytes."""
    prime2, prime3, prime4, prime5 = 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1
    value = prime5 + len(described)
    words = len(described) // 4 * 4
    for start in range(0, words, 4):
        value = _rotated(value + int.from_bytes(described[start : start + 4], "little") * prime3, 17) * prime4
    for byte in described[words:]:
        value = _rotated(value + byte * prime5, 11) * 0x9E3779B1
    value %= _WORD
    value = (value ^ value >> 15) * prime2 % _WORD
    value = (value ^ value >> 13) * prime3 % _WORD
    return bytes([(value ^ value >> 16) >> 8 & 0xFF])


def _rotated(value: int, bits: int) -> int:
    value %= _WORD
    return (value << bits | value >> 32 - bits) % _WORD
