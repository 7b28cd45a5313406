"""versitygw: S3 on a folder of this machine; starts in a fifth of a second."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.servers import VERSITYGW

from tests.servers.needed import needed
from tests.servers.process import HOST, free_port, listens, running
from tests.servers.s3 import KEY_ID, SECRET, S3Server


@contextmanager
def versitygw(
    folder: Path,
    port: int | None = None,
    *,
    access_log: Path | None = None,
    keys: tuple[str, str] = (KEY_ID, SECRET),
    tls: tuple[Path, Path] | None = None,
) -> Iterator[S3Server]:
    """While inside, it serves what lies in the folder; who has the keys owns it; with a log, a line for each request.

    With a certificate and its key it speaks TLS.
    """
    port = port or free_port()
    # The path of the versions must not begin with that of the objects.
    root, versions, users = (folder / name for name in ("objects", "versions", "users"))
    for each in (root, versions, users):
        each.mkdir(parents=True, exist_ok=True)
    command = [
        needed(VERSITYGW),
        "--port",
        f"{HOST}:{port}",
        "--iam-dir",
        users,
        "--quiet",
        *(["--access-log", access_log] if access_log else []),
        *(["--cert", tls[0], "--key", tls[1]] if tls else []),
        "posix",
        "--versioning-dir",
        versions,
        root,
    ]
    with running(command, folder, lambda: listens(port), {"ROOT_ACCESS_KEY": keys[0], "ROOT_SECRET_KEY": keys[1]}):
        yield S3Server("versitygw", f"http{'s' if tls else ''}://{HOST}:{port}", *keys)
