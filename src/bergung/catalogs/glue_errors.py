"""What goes wrong between us and AWS Glue, as errors of ours.

Messages of AWS are passed on only where they hold no part of the request: a wrong signature is answered with it.
"""

from botocore import exceptions as sdk
from botocore.exceptions import BotoCoreError, ClientError

from bergung.errors import BergungError, Busy, NotAllowed, SourceChanged, UnknownTable, UsageError

_MISSING = (sdk.NoCredentialsError, sdk.PartialCredentialsError)
_EXPIRED = (sdk.UnauthorizedSSOTokenError, sdk.SSOTokenLoadError, sdk.TokenRetrievalError)
_REGION = (sdk.NoRegionError, sdk.InvalidRegionError)
_AWAY = (sdk.HTTPClientError, sdk.EndpointConnectionError, sdk.ConnectionError)

_EXPIRED_CODES = ("ExpiredTokenException", "ExpiredToken")
_WRONG_CODES = (
    "UnrecognizedClientException",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "SignatureDoesNotMatch",
    "IncompleteSignature",
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
)
_CLOCK_CODES = ("RequestExpired", "RequestTimeTooSkewed")
_CLOCK_WORDS = ("Signature expired", "Signature not yet current")
_THROTTLED = ("ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded", "SlowDown")
KEYS = "glue.access-key-id and glue.secret-access-key (glue.session-token), glue.profile-name"


def told(error: ClientError | BotoCoreError, catalog: str) -> BergungError:
    """The same as one of ours. That something is not there, is there already or has moved is for the caller to word."""
    return _of_service(error, catalog) if isinstance(error, ClientError) else _of_sdk(error, catalog)


def was_sent_again(error: BergungError) -> bool:
    """True when the SDK sent a request twice: the first may have been carried out, and only its answer was lost."""
    cause = error.__cause__
    return isinstance(cause, ClientError) and cause.response.get("ResponseMetadata", {}).get("RetryAttempts", 0) > 0


def _of_service(error: ClientError, catalog: str) -> BergungError:
    code, words = error.response["Error"].get("Code", ""), error.response["Error"].get("Message", "")
    known: dict[str, type[BergungError]] = {
        "EntityNotFoundException": UnknownTable,
        "AlreadyExistsException": Busy,
        "ConcurrentModificationException": SourceChanged,
    }
    if code in known:
        return known[code](f"the catalog {catalog} says: {words}", "run the same command again")
    if code in _CLOCK_CODES or words.startswith(_CLOCK_WORDS):
        return NotAllowed(f"the catalog {catalog} finds the time of this machine wrong", "set its clock: timedatectl status")
    if code in _EXPIRED_CODES:
        return NotAllowed(f"the credentials for the catalog {catalog} are expired", "log in again, or give new ones")
    if code in _WRONG_CODES:
        return NotAllowed(f"the credentials for the catalog {catalog} are wrong", f"look at {KEYS}")
    if code == "AccessDeniedException":
        return NotAllowed(f"the catalog {catalog} says no: {words}", _grant(words))
    if code in _THROTTLED:
        return Busy(f"the catalog {catalog} is asked too often, also after waiting", "try again later; see glue.max-retries")
    if code == "InvalidInputException":
        return UsageError(f"the catalog {catalog} does not take this: {words}", "choose other names")
    return BergungError(f"the catalog {catalog} says {code}: {words}", "try again in a moment")


def _grant(words: str) -> str:
    if "Lake Formation" in words:
        return "Lake Formation decides here: grant it with aws lakeformation grant-permissions, or ask its administrator"
    return "let the policy of these credentials allow it; reading takes glue:GetDatabases, GetTables, GetTable"


def _of_sdk(error: BotoCoreError, catalog: str) -> BergungError:
    if isinstance(error, _MISSING):
        return NotAllowed(f"no credentials for the catalog {catalog}", f"give {KEYS}, or log in: aws configure")
    if isinstance(error, _EXPIRED):
        return NotAllowed(f"the login for the catalog {catalog} is expired", "log in again: aws sso login")
    if isinstance(error, sdk.CredentialRetrievalError):
        return NotAllowed(f"no credentials for the catalog {catalog}: {error}", "look at the profile in ~/.aws/config")
    if isinstance(error, _REGION):
        return UsageError(f"no region for the catalog {catalog}, or none of AWS", "set glue.region, or AWS_REGION")
    if isinstance(error, sdk.ProfileNotFound):
        return UsageError(f"the catalog {catalog}: {_lower(error)}", "look at glue.profile-name and at ~/.aws/config")
    if isinstance(error, _AWAY):
        return BergungError(
            f"the catalog {catalog} does not answer: {_lower(error)}", "look at the network, glue.region and glue.endpoint"
        )
    if isinstance(error, sdk.ParamValidationError):
        return UsageError(f"the catalog {catalog} cannot hold this: {error}", "choose another name")
    return BergungError(f"the catalog {catalog} cannot be asked: {_lower(error)}", "look at its declaration and at ~/.aws/config")


def _lower(error: Exception) -> str:
    text = str(error)
    return text[:1].lower() + text[1:]
