"""What a store or the SDK said, as one of a few kinds."""

from enum import Enum, auto
from typing import Any


class Kind(Enum):
    """What can go wrong with one request."""

    MISSING = auto()
    NO_BUCKET = auto()
    NO_VERSION = auto()
    IS_MARKER = auto()
    NO_UPLOAD = auto()
    PRECONDITION = auto()
    RANGE = auto()
    DENIED = auto()
    LOCKED = auto()
    NO_LOCKS = auto()
    NO_CREDENTIALS = auto()
    WRONG_KEY = auto()
    WRONG_SECRET = auto()
    EXPIRED = auto()
    CLOCK = auto()
    REGION = auto()
    FULL = auto()
    BAD_KEY = auto()
    TWO_IN_ONE = auto()
    ARCHIVED = auto()
    UNKNOWN_CALL = auto()
    NO_CHECKSUM = auto()
    BUSY = auto()
    CONFLICT = auto()
    CHANGED_BYTES = auto()
    UNREACHABLE = auto()
    CUT_OFF = auto()
    NO_TRUST = auto()
    BARE = auto()
    """A HEAD's refusal: it has no body that could say why."""
    OTHER = auto()


PASSING = {Kind.BUSY, Kind.CONFLICT, Kind.CHANGED_BYTES, Kind.UNREACHABLE, Kind.CUT_OFF}
"""These may be over at the next try."""

_CODES = {
    Kind.MISSING: ("NoSuchKey", "NotFound", "404"),
    Kind.NO_BUCKET: ("NoSuchBucket",),
    Kind.NO_VERSION: ("NoSuchVersion", "InvalidVersionId"),
    Kind.IS_MARKER: ("MethodNotAllowed", "405"),
    Kind.NO_UPLOAD: ("NoSuchUpload",),
    Kind.PRECONDITION: ("PreconditionFailed", "412"),
    Kind.RANGE: ("InvalidRange", "416"),
    Kind.DENIED: ("AccessDenied", "AccessDeniedException", "AllAccessDisabled", "AccountProblem", "Forbidden"),
    Kind.NO_LOCKS: ("NoSuchObjectLockConfiguration", "ObjectLockConfigurationNotFoundError", "InvalidBucketObjectLockConfig"),
    Kind.WRONG_KEY: ("InvalidAccessKeyId", "InvalidToken", "UnrecognizedClientException", "NotSignedUp", "InvalidClientTokenId"),
    Kind.WRONG_SECRET: ("SignatureDoesNotMatch", "AuthFailure"),
    Kind.EXPIRED: ("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired"),
    Kind.CLOCK: ("RequestTimeTooSkewed", "RequestInTheFuture"),
    Kind.REGION: (
        "PermanentRedirect", "AuthorizationHeaderMalformed", "TemporaryRedirect", "IllegalLocationConstraintException",
        "301", "307",
    ),
    Kind.FULL: ("QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "507"),
    Kind.BAD_KEY: (
        "KeyTooLongError", "KeyTooLong", "XMinioInvalidObjectName", "XMinioInvalidResourceName", "InvalidURI",
        "DirectoryObjectContainsData",
    ),
    Kind.TWO_IN_ONE: ("ExistingObjectIsDirectory", "ObjectParentIsFile", "XMinioParentIsObject", "XMinioObjectExistsAsDirectory"),
    Kind.ARCHIVED: ("InvalidObjectState",),
    Kind.UNKNOWN_CALL: ("NotImplemented", "XNotImplemented", "501"),
    Kind.BUSY: (
        "SlowDown", "SlowDownRead", "SlowDownWrite", "ServiceUnavailable", "InternalError", "InternalServerError", "RequestTimeout",
        "RequestTimeoutException", "Throttling", "ThrottlingException", "TooManyRequests", "BandwidthLimitExceeded", "ServerBusy",
        "XMinioServerNotInitialized", "429", "500", "502", "503", "504",
    ),
    Kind.CONFLICT: ("ConditionalRequestConflict", "OperationAborted", "409"),
    Kind.CHANGED_BYTES: ("BadDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch", "IncompleteBody"),
    Kind.BARE: ("400", "403"),
}  # fmt: skip
_BY_CODE = {code: kind for kind, codes in _CODES.items() for code in codes}

_EXCEPTIONS: tuple[tuple[str, Kind], ...] = (
    ("NoCredentialsError", Kind.NO_CREDENTIALS),
    ("PartialCredentialsError", Kind.NO_CREDENTIALS),
    ("NoAuthTokenError", Kind.NO_CREDENTIALS),
    ("ProfileNotFound", Kind.NO_CREDENTIALS),
    ("SSOError", Kind.EXPIRED),
    ("LoginError", Kind.EXPIRED),
    ("TokenRetrievalError", Kind.EXPIRED),
    ("CredentialRetrievalError", Kind.EXPIRED),
    ("SSLError", Kind.NO_TRUST),
    ("ReadTimeoutError", Kind.CUT_OFF),
    ("ConnectionClosedError", Kind.CUT_OFF),
    ("ResponseStreamingError", Kind.CUT_OFF),
    ("IncompleteReadError", Kind.CUT_OFF),
    ("FlexibleChecksumError", Kind.CHANGED_BYTES),
    ("ConnectionError", Kind.UNREACHABLE),
    ("HTTPClientError", Kind.CUT_OFF),
    ("ParamValidationError", Kind.BAD_KEY),
)

_LOCK_WORDS = ("worm protected", "object is locked", "protected by object lock", "under retention")
_NO_LOCK_WORDS = ("missing object lock configuration", "missing objectlockconfiguration", "object lock configuration not enabled")


def sdk_errors() -> tuple[type[Exception], ...]:
    """What the SDK raises. Behind `except` this is asked only when something was raised: the SDK takes a tenth of a second."""
    from botocore.exceptions import BotoCoreError, ClientError

    return BotoCoreError, ClientError


def kind_of(error: Exception) -> Kind:
    """The kind of an error of the SDK."""
    if answer := answer_in(error):
        return _of_answer(answer)
    names = {each.__name__ for each in type(error).__mro__}
    return next((kind for known, kind in _EXCEPTIONS if known in names), Kind.OTHER)


def answer_in(error: Exception) -> dict[str, Any]:
    """What the store answered, if this is an answer of the store."""
    return getattr(error, "response", None) or {}


def _of_answer(answer: dict[str, Any]) -> Kind:
    said = answer.get("Error", {})
    text = f"{said.get('Code', '')} {said.get('Message', '')}".lower()
    status = str(answer.get("ResponseMetadata", {}).get("HTTPStatusCode", ""))
    if any(words in text for words in _LOCK_WORDS):
        # Servers answer 403 AccessDenied or 400 InvalidRequest; only the words tell a lock from a missing right.
        return Kind.LOCKED
    if any(words in text for words in _NO_LOCK_WORDS):
        return Kind.NO_LOCKS
    if "checksum missing" in text:
        return Kind.NO_CHECKSUM
    if said.get("Code") == "InvalidArgument" and "version" in text:
        return Kind.NO_VERSION
    return _BY_CODE.get(said.get("Code", "")) or _BY_CODE.get(status, Kind.OTHER)
