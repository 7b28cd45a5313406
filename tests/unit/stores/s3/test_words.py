"""Answers as AWS gives them, which no server of ours gives, in our words."""

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore import exceptions as sdk

from bergung.errors import BergungError, MissingObject, NotAllowed, Refused, StoreError, StoreFull
from bergung.stores.access import Access
from bergung.stores.s3.kinds import _EXCEPTIONS, PASSING, Kind, kind_of
from bergung.stores.s3.words import Asked, in_own_words

NOW = datetime(2026, 5, 20, 3, 17, tzinfo=UTC)
ACCESS = Access(
    "s3://", region="us-east-1", key_id="AKIAOURS", secret="hush hush", token="hush", origin="[[access]] 1 of bergung.toml"
)


def answer(
    status: int, code: str, message: str = "as the store says", headers: dict[str, str] | None = None, **more: Any
) -> Exception:
    said = {"Code": code, "Message": message, **more}
    return sdk.ClientError(
        {"Error": said, "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": headers or {}}}, "GetObject"
    )  # type: ignore[typeddict-item]


def told(error: Exception, access: Access = ACCESS, operation: str = "get_object") -> BergungError:
    return in_own_words(error, Asked(operation, "lake", "a/b", access, NOW))


@pytest.mark.parametrize(
    ("error", "kind", "message", "hint"),
    [
        (
            answer(403, "AccessDenied"),
            NotAllowed,
            "not allowed: s3:GetObject on s3://lake/a/b, for key AKIAOURS of [[access]] 1",
            "s3:ListBucket",
        ),
        (answer(400, "ExpiredToken"), NotAllowed, "expired credentials", "get new ones at [[access]] 1 of bergung.toml"),
        (answer(403, "InvalidAccessKeyId"), NotAllowed, "does not know key AKIAOURS", "key_id at [[access]] 1"),
        (answer(403, "SignatureDoesNotMatch"), NotAllowed, "the secret does not fit key AKIAOURS", "secret at [[access]] 1"),
        (answer(404, "NoSuchBucket"), StoreError, "there is no bucket lake at AWS us-east-1", "name"),
        (answer(404, "NoSuchKey"), MissingObject, "no such object: s3://lake/a/b", ""),
        (
            answer(301, "PermanentRedirect", headers={"x-amz-bucket-region": "eu-west-1"}),
            StoreError,
            "is in region eu-west-1, not in us-east-1",
            'region = "eu-west-1"',
        ),
        (
            answer(400, "AuthorizationHeaderMalformed", Region="eu-north-1"),
            StoreError,
            "is in region eu-north-1",
            'region = "eu-north-1"',
        ),
        (
            answer(403, "RequestTimeTooSkewed", headers={"date": "Wed, 20 May 2026 03:00:00 GMT"}),
            StoreError,
            "17 minutes ahead of the store's",
            "timedatectl",
        ),
        (
            answer(403, "RequestTimeTooSkewed", headers={"date": "Wed, 20 May 2026 03:18:30 GMT"}),
            StoreError,
            "90 s behind the store's",
            "timedatectl",
        ),
        (
            answer(403, "AccessDenied", "Access Denied because object protected by object lock."),
            NotAllowed,
            "locked: s3://lake/a/b",
            "lock",
        ),
        (
            answer(400, "InvalidRequest", "Object is WORM protected and cannot be overwritten"),
            NotAllowed,
            "locked: s3://lake/a/b",
            "lock",
        ),
        (answer(400, "KeyTooLongError"), Refused, "takes no such key", "name"),
        (answer(403, "InvalidObjectState"), StoreError, "archived", "restore-object"),
        (answer(507, "Whatever"), StoreFull, "no room left", "room"),
        (answer(503, "SlowDown"), StoreError, "SlowDown", "again"),
        (answer(418, "Teapot"), StoreError, "Teapot", "again"),
        (sdk.NoCredentialsError(), NotAllowed, "no credentials for s3://lake/a/b", "aws sso login"),
        (sdk.CredentialRetrievalError(provider="sso", error_msg="old"), NotAllowed, "expired credentials", "get new ones"),
        (sdk.SSLError(endpoint_url="https://x", error="self signed"), StoreError, "not trusted", "AWS_CA_BUNDLE"),
        (sdk.EndpointConnectionError(endpoint_url="https://x"), StoreError, "cannot be reached", "network"),
    ],
)
def test_what_the_user_reads(error: Exception, kind: type[BergungError], message: str, hint: str) -> None:
    found = told(error)
    assert type(found) is kind and message in found.message and hint in found.hint
    assert "hush" not in f"{found.message} {found.hint}"


def test_whose_credentials_they_were() -> None:
    denied = answer(403, "AccessDenied")
    assert "for the credentials that the SDK finds" in told(denied, Access("s3://")).message
    assert "for nobody (anonymous" in told(denied, Access("s3://", anonymous=True)).message
    assert "for profile ops of x" in told(denied, Access("s3://", profile="ops", origin="x")).message
    assert "s3:ListBucketVersions" in told(denied, operation="list_object_versions").message


@pytest.mark.parametrize(
    ("status", "code"),
    [(503, "SlowDown"), (500, "InternalError"), (409, "ConditionalRequestConflict"), (429, "Else"), (400, "BadDigest")],
)
def test_what_may_be_over_at_the_next_try(status: int, code: str) -> None:
    assert kind_of(answer(status, code)) in PASSING


@pytest.mark.parametrize(
    ("status", "code"),
    [(403, "AccessDenied"), (404, "NoSuchKey"), (412, "PreconditionFailed"), (400, "InvalidArgument"), (400, "EntityTooLarge")],
)
def test_what_will_be_the_same_at_the_next_try(status: int, code: str) -> None:
    assert kind_of(answer(status, code)) not in PASSING


def test_every_name_of_an_error_of_the_sdk_is_one() -> None:
    """They are told by name, so that the SDK need not be imported: a name that nobody has would never be met."""
    for name, kind in _EXCEPTIONS:
        assert issubclass(getattr(sdk, name), Exception) and isinstance(kind, Kind)
