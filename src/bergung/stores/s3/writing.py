"""A create-only object from blocks: in one request when it is small, in parts when it is not; all of it or nothing."""

import secrets
from collections.abc import Iterable, Iterator
from email.utils import parsedate_to_datetime
from itertools import chain
from typing import Any

from bergung.errors import BergungError, Refused, StoreError
from bergung.stores.base import Stat
from bergung.stores.s3.bucket import Bucket, Said
from bergung.stores.s3.kinds import Kind
from bergung.stores.s3.multipart import PART_BYTES, Upload, crc32
from bergung.stores.s3.versions import keeps_versions, name_of, stat_of, to_second
from bergung.stores.s3.words import exists

MARK = "bergung-write"
"""A word in the object's own metadata, new for each write: so a writer knows its object again when the answer was lost."""

SENT_UNASKED_BYTES = 2 * 1024 * 1024
"""So much is sent before the store has said that it takes it; more would be in vain too often."""


def put(bucket: Bucket, key: str, blocks: Iterable[bytes]) -> Stat:
    """All the blocks, or nothing; ObjectExists before the first block is asked for, where the key is taken from the start."""
    if not isinstance(blocks, list | tuple):
        # What is at hand costs nothing to offer; of a source, nothing is read in vain.
        refuse_what_is_there(bucket, key)
    waiting = iter(blocks)
    begun, size_bytes = [], 0
    for block in waiting:
        begun.append(block)
        size_bytes += len(block)
        if size_bytes > PART_BYTES:
            return put_in_parts(bucket, key, chain(begun, waiting))
    return put_whole(bucket, key, b"".join(begun))


def put_whole(bucket: Bucket, key: str, content: bytes) -> Stat:
    """One request; the store checks what it got."""
    mark = new_mark()
    try:
        answer = bucket.ask(
            "put_object", key, meant={Kind.PRECONDITION},
            Body=_body(content), IfNoneMatch="*", Metadata={MARK: mark}, ChecksumCRC32=crc32(content),
        )  # fmt: skip
    except Said as said:
        return own_or_taken(bucket, key, mark, said)
    return stat_of_write(key, len(content), answer)


def _body(content: bytes) -> bytes | bytearray:
    """The SDK asks whether it may send bytes before it does, which is a way there and back, and asks nothing of a bytearray."""
    return bytearray(content) if len(content) <= SENT_UNASKED_BYTES else content


def put_in_parts(bucket: Bucket, key: str, blocks: Iterator[bytes]) -> Stat:
    """Some parts at once; what is unfinished is taken away whatever happens."""
    mark = new_mark()
    with Upload(bucket, key, {MARK: mark}) as upload:
        size_bytes = upload.send(blocks)
        try:
            answer = upload.complete()
        except Said as said:
            return own_or_taken(bucket, key, mark, said)
    return stat_of_upload(bucket, key, size_bytes, answer)


def refuses_wrong_bytes(bucket: Bucket, key: str) -> bool:
    """Send bytes with another's checksum. Most stores say it is a bad digest, some that it is a bad request."""
    words = {"Body": b"sent", "IfNoneMatch": "*", "ChecksumCRC32": crc32(b"meant")}
    try:
        bucket.ask("put_object", key, meant={Kind.CHANGED_BYTES, Kind.OTHER}, **words)
    except Said:
        return True
    return False


def own_or_taken(bucket: Bucket, key: str, mark: str, said: Said) -> Stat:
    """After a refusal: the object may be what an earlier try of ours wrote, whose answer was lost."""
    try:
        answer = bucket.ask("head_object", key, meant={Kind.MISSING})
    except Said:
        raise _neither_taken_nor_free(bucket, key, said.kind) from said
    if answer.get("Metadata", {}).get(MARK) == mark:
        return stat_of(key, answer)
    raise exists(bucket.address(key)) from said


def _neither_taken_nor_free(bucket: Bucket, key: str, kind: Kind) -> BergungError:
    what = bucket.address(key)
    if kind is Kind.PRECONDITION:
        return Refused(f"this store creates nothing over a delete marker: {what}", "take the marker away, or use another key")
    return StoreError(f"what was sent for {what} was taken away before it was an object", "run the same command again")


def refuse_what_is_there(bucket: Bucket, key: str) -> None:
    """ObjectExists when the key is taken."""
    try:
        bucket.ask("head_object", key, meant={Kind.MISSING})
    except Said:
        bucket.check_is_there()
        return
    raise exists(bucket.address(key))


def new_mark() -> str:
    """One that no other write has."""
    return secrets.token_hex(12)


def stat_of_upload(bucket: Bucket, key: str, size_bytes: int, answer: dict[str, Any]) -> Stat:
    """A completion that is asked for again, since its answer was lost, is answered without the version by some servers."""
    if "VersionId" not in answer and keeps_versions(bucket):
        return stat_of(key, bucket.ask("head_object", key))
    return stat_of_write(key, size_bytes, answer)


def stat_of_write(key: str, size_bytes: int, answer: dict[str, Any]) -> Stat:
    """Facts from the answer to a write, which has the store's clock in its header, and nothing nearer."""
    moment = to_second(parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"]))
    return Stat(key, size_bytes, name_of(answer.get("VersionId"), answer["ETag"]), moment)
