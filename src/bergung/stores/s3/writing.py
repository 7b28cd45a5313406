"""A create-only object from blocks: in one request when it is small, in parts when it is not; all of it or nothing.

A write that is small is offered without a look whether its key is free: the store says so, and what is offered in vain is little.
What is large is looked for first.
"""

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any

from bergung.errors import BergungError, ObjectExists, Refused, StoreError
from bergung.stores.base import Stat
from bergung.stores.digest import Hashing
from bergung.stores.s3.bucket import Bucket, Said
from bergung.stores.s3.kinds import Kind
from bergung.stores.s3.multipart import Bytes, Upload, crc32
from bergung.stores.s3.signing import SHA256_OF_BODY
from bergung.stores.s3.versions import keeps_versions, name_of, stat_of, to_second
from bergung.stores.s3.words import exists

MARK = "bergung-write"
"""A word in the object's own metadata, new for each write: so a writer knows its object again when the answer was lost."""

WHOLE_BYTES = 16 * 1024 * 1024
"""So much goes in one request: below it a look costs more than what is sent in vain now and then."""

_LOOKS = 64
_wary: dict[tuple[str, str], int] = {}
"""Buckets where a key was taken lately, as in a run that was stopped and goes on: so many writes there look before they send."""


def put(bucket: Bucket, key: str, blocks: Iterable[bytes]) -> Stat:
    """All the blocks, or nothing; ObjectExists before more is asked for than goes in one request, where the key is taken."""
    at_hand = isinstance(blocks, list | tuple)
    looked = not at_hand and looked_first(bucket, key)
    waiting = iter(blocks)
    begun = [bytearray()]
    for block in waiting:
        begun[0] += block
        if len(begun[0]) > WHOLE_BYTES:
            if not looked:
                refuse_what_is_there(bucket, key)
            return put_in_parts(bucket, key, _emptied(begun, waiting))
    with nullcontext() if at_hand else noticing(bucket):
        return put_whole(bucket, key, begun[0], _known_hash(blocks, len(begun[0])))


def _emptied(begun: list[bytearray], waiting: Iterator[bytes]) -> Iterator[Bytes]:
    """From here on the parts alone hold what was begun."""
    while begun:
        yield begun.pop()
    yield from waiting


def put_whole(bucket: Bucket, key: str, content: bytearray, known: dict[str, Any]) -> Stat:
    """One request; the store checks what it got.

    A bytearray the SDK sends at once; of bytes it asks first whether it may send them, which is a way there and back. Some
    stores refuse before they have read the body, and close: whoever is still sending may never see why. So a write that got
    no answer is looked for before it is sent again.
    """
    mark = new_mark()
    try:
        answer = bucket.ask(
            "put_object", key, meant={Kind.PRECONDITION}, before_again=partial(refuse_what_is_there, bucket, key),
            Body=content, IfNoneMatch="*", Metadata={MARK: mark}, ChecksumCRC32=crc32(content), **known,
        )  # fmt: skip
    except Said as said:
        return own_or_taken(bucket, key, mark, said.kind)
    except ObjectExists:
        return own_or_taken(bucket, key, mark, Kind.CUT_OFF)
    return stat_of_write(key, len(content), answer)


def _known_hash(blocks: Iterable[bytes], size_bytes: int) -> dict[str, Any]:
    """Of blocks that are hashed as they pass: it need not be worked out again for the signature, which the store checks."""
    if not isinstance(blocks, Hashing) or blocks.size_bytes != size_bytes:
        return {}
    return {SHA256_OF_BODY: blocks.digest.removeprefix("sha256:")}


def looked_first(bucket: Bucket, key: str) -> bool:
    """Where keys were taken lately: ObjectExists when this one is too. Each look that is in vain lessens that."""
    left = _wary.get((bucket.endpoint, bucket.name), 0)
    if left == 0:
        return False
    _wary[bucket.endpoint, bucket.name] = left - 1
    with noticing(bucket):
        refuse_what_is_there(bucket, key)
    return True


@contextmanager
def noticing(bucket: Bucket) -> Iterator[None]:
    """What is found taken inside is noticed: later writes of this process look first."""
    try:
        yield
    except ObjectExists:
        _wary[bucket.endpoint, bucket.name] = _LOOKS
        raise


def put_in_parts(bucket: Bucket, key: str, blocks: Iterator[Bytes]) -> Stat:
    """Some parts at once; what is unfinished is taken away whatever happens."""
    mark = new_mark()
    with Upload(bucket, key, {MARK: mark}) as upload:
        size_bytes = upload.send(blocks)
        try:
            answer = upload.complete()
        except Said as said:
            return own_or_taken(bucket, key, mark, said.kind)
    return stat_of_upload(bucket, key, size_bytes, answer)


def refuses_wrong_bytes(bucket: Bucket, key: str) -> bool:
    """Send bytes with another's checksum. Most stores say it is a bad digest, some that it is a bad request."""
    words: dict[str, Any] = {"Body": b"sent", "IfNoneMatch": "*", "ChecksumCRC32": crc32(b"meant")}
    try:
        bucket.ask("put_object", key, meant={Kind.CHANGED_BYTES, Kind.OTHER}, **words)
    except Said:
        return True
    return False


def own_or_taken(bucket: Bucket, key: str, mark: str, kind: Kind) -> Stat:
    """After a refusal: the object may be what an earlier try of ours wrote, whose answer was lost."""
    try:
        answer = bucket.ask("head_object", key, meant={Kind.MISSING})
    except Said as said:
        raise _neither_taken_nor_free(bucket, key, kind) from said
    if answer.get("Metadata", {}).get(MARK) == mark:
        return stat_of(key, answer)
    raise exists(bucket.address(key))


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
    return Stat(key, size_bytes, name_of(answer.get("VersionId"), answer["ETag"]), moment, answer["ETag"])
