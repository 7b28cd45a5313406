"""Secrets travel to executors inside functions: no setting, column, page, log or event holds them."""

import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from shell import shell
from test_cluster import configure, lake  # noqa: F401 - a fixture

from bergung.cli.door import Door
from bergung.spark.session import default_cache
from bergung.stores.open import Stores
from tests.command import call
from tests.servers.process import HOST, free_port
from tests.servers.spark_cluster import Cluster
from tests.stories.small_lake import SmallLake

pytestmark = pytest.mark.nightly

SECRET, PLAIN = "xK7-of-the-vault-q2Z", "a-word-for-everybody"
"""Neither looks like a secret: Spark redacts values too by their look."""
PAGES = ("environment/", "SQL/", "jobs/", "stages/", "executors/", "api/v1/applications")


class Reader(threading.Thread):
    """Reads the pages of the driver as long as it runs."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.url, self.pages, self.over = f"http://{HOST}:{port}", dict[str, bytes](), threading.Event()

    def run(self) -> None:
        while not self.over.is_set():
            for page in PAGES:
                try:
                    with urllib.request.urlopen(f"{self.url}/{page}", timeout=10) as answer:
                        self.pages[page] = answer.read()
                except OSError:
                    time.sleep(0.05)


def test_no_trace_of_a_secret(lake: SmallLake, cluster: Cluster, tmp_path: Path) -> None:  # noqa: F811
    events, local, port = tmp_path / "events", tmp_path / "local", free_port()
    for folder in (events, local):
        folder.mkdir()
    more = {"eventLog.enabled": "true", "eventLog.dir": events.as_uri(), "eventLog.compress": "false", "ui.enabled": "true"}
    more |= {"ui.port": str(port), "local.dir": str(local), "executorEnv.WORD": PLAIN}
    configure(cluster, **{f"spark.{name}": value for name, value in more.items()})
    with Path("bergung.toml").open("a") as file:
        file.write('[[access]]\nprefix = "s3://elsewhere/"\nkey_id = "someone"\nsecret = "file:word.txt"\n')
    Path("word.txt").write_text(SECRET)
    stores = Door().stores
    assert isinstance(stores, Stores) and stores.known[0].secret == SECRET, "what a run sends along has it"

    assert call("init").code == 0
    began = time.time()  # noqa: TID251 - compared with times of files
    reader = Reader(port)
    reader.start()
    with shell({"BERGUNG_SPARK_MASTER": cluster.master}, on_executors=True) as there:
        for words in (("backup", "lake"), ("verify", "--data", "all")):
            assert there.call(*words).code == 0
    reader.over.set()
    reader.join()
    logs = [path for path in (default_cache() / "logs").glob("*.log") if path.stat().st_mtime >= began]
    files = [path for folder in (events, local, cluster.folder, lake.vault) for path in folder.rglob("*") if path.is_file()]
    files = [path for path in files if "python" not in path.relative_to(path.anchor).parts]
    texts = {**{str(path): path.read_bytes() for path in (*files, *logs)}, **reader.pages}
    assert {"environment/", "SQL/"} <= set(reader.pages) and logs
    assert [name for name, text in texts.items() if SECRET.encode() in text] == []
    found = [name for name, text in texts.items() if PLAIN.encode() in text]
    assert any(name.startswith(str(events)) for name in found) and "environment/" in found, (
        "a search that finds nothing shows nothing"
    )
