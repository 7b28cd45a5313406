"""The SDK's clients: one for each way in, kept for the life of the process so that its connections are used again."""

import os
from collections import OrderedDict
from dataclasses import replace
from threading import RLock, local
from typing import Any

from bergung.clock import Clock
from bergung.stores.access import Access, fresh, reaching
from bergung.stores.s3.signing import sign_once
from bergung.version import VERSION

_CONNECTIONS = 64
_CONNECT_SECONDS, _READ_SECONDS = 10, 60
# Catalogs that lend credentials may lend others for each table; a client costs some 5 MB.
_KEPT = 32
_DEFAULT_REGION = "us-east-1"

RAW = "BergungRaw"
"""Under this name an answer to ListObjectVersions brings its own bytes: the SDK sorts versions and markers into two lists."""


class Clients:
    """Who asks gets the client of an access, with credentials that have not ended."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """As new: a forked process must not speak on its parent's connections."""
        self._guard = RLock()
        self._sessions: dict[str, Any] = {}
        self._kept: OrderedDict[Access, Any] = OrderedDict()
        self._renewed: dict[Access, Access] = {}
        self._threads = local()

    def of(self, access: Access, path: str, clock: Clock) -> Any:
        """The client for that path."""
        with self._guard:
            current = self._current(access, path, clock)
            self._asked_with()[access] = current
            plain = replace(current, prefix="")
            if plain not in self._kept:
                self._kept[plain] = self._made(plain)
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(plain)
            return self._kept[plain]

    def in_full(self, access: Access, path: str, clock: Clock) -> Access:
        """The same as it holds now; what a profile says stands in it. What is empty is still the SDK's own business."""
        with self._guard:
            current = self._current(access, path, clock)
        if not current.profile:
            return current
        session = self._session(current.profile)
        region = current.region or session.get_config_variable("region") or ""
        found = session.get_credentials()
        if found is None:
            return replace(current, region=region)
        keys = found.get_frozen_credentials()
        return replace(current, region=region, key_id=keys.access_key, secret=keys.secret_key, token=keys.token or "")

    def renew(self, access: Access, path: str) -> bool:
        """Ask for new credentials although the old ones seemed to hold; False where nobody gives any.

        Threads that meet the end together ask once: who comes later finds others than it asked with, and goes on with those.
        """
        if access.renew is None:
            return False
        with self._guard:
            known = self._renewed.get(access, access)
            if self._asked_with().get(access, known) != known:
                return True
            renewed = reaching(path, access.renew())
            if renewed is None or renewed == known:
                return False
            self._renewed[access] = renewed
        return True

    def _asked_with(self) -> dict[Access, Access]:
        """What each access stood for at this thread's last request."""
        if not hasattr(self._threads, "asked_with"):
            self._threads.asked_with = {}
        found: dict[Access, Access] = self._threads.asked_with
        return found

    def _current(self, access: Access, path: str, clock: Clock) -> Access:
        if access.renew is None:
            return access
        known = self._renewed.get(access, access)
        current = fresh(known, path, clock)
        if current is not known:
            self._renewed[access] = current
        return current

    def _session(self, profile: str) -> Any:
        """One for each profile: it finds credentials once, and what it read of the SDK's own files serves all its clients."""
        if profile not in self._sessions:
            import botocore.session

            self._sessions[profile] = botocore.session.Session(profile=profile or None)
        return self._sessions[profile]

    def _made(self, access: Access) -> Any:
        session = self._session(access.profile)
        own = {
            "endpoint_url": access.endpoint,
            "region_name": access.region or session.get_config_variable("region") or _DEFAULT_REGION,
            "aws_access_key_id": access.key_id,
            "aws_secret_access_key": access.secret,
            "aws_session_token": access.token,
        }
        named = {name: value for name, value in own.items() if value}
        client = session.create_client("s3", config=_config(access), **named)
        client.meta.events.register("before-parse.s3.ListObjectVersions", _keep_raw)
        sign_once(client)
        return client


def _keep_raw(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: Any) -> None:
    customized_response_dict[RAW] = response_dict["body"]


def _config(access: Access) -> Any:
    from botocore import UNSIGNED
    from botocore.config import Config

    styles = {True: "virtual", False: "path" if access.endpoint else "auto"}
    return Config(
        signature_version=UNSIGNED if access.anonymous else "s3v4",
        s3={"addressing_style": styles[access.virtual_hosts]},
        max_pool_connections=_CONNECTIONS,
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
        # What may be asked twice is known here, not there.
        retries={"mode": "standard", "total_max_attempts": 1},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        tcp_keepalive=True,
        user_agent_extra=f"bergung/{VERSION}",
    )


clients = Clients()
os.register_at_fork(after_in_child=clients.forget)
