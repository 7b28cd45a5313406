"""Signatures that read no body a second time: its SHA-256 is known, or TLS and a checksum of the body do as well.

The SDK by itself reads each body for its signature, over TLS too where the checksum is not of its own making.
"""

from functools import cache
from typing import Any

SHA256_OF_BODY = "BergungSha256"
"""A word to put_object that is not the SDK's: the hash for the signature, in hex."""

_SDK, _OURS = "s3v4", "bergung-s3v4"
_CHECKSUM = "x-amz-checksum-crc32"


def sign_once(client: Any) -> None:
    """For this client; requests that are not signed, or not in this way, stay as they are."""
    _make_known()
    client.meta.events.register("before-parameter-build.s3.PutObject", _take_known)
    client.meta.events.register("choose-signer.s3", _choose)


def _take_known(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
    if SHA256_OF_BODY in params:
        context[SHA256_OF_BODY] = params.pop(SHA256_OF_BODY)


def _choose(signature_version: Any, **_: Any) -> str | None:
    return _OURS if signature_version == _SDK else None


@cache
def _make_known() -> None:
    """Under a name of its own, so that the SDK signs as ever for everybody else in this process."""
    from botocore.auth import AUTH_TYPE_MAPS, UNSIGNED_PAYLOAD, S3SigV4Auth

    class Signing(S3SigV4Auth):  # type: ignore[misc]
        def payload(self, request: Any) -> str:
            known: str | None = request.context.get(SHA256_OF_BODY)
            if known is not None:
                # The store refuses a body of another hash.
                return known
            if request.url.startswith("https:") and _CHECKSUM in request.headers:
                return str(UNSIGNED_PAYLOAD)
            return str(super().payload(request))

    AUTH_TYPE_MAPS[_OURS] = Signing
