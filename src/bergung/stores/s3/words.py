"""What a store said, in this house's words: the fact, and what to do."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from bergung.errors import BergungError, MissingObject, NotAllowed, ObjectExists, Refused, SourceChanged, StoreError, StoreFull
from bergung.stores.access import Access
from bergung.stores.s3.kinds import Kind, answer_in, kind_of


@dataclass(frozen=True)
class Asked:
    """What was asked of whom, by whom; never a secret."""

    operation: str
    bucket: str
    key: str | None
    access: Access
    now: datetime

    @property
    def what(self) -> str:
        """The address that it was about."""
        return f"s3://{self.bucket}" if self.key is None else f"s3://{self.bucket}/{self.key}"

    @property
    def where(self) -> str:
        """The endpoint, where it is not AWS's own."""
        return self.access.endpoint or f"AWS {self.access.region}".strip()

    @property
    def whose(self) -> str:
        """Whose credentials they were."""
        origin = f" of {self.access.origin}" if self.access.origin else ""
        if self.access.anonymous:
            return f"nobody (anonymous{origin})"
        if self.access.profile:
            return f"profile {self.access.profile}{origin}"
        if self.access.key_id:
            return f"key {self.access.key_id}{origin}"
        return f"the credentials that the SDK finds (environment, profile, role){origin}"


def in_own_words(error: Exception, asked: Asked) -> BergungError:
    """Whatever the SDK raised, as an error of this house."""
    return _SAID.get(kind_of(error), _other)(error, asked)


def missing(what: str) -> MissingObject:
    """Nothing lies there."""
    return MissingObject(f"no such object: {what}")


def exists(what: str) -> ObjectExists:
    """Something lies there."""
    return ObjectExists(f"exists already: {what}")


def locked(what: str) -> NotAllowed:
    """Somebody keeps it from being deleted."""
    return NotAllowed(f"locked: {what}", "its lock must end first; nothing of ours needs to delete it")


def changed(what: str, version: str | None) -> SourceChanged:
    """What was asked for is not what is there."""
    return SourceChanged(f"version {version} of {what} is not there any more", "run the same command again")


def _error_of(error: Exception) -> dict[str, Any]:
    said: dict[str, Any] = answer_in(error).get("Error", {})
    return said


def _headers(error: Exception) -> dict[str, str]:
    headers: dict[str, str] = answer_in(error).get("ResponseMetadata", {}).get("HTTPHeaders", {})
    return headers


def _text(error: Exception) -> str:
    said = _error_of(error)
    return f"{said.get('Code', '')}: {said.get('Message', '')}".strip(": ") if said else f"{type(error).__name__}: {error}"


def _action(asked: Asked) -> str:
    return _ACTIONS.get(asked.operation, f"s3:{''.join(word.title() for word in asked.operation.split('_'))}")


def _place(asked: Asked) -> str:
    return f" at {asked.access.origin}" if asked.access.origin else ", in [[access]] of bergung.toml or in the environment"


def _no_bucket(_: Exception, asked: Asked) -> BergungError:
    return StoreError(f"there is no bucket {asked.bucket} at {asked.where}", "look at its name, or make it first")


def _denied(error: Exception, asked: Asked) -> BergungError:
    message = f"not allowed: {_action(asked)} on {asked.what}, for {asked.whose}: {_text(error)}"
    hint = f"allow {_action(asked)} to them in the bucket's or the user's policy"
    if asked.operation in ("head_object", "get_object"):
        hint += "; and s3:ListBucket: without it AWS says this of every key that is not there"
    return NotAllowed(message, hint)


def _locked(error: Exception, asked: Asked) -> BergungError:
    return locked(f"{asked.what}: {_text(error)}")


def _no_credentials(error: Exception, asked: Asked) -> BergungError:
    return NotAllowed(f"no credentials for {asked.what}: {error}", f"name them{_place(asked)}; or log in: aws sso login")


def _wrong_key(error: Exception, asked: Asked) -> BergungError:
    return NotAllowed(
        f"wrong credentials for {asked.what}: {asked.where} does not know {asked.whose}", f"look at key_id{_place(asked)}"
    )


def _wrong_secret(_: Exception, asked: Asked) -> BergungError:
    return NotAllowed(
        f"wrong credentials for {asked.what}: the secret does not fit {asked.whose}", f"look at secret{_place(asked)}"
    )


def _expired(error: Exception, asked: Asked) -> BergungError:
    return NotAllowed(f"expired credentials for {asked.what}: {asked.whose}: {_text(error)}", f"get new ones{_place(asked)}")


def _clock(error: Exception, asked: Asked) -> BergungError:
    theirs = _headers(error).get("date")
    off = "" if theirs is None else f": it is {_gap(asked.now, parsedate_to_datetime(theirs))} the store's"
    return StoreError(
        f"this machine's clock is wrong{off}; {asked.where} refuses what it signs", "set it: timedatectl set-ntp true"
    )


def _gap(ours: datetime, theirs: datetime) -> str:
    seconds = round((ours - theirs.astimezone(UTC)).total_seconds())
    amount = f"{abs(seconds)} s" if abs(seconds) < 120 else f"{abs(seconds) // 60} minutes"
    return f"{amount} {'ahead of' if seconds > 0 else 'behind'}"


def _region(error: Exception, asked: Asked) -> BergungError:
    right = _error_of(error).get("Region") or _headers(error).get("x-amz-bucket-region")
    if not right:
        return StoreError(
            f"bucket {asked.bucket} is in another region than {asked.access.region!r}: {_text(error)}", "name its region"
        )
    return StoreError(
        f"bucket {asked.bucket} is in region {right}, not in {asked.access.region or 'the default one'}",
        f'write region = "{right}"{_place(asked)}',
    )


def _no_locks(error: Exception, asked: Asked) -> BergungError:
    hint = "Object Lock is switched on when a bucket is made: make one with it"
    return Refused(f"s3://{asked.bucket} has no locks: {_text(error)}", hint)


def _full(error: Exception, asked: Asked) -> BergungError:
    return StoreFull(f"no room left for {asked.what}: {_text(error)}", "make room, or raise the bucket's quota; then run it again")


def _bad_key(error: Exception, asked: Asked) -> BergungError:
    return Refused(f"{asked.where} takes no such key: {asked.what!r}: {_text(error)}", "no object of that name can lie there")


def _two_in_one(error: Exception, asked: Asked) -> BergungError:
    hint = "this store keeps keys as files and folders: a key cannot be the beginning of another with a slash behind it"
    return Refused(
        f"an object lies where a folder should be, or a folder where an object should be: {asked.what}: {_text(error)}", hint
    )


def _archived(error: Exception, asked: Asked) -> BergungError:
    return StoreError(f"archived, and not readable now: {asked.what}", "bring it back first: aws s3api restore-object")


def _unknown_call(error: Exception, asked: Asked) -> BergungError:
    return Refused(f"{asked.where} does not know {_action(asked)}: {_text(error)}", "see what it can: bergung vault validate")


def _unreachable(error: Exception, asked: Asked) -> BergungError:
    return StoreError(f"{asked.where} cannot be reached: {error}", f"look at the network, and at endpoint{_place(asked)}")


def _no_trust(error: Exception, asked: Asked) -> BergungError:
    return StoreError(f"{asked.where} is not trusted: {error}", "name its authority's certificate: AWS_CA_BUNDLE=/path/ca.pem")


def _bare(error: Exception, asked: Asked) -> BergungError:
    return _denied(error, asked) if _error_of(error).get("Code") == "403" else _other(error, asked)


def _missing(error: Exception, asked: Asked) -> BergungError:
    return _no_bucket(error, asked) if asked.key is None else missing(asked.what)


def _other(error: Exception, asked: Asked) -> BergungError:
    return StoreError(f"{asked.where} failed at {_action(asked)} on {asked.what}: {_text(error)}", "run the same command again")


_SAID: dict[Kind, Callable[[Exception, Asked], BergungError]] = {
    Kind.MISSING: _missing,
    Kind.NO_VERSION: _missing,
    Kind.IS_MARKER: _missing,
    Kind.NO_BUCKET: _no_bucket,
    Kind.NO_LOCKS: _no_locks,
    Kind.DENIED: _denied,
    Kind.LOCKED: _locked,
    Kind.NO_CREDENTIALS: _no_credentials,
    Kind.WRONG_KEY: _wrong_key,
    Kind.WRONG_SECRET: _wrong_secret,
    Kind.EXPIRED: _expired,
    Kind.CLOCK: _clock,
    Kind.REGION: _region,
    Kind.FULL: _full,
    Kind.BAD_KEY: _bad_key,
    Kind.TWO_IN_ONE: _two_in_one,
    Kind.ARCHIVED: _archived,
    Kind.UNKNOWN_CALL: _unknown_call,
    Kind.UNREACHABLE: _unreachable,
    Kind.NO_TRUST: _no_trust,
    Kind.BARE: _bare,
}

_ACTIONS = {
    "head_object": "s3:GetObject",
    "list_objects_v2": "s3:ListBucket",
    "list_object_versions": "s3:ListBucketVersions",
    "create_multipart_upload": "s3:PutObject",
    "upload_part": "s3:PutObject",
    "upload_part_copy": "s3:PutObject (and s3:GetObject on the source)",
    "complete_multipart_upload": "s3:PutObject",
    "head_bucket": "s3:ListBucket",
}
