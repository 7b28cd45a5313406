"""AWS Glue's API, reached by PyIceberg's properties; its errors told as ours."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from bergung.catalogs.glue_errors import KEYS, told
from bergung.errors import UsageError

_RETRY_MODES = ("standard", "adaptive", "legacy")


class Glue:
    """One account's catalog in one region; connected when something is asked for the first time."""

    def __init__(self, name: str, properties: Mapping[str, str]) -> None:
        self._name = name
        self._properties = dict(properties)

    def __reduce__(self) -> tuple[type["Glue"], tuple[str, dict[str, str]]]:
        return type(self), (self._name, self._properties)

    def ask(self, operation: str, **words: Any) -> dict[str, Any]:
        """One request; throttling and failures of the service are tried again by the SDK before they are told."""
        try:
            answer: dict[str, Any] = getattr(self._client, operation)(**self._account | words)
        except (ClientError, BotoCoreError) as error:
            raise told(error, self._name) from error
        return answer

    def all(self, operation: str, of: str, **words: Any) -> Iterator[dict[str, Any]]:
        """What is under the key `of`, of all pages."""
        try:
            for page in self._client.get_paginator(operation).paginate(**self._account | words):
                yield from page[of]
        except (ClientError, BotoCoreError) as error:
            raise told(error, self._name) from error

    def tags(self, path: str, account: str) -> dict[str, str]:
        """Of what this path names in the account, `table/sales/orders` for example."""
        meta = self._client.meta
        arn = f"arn:{meta.partition}:glue:{meta.region_name}:{account}:{path}"
        try:
            return dict(self._client.get_tags(ResourceArn=arn)["Tags"])
        except (ClientError, BotoCoreError) as error:
            raise told(error, self._name) from error

    def members(self, shape: str) -> frozenset[str]:
        """What a structure of the API may hold: answers hold more than may be sent back."""
        return frozenset(self._client.meta.service_model.shape_for(shape).members)

    @property
    def _account(self) -> dict[str, str]:
        account = self._properties.get("glue.id")
        return {"CatalogId": account} if account else {}

    @cached_property
    def _client(self) -> Any:
        key_id, secret = self._first("access-key-id"), self._first("secret-access-key")
        if (key_id is None) != (secret is None):
            # The SDK would sign with half of them, and the answer would be that they are wrong.
            raise UsageError(f"half of the credentials for the catalog {self._name} are missing", f"give both: {KEYS}")
        try:
            session = boto3.Session(
                profile_name=self._first("profile-name"),
                region_name=self._first("region"),
                aws_access_key_id=key_id,
                aws_secret_access_key=secret,
                aws_session_token=self._first("session-token"),
            )
            return session.client("glue", endpoint_url=self._properties.get("glue.endpoint"), config=self._config())
        except (ClientError, BotoCoreError) as error:
            raise told(error, self._name) from error
        except ValueError as error:
            # The SDK's answer to an endpoint that is no address.
            fact = f"the catalog {self._name} cannot be reached as it is declared: {error}"
            raise UsageError(fact, "look at glue.endpoint") from error

    def _first(self, name: str) -> str | None:
        return self._properties.get(f"glue.{name}") or self._properties.get(f"client.{name}") or None

    def _config(self) -> Config:
        mode, attempts = self._properties.get("glue.retry-mode", ""), self._properties.get("glue.max-retries", "10")
        if not attempts.isdecimal():
            raise UsageError(f"glue.max-retries of the catalog {self._name} is no number", "write a number, such as 10")
        return Config(retries={"max_attempts": int(attempts), "mode": mode if mode in _RETRY_MODES else "standard"})
