"""An upload in parts that becomes an object at its end, or leaves nothing."""

import zlib
from base64 import b64encode
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Any

from bergung.errors import BergungError, Refused
from bergung.stores.s3.bucket import Bucket, Said
from bergung.stores.s3.kinds import Kind

PART_BYTES = 8 * 1024 * 1024
_LATE_PART_BYTES = 32 * 1024 * 1024
_LATE_FROM = 1000
"""Ten thousand parts must do: from the thousandth on they are larger, and one at a time. So an object has 290 GB at most."""

CRC32, SHA256 = "CRC32", "SHA256"
_TOLD = ("ETag", "ChecksumCRC32", "ChecksumSHA256")
_PARTS_AT_ONCE = 3
_MOST_PARTS = 10_000

Bytes = bytes | bytearray
Part = dict[str, Any]


class Upload:
    """Begun when it is entered; whatever was not completed is aborted when it is left."""

    def __init__(self, bucket: Bucket, key: str, metadata: dict[str, str], algorithm: str | None = CRC32) -> None:
        self.bucket = bucket
        self._key = key
        self._words: dict[str, Any] = {"Metadata": metadata, **({"ChecksumAlgorithm": algorithm} if algorithm else {})}
        self._id = ""
        self._is_complete = False
        self.parts: list[Part] = []

    def __enter__(self) -> "Upload":
        self._id = self.bucket.ask("create_multipart_upload", self._key, **self._words)["UploadId"]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not self._is_complete:
            # A failure to clean up must not hide why it was needed.
            with suppress(BergungError, Said):
                self.bucket.ask("abort_multipart_upload", self._key, meant={Kind.NO_UPLOAD}, UploadId=self._id)

    def send(self, blocks: Iterable[Bytes]) -> int:
        """All the blocks, a few parts at once; how many bytes they were."""
        size_bytes = 0
        waiting: deque[Future[Part]] = deque()
        pool = ThreadPoolExecutor(_PARTS_AT_ONCE)
        try:
            for number, content in enumerate(_cut(blocks), 1):
                self._check(number)
                size_bytes += len(content)
                waiting.append(pool.submit(self._send_part, number, content))
                while len(waiting) >= (_PARTS_AT_ONCE if number < _LATE_FROM else 1):
                    self.parts.append(waiting.popleft().result())
            self.parts.extend(each.result() for each in waiting)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        return size_bytes

    def copy_part(self, number: int, words: dict[str, Any]) -> Part:
        """A part from another object; Said when that is not what it was, may not be read, or gets no checksum here."""
        meant = {Kind.PRECONDITION, Kind.MISSING, Kind.NO_VERSION, Kind.DENIED, Kind.NO_CHECKSUM, Kind.UNKNOWN_CALL}
        copied = self.bucket.ask("upload_part_copy", self._key, meant=meant, UploadId=self._id, PartNumber=number, **words)
        result = copied["CopyPartResult"]
        return {
            "PartNumber": number,
            **{name: result[name] for name in _TOLD if name in result},
        }

    def complete(self) -> dict[str, Any]:
        """The object appears, if its key is still free; Said with PRECONDITION else."""
        named: dict[str, Any] = {"UploadId": self._id, "IfNoneMatch": "*", "MultipartUpload": {"Parts": self.parts}}
        answer = self.bucket.ask("complete_multipart_upload", self._key, meant={Kind.PRECONDITION, Kind.NO_UPLOAD}, **named)
        self._is_complete = True
        return answer

    def _send_part(self, number: int, content: bytearray) -> Part:
        checksum = crc32(content)
        named: dict[str, Any] = {"UploadId": self._id, "PartNumber": number}
        sent = self.bucket.ask("upload_part", self._key, Body=content, ChecksumCRC32=checksum, **named)
        return {"PartNumber": number, "ETag": sent["ETag"], "ChecksumCRC32": checksum}

    def _check(self, number: int) -> None:
        if number > _MOST_PARTS:
            raise Refused(
                f"too large for an object in parts: {self.bucket.address(self._key)}", "no store takes more than 10,000 parts"
            )


def crc32(content: Bytes) -> str:
    """As S3 wants it: seven times as fast as SHA-256, and enough for what may happen on the way."""
    return b64encode(zlib.crc32(content).to_bytes(4, "big")).decode()


def _cut(blocks: Iterable[Bytes]) -> Iterator[bytearray]:
    """Blocks put together to parts, of which one lies here at a time; at least one, since an object needs it."""
    number, part = 1, bytearray()
    for block in blocks:
        left = memoryview(block)
        while left:
            room = _part_bytes(number) - len(part)
            part += left[:room]
            left = left[room:]
            if len(part) == _part_bytes(number):
                yield part
                number, part = number + 1, bytearray()
    if part or number == 1:
        yield part


def _part_bytes(number: int) -> int:
    return PART_BYTES if number < _LATE_FROM else _LATE_PART_BYTES
