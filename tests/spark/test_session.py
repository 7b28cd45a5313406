"""Each session is opened in a process of its own, as a user's run is."""

import json
import subprocess
import sys
from pathlib import Path

from tests.spark.connect_server import connect_server

HEAD = """
import json, sys
from pathlib import Path
import pyarrow as pa
from bergung.spark.session import SessionSettings, iceberg_catalog_conf, open_session

def where(batches):
    import os
    import bergung
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"python": [sys.executable], "package": [bergung.__file__], "rows": [batch.num_rows]})

WHERE = "python string, package string, rows long"
"""


def run(program: str, *arguments: str) -> dict[str, object]:
    """What the program printed; anything else on its streams fails the test."""
    done = subprocess.run(
        [sys.executable, "-c", HEAD + program, *arguments], capture_output=True, text=True, timeout=180, check=False
    )
    assert done.stderr == ""
    (line,) = done.stdout.splitlines()
    answer: dict[str, object] = json.loads(line)
    return answer


def test_a_local_session_says_nothing_listens_on_loopback_and_uses_our_python() -> None:
    answer = run("""
session = open_session(SessionSettings(confs={"spark.sql.execution.arrow.maxRecordsPerBatch": "3"}))
rows = session.range(0, 7, 1, 1).mapInArrow(where, WHERE).collect()
try:
    session.sql("SELECT nothing").collect()
except Exception as error:
    refused = type(error).__name__
context = session.sparkContext
print(json.dumps({"pythons": sorted({row.python for row in rows}), "rows": [row.rows for row in rows],
    "host": context.getConf().get("spark.driver.host"), "ui": context.uiWebUrl, "master": context.master, "refused": refused}))
""")
    assert answer["pythons"] == [sys.executable]
    assert answer["rows"] == [3, 3, 1]
    assert (answer["host"], answer["ui"], answer["refused"]) == ("127.0.0.1", None, "AnalysisException")
    assert str(answer["master"]).endswith(",4]")


def test_spark_and_pyiceberg_share_one_catalog_file(tmp_path: Path) -> None:
    answer = run(
        """
folder = Path(sys.argv[1])
confs = iceberg_catalog_conf("lake", folder / "warehouse", folder / "lake.db")
session = open_session(SessionSettings(iceberg=True, short=True, confs=confs))
session.sql("CREATE NAMESPACE lake.sales")
session.sql("CREATE TABLE lake.sales.orders (id BIGINT) USING iceberg")
session.sql("INSERT INTO lake.sales.orders VALUES (1), (2)")
from pyiceberg.catalog import load_catalog
catalog = load_catalog("lake", type="sql", uri=f"sqlite:///{folder}/lake.db", warehouse=f"file://{folder}/warehouse")
table = catalog.load_table("sales.orders")
table.append(pa.table({"id": pa.array([3], pa.int64())}))
print(json.dumps({"pyiceberg": sorted(table.scan().to_arrow()["id"].to_pylist()),
    "spark": [row.id for row in session.table("lake.sales.orders").sort("id").collect()]}))
""",
        str(tmp_path),
    )
    assert answer == {"pyiceberg": [1, 2, 3], "spark": [1, 2, 3]}


def test_over_connect_the_workers_import_the_package_that_was_sent(tmp_path: Path) -> None:
    with connect_server(tmp_path) as address:
        answer = run(
            """
session = open_session(SessionSettings(remote=sys.argv[1]))
rows = session.range(0, 4, 1, 1).mapInArrow(where, WHERE).collect()
print(json.dumps({"rows": sum(row.rows for row in rows), "packages": [row.package for row in rows]}))
""",
            address,
        )
    assert answer["rows"] == 4
    assert all(".zip" in package for package in answer["packages"])  # type: ignore[attr-defined]


def test_on_a_cluster_the_workers_import_the_package_that_was_sent() -> None:
    answer = run("""
session = open_session(SessionSettings(master="local-cluster[2,1,1024]", short=True))
rows = session.range(0, 4, 1, 2).mapInArrow(where, WHERE).collect()
session.stop()
print(json.dumps({"rows": sum(row.rows for row in rows), "packages": [row.package for row in rows]}))
""")
    assert answer["rows"] == 4
    assert all(".zip" in package for package in answer["packages"])  # type: ignore[attr-defined]


def test_a_jvm_that_does_not_start_is_told_with_its_own_words() -> None:
    answer = run("""
from bergung.errors import BergungError
try:
    open_session(SessionSettings(confs={"spark.driver.memory": "nonsense"}))
except BergungError as error:
    print(json.dumps({"error": str(error), "hint": error.hint}))
""")
    assert "nonsense" in str(answer["error"])
    assert str(answer["hint"]).startswith("read ")
