"""Opening a Spark session: local by default, a cluster by `master`, Spark Connect by `remote`."""

import importlib
import os
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from logging import LogRecord
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from bergung.errors import BergungError
from bergung.spark import archive, daemon, jars, java
from bergung.spark.log import open_log, reason
from bergung.spark.reaching import require_answer
from bergung.spark.readiness import bounded, require_executors, require_version
from bergung.spark.shipping import ship_package

LOOPBACK = "127.0.0.1"
PYTHON_CONF = "spark.pyspark.python"
# What the first mapInArrow of a driver imports; about a second, spent while the JVM starts.
NEEDED_BY_THE_FIRST_JOB = ("pyarrow", "pandas", "pyspark.sql.pandas.functions", "pyspark.sql.pandas.types")
EVERYWHERE = {
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
}
AT_START = {
    "spark.speculation": "false",
    "spark.python.worker.reuse": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
CONNECT_SECONDS = 60.0
RETRIES = 8
"""With at most 8 s between them: half a minute."""
LAST_CLASS_PATH = "SPARK_DIST_CLASSPATH"
FOR_SHORT_JOBS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def default_cache() -> Path:
    """$BERGUNG_CACHE, else `bergung` in the user's cache folder."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("BERGUNG_CACHE") or Path(home) / "bergung")


@dataclass(frozen=True)
class SessionSettings:
    """What a session is opened with; `confs` win over everything that is set here."""

    master: str = ""
    remote: str = ""
    cache: Path = field(default_factory=default_cache)
    iceberg: bool = False  # Iceberg's and SQLite's jars must be there; a backup needs none of them
    s3: bool = False  # and the jar with which Iceberg reads S3
    short: bool = False  # a job of seconds: only the fast compiler; slows long SQL down
    confs: Mapping[str, str] = field(default_factory=dict)
    app_name: str = "bergung"
    patience_seconds: float = 120  # for a first executor, elsewhere than here; 0 is for ever

    @property
    def is_local(self) -> bool:
        return not self.remote and (self.master in ("", "local") or self.master.startswith("local["))


def open_session(settings: SessionSettings) -> SparkSession:
    """The session of this process; one that is already open is used as it is, with the confs that can still change."""
    _silence_pyspark()
    if settings.remote:
        return _connected(settings)
    require_answer(settings.master)
    imports = threading.Thread(target=_import_ahead, daemon=True)
    imports.start()
    conf = _start_conf(settings)
    if SparkContext._gateway is None:
        _start_jvm(settings, conf)
    session = SparkSession.builder.config(conf=conf).getOrCreate()
    imports.join()
    if not settings.is_local:
        ship_package(session, settings.cache, connect=False)
        require_executors(session, settings.patience_seconds)
    return session


def iceberg_catalog_conf(name: str, warehouse: Path, sqlite_path: Path) -> dict[str, str]:
    """Confs of a catalog that Iceberg's JdbcCatalog and PyIceberg's SqlCatalog of the same name share."""
    catalog = f"spark.sql.catalog.{name}"
    return {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        f"{catalog}.uri": f"jdbc:sqlite:file:{sqlite_path}",
        f"{catalog}.jdbc.schema-version": "V1",
        f"{catalog}.warehouse": warehouse.as_uri(),
        # Others change these tables too: PyIceberg, a restore.
        f"{catalog}.cache-enabled": "false",
    }


def _connected(settings: SessionSettings) -> SparkSession:
    require_answer(settings.remote)
    builder = SparkSession.builder.remote(settings.remote).appName(settings.app_name)
    for key, value in {**EVERYWHERE, **settings.confs}.items():
        builder = builder.config(key, value)
    address = settings.remote.partition(";")[0].rstrip("/")  # what follows may be a token
    try:
        session = bounded(builder.getOrCreate, CONNECT_SECONDS)
    except TimeoutError as error:
        raise BergungError(f"what answers at {address} is no Connect server", "see what spark.remote names") from error
    # The default goes on for ten minutes when the server is gone.
    _retry_less(session)
    require_version(session, address)
    ship_package(session, settings.cache, connect=True)
    require_executors(session, settings.patience_seconds)
    return session


def _retry_less(session: Any) -> None:
    """Imported here, since a classic session need not pay for gRPC."""
    retries = importlib.import_module("pyspark.sql.connect.client.retries")
    session.client.set_retry_policies([retries.DefaultPolicy(max_retries=RETRIES, max_backoff=8000)])


def _start_conf(settings: SessionSettings) -> SparkConf:
    confs = {**EVERYWHERE, **AT_START, **_place(settings)}
    # Spark's own default makes a folder where the user happens to stand.
    confs |= {"spark.app.name": settings.app_name, "spark.sql.warehouse.dir": str(settings.cache / "warehouse")}
    extra = _extra_jars(settings)
    if extra:
        confs["spark.driver.extraClassPath"] = _class_path(extra)
        if not settings.is_local:
            confs["spark.jars"] = ",".join(str(jar) for jar in (*extra, *_last_jars(settings)))
    confs["spark.driver.extraJavaOptions"] = " ".join(_jvm_options(settings, extra))
    confs.update(settings.confs)
    return SparkConf(loadDefaults=False).setAll(list(confs.items()))


def _extra_jars(settings: SessionSettings) -> list[Path]:
    if settings.iceberg:
        return jars.ensure(settings.cache)
    # Here they are used even when not asked for: so one archive of classes fits every local session. Elsewhere they would be sent.
    return jars.present(settings.cache) if settings.is_local else []


def _last_jars(settings: SessionSettings) -> list[Path]:
    return jars.ensure(settings.cache, jars.FOR_S3) if settings.s3 else []


def _place(settings: SessionSettings) -> dict[str, str]:
    if not settings.is_local:
        return {"spark.master": settings.master}
    # Four tries for a task: plain local[N] fails the whole job with one dead worker.
    master = settings.master or f"local[{os.cpu_count() or 2},4]"
    here = {"spark.master": master, "spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK}
    return {**here, "spark.python.daemon.module": daemon.__name__}


def _jvm_options(settings: SessionSettings, extra: Iterable[Path]) -> list[str]:
    # Without -Xlog:disable a shared archive that no longer fits is announced on the user's terminal.
    options = ["-Xlog:disable"]
    shared = archive.find(settings.cache, java.find_home(), extra)
    if shared:
        options.append(f"-XX:SharedArchiveFile={shared}")
    if settings.short:
        options.append(FOR_SHORT_JOBS)
    return options


def _start_jvm(settings: SessionSettings, conf: SparkConf) -> None:
    os.environ["JAVA_HOME"] = str(java.find_home())
    last = [os.environ.get(LAST_CLASS_PATH, ""), *map(str, _last_jars(settings))]
    # At the end of the class path: what comes before is as it was when the archive of classes was made.
    os.environ[LAST_CLASS_PATH] = os.pathsep.join(filter(None, last))
    if settings.is_local:
        os.environ.update(PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable)
        os.environ["SPARK_LOCAL_IP"] = LOOPBACK
    elif PYTHON_CONF in settings.confs:
        # Spark reads this conf only in spark-submit; what PySpark sends to executors is the variable.
        os.environ["PYSPARK_PYTHON"] = settings.confs[PYTHON_CONF]
    # The JVM's own words go to a file: what matters reaches the user as an error of ours.
    path, log = open_log(settings.cache)
    with log:
        try:
            gateway = launch_gateway(conf, {"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]
        except PySparkRuntimeError as error:
            raise BergungError(f"Spark did not start: {reason(path)}", f"read {path}") from error
    SparkContext._ensure_initialized(gateway=gateway, conf=conf)


def _class_path(extra: Iterable[Path]) -> str:
    return os.pathsep.join(str(jar) for jar in extra)


def _silence_pyspark() -> None:
    # It prints every refused query as a page of JSON on the terminal; the same error is raised anyhow.
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).addFilter(_nothing)


def _nothing(_: LogRecord) -> bool:
    return False


def _import_ahead() -> None:
    for name in NEEDED_BY_THE_FIRST_JOB:
        importlib.import_module(name)
