"""What Spark says when something fails, as an error of ours: the cause stands in the middle of pages of Java."""

import re
from collections.abc import Callable

from bergung.errors import BergungError, DamageFound, Interrupted, NotAllowed, SourceChanged, UsageError, error_class

AGAIN = "run the same command again: it goes on where it stopped"
_ON_EXECUTORS = "docs/spark.md says what must be there on executors"

_Make = Callable[["re.Match[str]"], BergungError]


def translated(failure: Exception) -> BergungError:
    """The first cause that we know, else the line that tells most."""
    text = str(failure)
    found = ((make, re.search(pattern, text)) for pattern, make in _KNOWN)
    return next((make(match) for make, match in found if match), None) or BergungError(f"Spark failed: {_telling(text)}", LOGS)


def _other_python(match: "re.Match[str]") -> BergungError:
    theirs, ours = match.groups()
    hint = f"name a Python {ours} that is on every executor: PYSPARK_PYTHON=… or spark.pyspark.python in bergung.toml"
    return BergungError(f"executors run Python {theirs}, this is {ours}", f"{hint}; {_ON_EXECUTORS}")


def _no_module(match: "re.Match[str]") -> BergungError:
    hint = "install it there, or name a Python that has it: PYSPARK_PYTHON=… or spark.pyspark.python in bergung.toml"
    return BergungError(f"the Python of the executors has no {match[1]}", f"{hint}; {_ON_EXECUTORS}")


def _no_python(match: "re.Match[str]") -> BergungError:
    hint = f"name one that is on every executor: PYSPARK_PYTHON=… or spark.pyspark.python in bergung.toml; {_ON_EXECUTORS}"
    return BergungError(f"an executor could not start its Python, {match[1]}", hint)


def _of_ours(match: "re.Match[str]") -> BergungError:
    return error_class(match[1])(f"Spark failed: {match[2]}", LOGS)


def _ended(_: "re.Match[str]") -> BergungError:
    return SourceChanged("Spark was shut down while it worked for this run", AGAIN)


def _gone(_: "re.Match[str]") -> BergungError:
    return SourceChanged("the Connect server does not answer any more, or has forgotten this session", f"when it is back, {AGAIN}")


def _lost(_: "re.Match[str]") -> BergungError:
    hint = "see why executors end, often for want of memory: spark.executor.memory, spark.executor.memoryOverhead"
    return SourceChanged("Spark lost its executors again and again", f"{hint}; then {AGAIN}")


def _lost_file(match: "re.Match[str]") -> BergungError:
    return DamageFound(f"a file of a table is gone: {match[1]}", "bergung restore brings files back from a point")


def _bad_file(match: "re.Match[str]") -> BergungError:
    return DamageFound(f"a file of a table cannot be read: {match[0]}", "bergung restore brings files back from a point")


def _refused(match: "re.Match[str]") -> BergungError:
    hint = "Iceberg in Spark reads with the keys of [[access]] or of the catalog; see that they may read the table's folder"
    return NotAllowed(f"the store refuses Spark: {match[1]}", hint)


def _no_iceberg(match: "re.Match[str]") -> BergungError:
    hint = "start it with the jars that docs/spark.md names for compare"
    return UsageError(f"Spark, where it runs, lacks jars to read Iceberg tables: {match[0]}", hint)


def _stopped(_: "re.Match[str]") -> BergungError:
    return Interrupted("stopped", AGAIN)


LOGS = "run bergung logs for how far the run came"
_KNOWN: tuple[tuple[str, _Make], ...] = (
    (r"PYTHON_VERSION_MISMATCH\D*(\d+\.\d+)\D+(\d+\.\d+)", _other_python),
    (r"ModuleNotFoundError: No module named '(\w+)", _no_module),
    (r'Cannot run program "([^"]+)"', _no_python),
    (r"bergung\.errors\.(\w+): (.*)", _of_ours),
    (r"SparkContext was shut down|stopped SparkContext|SparkContext has been shutdown", _ended),
    (r"StatusCode\.UNAVAILABLE|INVALID_HANDLE|SESSION_CLOSED|SESSION_NOT_FOUND|SESSION_CHANGED", _gone),
    (r"ExecutorLostFailure", _lost),
    (r"iceberg\.exceptions\.NotFoundException: (?:[^:\n]*: )?(.*)", _lost_file),
    (r"ChecksumException: .*|.* is not a Parquet file.*|InvalidAvroMagicException: .*", _bad_file),
    (r"(?:S3Exception|ForbiddenException|AccessControlException): (.*)", _refused),
    (r"\[DATA_SOURCE_NOT_FOUND\] [^.]*|No suitable driver found for jdbc:sqlite|Cannot [^\n]*S3FileIO[^\n]*", _no_iceberg),
    (r"(?i)cancell?ed", _stopped),
)


def _telling(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()] or ["it did not say why"]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return next((line for line in reversed(lines) if "Error:" in line), (causes or lines)[-1 if causes else 0])
