"""MinIO: versions, locks, users with limited rights; a second to start."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.servers import MINIO

from tests.servers.needed import needed
from tests.servers.process import HOST, answers, free_port, running
from tests.servers.s3 import KEY_ID, SECRET, S3Server

_QUIET = {"MINIO_SCANNER_SPEED": "fastest", "MINIO_BROWSER": "off", "MINIO_UPDATE": "off", "MINIO_CALLHOME_ENABLE": "off"}


@contextmanager
def minio(folder: Path, port: int | None = None) -> Iterator[S3Server]:
    """While inside, it serves what lies in the folder."""
    port = port or free_port()
    command = [
        needed(MINIO),
        "server",
        folder / "objects",
        "--address",
        f"{HOST}:{port}",
        "--console-address",
        f"{HOST}:{free_port()}",
    ]
    environment = {**_QUIET, "MINIO_ROOT_USER": KEY_ID, "MINIO_ROOT_PASSWORD": SECRET, "MINIO_CONFIG_DIR": str(folder / "config")}
    with running(command, folder, lambda: answers(f"http://{HOST}:{port}/minio/health/ready"), environment):
        yield S3Server("MinIO", f"http://{HOST}:{port}")
