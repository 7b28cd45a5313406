"""Users of real servers who may write into one bucket and hide what is there, but delete no version."""

import json
import subprocess
from typing import Any

import botocore.session
from botocore.config import Config
from tools.servers import VERSITYGW, built

from tests.servers.s3 import KEY_ID, REGION, SECRET, S3Server

_MAY = ("PutObject", "GetObject", "GetObjectVersion", "DeleteObject", "ListBucket", "ListBucketVersions", "PutObjectRetention")
_NAME, _SECRET = "intruder", "intruderssecret"


def client_of_intruder(server: S3Server, bucket: str) -> Any:
    """The SDK's own client with credentials of their own."""
    if server.name == "MinIO":
        return _by_role(server, _policy(bucket))
    _make_user(server)
    server.client.put_bucket_policy(Bucket=bucket, Policy=_policy(bucket, Principal=[_NAME]))
    return _client(server, "s3", _NAME, _SECRET)


def _policy(bucket: str, **more: Any) -> str:
    resources = [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]
    statement = {"Effect": "Allow", "Action": [f"s3:{action}" for action in _MAY], "Resource": resources, **more}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _by_role(server: S3Server, policy: str) -> Any:
    sts = _client(server, "sts", KEY_ID, SECRET)
    lent = sts.assume_role(RoleArn="arn:aws:iam::123456789012:role/any", RoleSessionName=_NAME, Policy=policy)["Credentials"]
    return _client(server, "s3", lent["AccessKeyId"], lent["SecretAccessKey"], lent["SessionToken"])


def _make_user(server: S3Server) -> None:
    owner = ["--access", KEY_ID, "--secret", SECRET, "--region", REGION, "--endpoint-url", server.endpoint]
    user = ["--access", _NAME, "--secret", _SECRET, "--role", "user"]
    done = subprocess.run([built(VERSITYGW), "admin", *owner, "create-user", *user], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "exists" in done.stdout + done.stderr, done.stdout + done.stderr


def _client(server: S3Server, service: str, key_id: str, secret: str, token: str | None = None) -> Any:
    return botocore.session.get_session().create_client(
        service,
        endpoint_url=server.endpoint,
        region_name=REGION,
        aws_access_key_id=key_id,
        aws_secret_access_key=secret,
        aws_session_token=token,
        config=Config(s3={"addressing_style": "path"}),
    )
