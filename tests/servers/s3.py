"""An S3 server of the tests, as its owner sees it: buckets to make, and what other clients may do in them."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import uuid4

import botocore.session
from botocore.config import Config

from bergung.stores.access import Access
from bergung.stores.base import Stat
from bergung.stores.s3.store import S3Store

KEY_ID, SECRET, REGION = "bergungtests", "bergungtestssecret", "us-east-1"


@dataclass(frozen=True)
class S3Server:
    """Where it listens; everybody who asks with its keys owns it."""

    name: str
    endpoint: str
    key_id: str = KEY_ID
    secret: str = SECRET

    @cached_property
    def client(self) -> Any:
        """The SDK's own client, with nothing of ours in it."""
        return botocore.session.get_session().create_client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=self.key_id,
            aws_secret_access_key=self.secret,
            config=Config(s3={"addressing_style": "path"}, max_pool_connections=32),
        )

    def access(self, prefix: str = "s3://") -> Access:
        """The owner's."""
        return Access(prefix, self.endpoint, REGION, self.key_id, self.secret, origin=f"the tests' {self.name}")

    def new_bucket(self, *, versioned: bool = False, locked: bool = False) -> "OwnBucket":
        """An empty one of its own; with locks it has versions too."""
        name = f"b-{uuid4().hex[:16]}"
        self.client.create_bucket(Bucket=name, **({"ObjectLockEnabledForBucket": True} if locked else {}))
        if versioned:
            self.client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
        return OwnBucket(self, name)


@dataclass(frozen=True)
class OwnBucket:
    """A bucket, and what another client does in it, past everything of ours."""

    server: S3Server
    name: str

    def store(self, folder: str = "vault") -> S3Store:
        """Ours, below a folder."""
        return S3Store(f"s3://{self.name}/{folder}", (self.server.access(),))

    def overwrite(self, key: str, content: bytes, folder: str = "vault") -> None:
        """A PUT that asks nothing."""
        self.server.client.put_object(Bucket=self.name, Key=f"{folder}/{key}", Body=content)

    def put_marker(self, key: str, folder: str = "vault") -> None:
        """A DELETE that asks nothing."""
        self.server.client.delete_object(Bucket=self.name, Key=f"{folder}/{key}")

    def unfinished(self) -> list[str]:
        """Keys of uploads that were begun and neither completed nor aborted."""
        uploads = self.server.client.list_multipart_uploads(Bucket=self.name).get("Uploads", [])
        return [upload["Key"] for upload in uploads]

    def lock(self, stat: Stat, until: datetime, mode: str = "GOVERNANCE", folder: str = "vault") -> None:
        """A client with that right keeps a version until then."""
        retention = {"Mode": mode, "RetainUntilDate": until}
        named = {"Bucket": self.name, "Key": f"{folder}/{stat.key}", "VersionId": stat.version}
        self.server.client.put_object_retention(**named, Retention=retention)
