"""AWS Signature Version 4 over requests, for catalogs behind AWS (Glue's and S3 Tables' REST endpoints, API Gateway)."""

from collections.abc import Mapping
from hashlib import sha256
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import requests

from bergung.catalogs.declaration import is_true
from bergung.errors import UsageError


class Signer:
    """From the same properties as PyIceberg reads."""

    @staticmethod
    def wanted(properties: Mapping[str, str]) -> bool:
        """The catalog is declared so."""
        return is_true(properties.get("rest.sigv4-enabled", ""))

    def __init__(self, properties: Mapping[str, str]) -> None:
        # boto3 costs a quarter of a second, so only for those who need it.
        session = import_module("boto3").Session(
            profile_name=properties.get("client.profile-name"),
            region_name=properties.get("client.region"),
            aws_access_key_id=properties.get("client.access-key-id"),
            aws_secret_access_key=properties.get("client.secret-access-key"),
            aws_session_token=properties.get("client.session-token"),
        )
        self._credentials: Any = session.get_credentials()
        self._region = properties.get("rest.signing-region") or session.region_name
        self._service = properties.get("rest.signing-name", "execute-api")
        if self._credentials is None or not self._region:
            missing = "credentials" if self._credentials is None else "region"
            raise UsageError(
                f"requests to the catalog are to be signed, and no {missing} for that can be found",
                "set client.access-key-id and client.secret-access-key, or a profile; and rest.signing-region",
            )

    def sign(self, prepared: requests.PreparedRequest) -> None:
        """Adds the signature; a header that it replaces goes on as Original-…, as Iceberg's own client does it."""
        parts = urlsplit(prepared.url or "")
        body = prepared.body if isinstance(prepared.body, bytes) else b""
        prepared.headers["x-amz-content-sha256"] = sha256(body).hexdigest()
        prepared.headers.pop("Connection", None)
        address = f"{parts.scheme}://{parts.netloc}{parts.path}"
        request = import_module("botocore.awsrequest").AWSRequest(
            prepared.method, address, dict(prepared.headers), body, dict(parse_qsl(parts.query, keep_blank_values=True))
        )
        auth = import_module("botocore.auth").SigV4Auth(self._credentials.get_frozen_credentials(), self._service, self._region)
        auth.add_auth(request)
        signed = dict(request.headers.items())
        moved = {f"Original-{name}": value for name, value in prepared.headers.items() if signed.get(name, value) != value}
        prepared.headers.update({**moved, **signed})
