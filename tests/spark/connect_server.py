"""A Spark Connect server of our own on 127.0.0.1, from what the pyspark wheel holds."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyspark

from bergung.spark import java

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
PATIENCE_SECONDS = 90


@contextmanager
def connect_server(folder: Path, confs: Mapping[str, str] | None = None) -> Iterator[str]:
    """Start a server in `folder` and give its address for `spark.remote`; it is ended by its own process."""
    port = _free_port()
    log = folder / "connect.log"
    with log.open("wb") as stream:
        server = subprocess.Popen(
            _command(port, confs or {}), cwd=folder, env=_environment(), stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
        )
    try:
        _wait(server, port, log)
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)


def _command(port: int, confs: Mapping[str, str]) -> list[str]:
    settings = {
        "spark.master": "local[2,4]",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        **confs,
    }
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--class", SERVER]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    return [*command, "spark-internal"]


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "JAVA_HOME": str(java.find_home()),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def _wait(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    for _ in range(PATIENCE_SECONDS * 10):
        if server.poll() is not None:
            raise RuntimeError(f"the Connect server ended at once:\n{log.read_text(errors='replace')[-3000:]}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"the Connect server did not answer in {PATIENCE_SECONDS} s:\n{log.read_text(errors='replace')[-3000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
