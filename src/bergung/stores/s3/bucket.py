"""One request to a bucket: the right client, asked again where that may help, its errors in our words."""

from collections.abc import Callable, Collection
from typing import Any

from bergung.clock import Clock
from bergung.errors import BergungError, Refused
from bergung.stores.access import Access, reaching
from bergung.stores.s3.clients import clients
from bergung.stores.s3.kinds import PASSING, Kind, answer_in, kind_of, sdk_errors
from bergung.stores.s3.patience import PATIENCE_SECONDS, STRANGER_SECONDS, Patience
from bergung.stores.s3.words import Asked, in_own_words

_SDK_DEFAULT = Access("s3://")
_MOST_ASKED_SECONDS = 30.0
_KEY_BYTES = 1024

_answered: set[tuple[str, str]] = set()
_seen: set[tuple[str, str]] = set()


def _nothing() -> None: ...


class Said(Exception):
    """An answer that the caller meant to hear; `tries` tells whether an earlier one may have been lost."""

    def __init__(self, kind: Kind, tries: int, error: Exception) -> None:
        super().__init__(kind)
        self.kind = kind
        self.tries = tries
        self.error = error


class Bucket:
    """A bucket and the ways into it; each key is reached by the access of the longest prefix."""

    def __init__(self, name: str, accesses: tuple[Access, ...], clock: Clock) -> None:
        self.name = name
        self.accesses = accesses
        self.clock = clock

    def access(self, key: str | None) -> Access:
        """How that key is reached; the SDK's own chain where nothing else is known.

        The bucket itself is asked by whoever may do something in it, where nobody is named for all of it.
        """
        found = reaching(self.address(key), self.accesses) or _SDK_DEFAULT
        if key is not None or found.key_id or found.profile or found.anonymous:
            return found
        whole = (Access(self.address(None)),)
        return next((each for each in self.accesses if each is not found and reaching(each.prefix, whole)), found)

    @property
    def endpoint(self) -> str:
        """Who answers."""
        return self.access(None).endpoint

    def address(self, key: str | None) -> str:
        """As it is written in paths."""
        return f"s3://{self.name}" if key is None else f"s3://{self.name}/{key}"

    def checked(self, key: str) -> str:
        """The same; Refused for what no bucket takes, before a store reads something else from it."""
        try:
            length = len(key.encode())
        except UnicodeEncodeError as error:
            raise Refused(f"not a key for an object: {key!r} is no text", "no object of that name can lie there") from error
        if not 0 < length <= _KEY_BYTES:
            raise Refused(f"not a key for an object: {key!r} has {length} bytes", f"keys have 1 to {_KEY_BYTES} bytes")
        return key

    def ask(
        self, operation: str, key: str | None = None, *, meant: Collection[Kind] = (), before_again: Callable[[], None] = _nothing,
        **words: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """One answer of the store. A kind of refusal that is meant comes as Said, every other as an error of this house.

        What `before_again` raises ends it, when no answer came and it would be asked once more.
        """
        patience = Patience(self.clock)
        while True:
            try:
                return self._once(operation, key, words)
            except sdk_errors() as error:
                kind = self._told(operation, key, words, error)
                if kind in meant:
                    raise Said(kind, patience.tries, error) from error
                if not self.goes_on(kind, error, key, patience):
                    raise self.failure(operation, key, error, patience) from error
                if kind is Kind.CUT_OFF:
                    before_again()

    def goes_on(self, kind: Kind, error: Exception, key: str | None, patience: Patience) -> bool:
        """Whether to ask again, after a wait; new credentials are fetched where somebody gives them."""
        access = self.access(key)
        if kind is Kind.EXPIRED:
            return patience.tries < 3 and clients.renew(access, self.address(key)) and patience.wait()
        if kind not in PASSING:
            return False
        is_stranger = kind is Kind.UNREACHABLE and (access.endpoint, access.region) not in _answered
        return patience.wait(STRANGER_SECONDS if is_stranger else PATIENCE_SECONDS, _wished(error))

    def failure(self, operation: str, key: str | None, error: Exception, patience: Patience | None = None) -> BergungError:
        """The error as this house says it."""
        said = in_own_words(error, Asked(operation, self.name, key, self.access(key), self.clock.now()))
        if patience is None or patience.tries == 1:
            return said
        tried = f"{said.message} (asked {patience.tries} times in {patience.seconds:.0f} s)"
        return type(said)(tried, said.hint)

    def check_is_there(self) -> None:
        """StoreError when there is no such bucket: a HEAD of a key says just 404. Asked once in a process."""
        access = self.access(None)
        known = (access.endpoint, self.name)
        if known in _seen:
            return
        try:
            self.ask("head_bucket", meant={Kind.MISSING, Kind.NO_BUCKET, Kind.BARE, Kind.DENIED, Kind.UNKNOWN_CALL})
        except Said as said:
            if said.kind in (Kind.MISSING, Kind.NO_BUCKET):
                raise self.failure("head_bucket", None, said.error) from said
        _seen.add(known)

    def _once(self, operation: str, key: str | None, words: dict[str, Any]) -> dict[str, Any]:
        access = self.access(key)
        client = clients.of(access, self.address(key), self.clock)
        named = words if key is None else {**words, "Key": key}
        answer: dict[str, Any] = getattr(client, operation)(Bucket=self.name, **named)
        _answered.add((access.endpoint, access.region))
        return answer

    def _told(self, operation: str, key: str | None, words: dict[str, Any], error: Exception) -> Kind:
        """The kind; a HEAD that was refused without a reason is asked once more as a GET, which has one."""
        kind = kind_of(error)
        if operation != "head_object" or kind not in (Kind.BARE, Kind.REGION):
            return kind
        try:
            self._once("get_object", key, {**words, "Range": "bytes=0-0"})["Body"].close()
        except sdk_errors() as reason:
            answer_in(error).update(answer_in(reason))
            return kind_of(reason)
        return kind


def _wished(error: Exception) -> float:
    """How long the store wants to be left alone, within reason."""
    headers = answer_in(error).get("ResponseMetadata", {}).get("HTTPHeaders", {})
    wished = str(headers.get("retry-after", ""))
    return min(float(wished), _MOST_ASKED_SECONDS) if wished.isdecimal() else 0.0
