"""A Spark Connect server of our own on 127.0.0.1, from what the pyspark wheel holds."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyspark

from bergung.spark import java
from tests.servers.process import HOST, free_port, listens, running

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@contextmanager
def connect_server(folder: Path, confs: Mapping[str, str] | None = None, python: Path | None = None) -> Iterator[str]:
    """Start a server in `folder` and give its address for `spark.remote`; it is ended by its own process."""
    with connect_process(folder, confs or {}, python) as (address, _):
        yield address


@contextmanager
def connect_process(
    folder: Path, confs: Mapping[str, str], python: Path | None = None
) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """The same, and the process itself."""
    port = free_port()
    with running(_command(port, confs), folder, partial(listens, port), _environment(python)) as server:
        yield f"sc://{HOST}:{port}", server


def _command(port: int, confs: Mapping[str, str]) -> list[str]:
    settings = {
        "spark.master": "local[2,4]",
        "spark.ui.enabled": "false",
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.connect.grpc.binding.address": HOST,
        "spark.connect.grpc.binding.port": str(port),
        **confs,
    }
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--class", SERVER]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    return [*command, "spark-internal"]


def _environment(python: Path | None) -> dict[str, str]:
    return {
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "JAVA_HOME": str(java.find_home()),
        "PYSPARK_PYTHON": str(python or sys.executable),
        "SPARK_LOCAL_IP": HOST,
    }
