"""What a server's answers, and its silence, mean to the user. No secret is repeated, wherever it stands."""

import msgspec

from bergung.errors import BergungError, Busy, NotAllowed, UnknownTable, UsageError

_LONGEST = 300


class Unanswered(BergungError):
    """Nobody knows whether what was asked is done: no answer, or one that says nothing about it."""


class TooSlow(Unanswered):
    """Somebody is there, and does not answer in time."""


class NoAnswer(Unanswered):
    """Nobody is there."""


class LoginEnded(NotAllowed):
    """The server does not, or no longer, know who asks: 401 and 419."""


class Said(msgspec.Struct):
    """What every error of the protocol says."""

    message: str | None = None
    type: str | None = None


class _ErrorBody(msgspec.Struct):
    error: Said | None = None


def said(body: bytes) -> Said:
    """The error in an answer; empty when it is in no form of the protocol."""
    try:
        return msgspec.json.decode(body, type=_ErrorBody).error or Said()
    except msgspec.DecodeError:
        return Said()


def words(status: int, reason: Said) -> str:
    """The status, and the server's own words, cut short."""
    text = " ".join((reason.message or reason.type or "").split())
    return f"{status}: {text[:_LONGEST]}" if text else str(status)


def names_a_file(status: int, reason: Said) -> bool:
    """A failure over a metadata file, which will not pass."""
    return status == 500 and ".metadata.json" in (reason.message or "")


def error_of(status: int, reason: Said, who: str, login: str) -> BergungError:
    """For an answer that is no success; `who` names the server, `login` says what it was told of us."""
    text = f"{who} answers {words(status, reason)}"
    match status:
        case 401 | 419:
            return LoginEnded(text, login)
        case 403:
            return NotAllowed(text, "ask for the right in the catalog: reading takes to list and to load, restoring to register")
        case 404:
            return UnknownTable(text, "check the name; upper and lower case differ")
        case 409:
            return Busy(text, "look at what is there, then try again")
        case 429 | 503:
            return Busy(text, "it was asked several times; try again in some minutes")
        case 500 | 502 | 504:
            return Unanswered(text, "look into the server's log; it was asked again where that is harmless")
        case 400 | 405 | 406 | 422 | 501:
            return BergungError(text, "the server does not do this, or not in this way; look at its version")
    return BergungError(text, "look into the server's log")


def no_catalog(who: str, kind: str) -> UsageError:
    """An answer, but not from a REST catalog."""
    return UsageError(
        f"{who} answers with {kind or 'no type of content'}, as no Iceberg REST catalog does",
        "check the catalog's uri in the PyIceberg configuration: what stands before /v1/config; is a proxy or a login page there?",
    )
