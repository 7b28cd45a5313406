"""The process that forks the Python workers of a local session; the conf `spark.python.daemon.module` names it.

Spark puts archives of its own before what is installed: the same modules, but as source that is compiled at every start; and
before every task a worker reads the directories of these archives again (0.07 s).
"""

import gc
import importlib
import sys

# What the first task of a worker imports: once here, and shared by all that are forked.
NEEDED_BY_THE_FIRST_TASK = ("bergung.carry.giving", "bergung.carry.keeping", "bergung.carry.opening")


def main() -> None:
    """Become Spark's own daemon, on what is installed."""
    sys.path[:] = [path for path in sys.path if not _is_spark_s(path)]
    for path in [path for path in sys.path_importer_cache if _is_spark_s(path)]:
        del sys.path_importer_cache[path]
    daemon = importlib.import_module("pyspark.daemon")
    for name in NEEDED_BY_THE_FIRST_TASK:
        importlib.import_module(name)
    # Spark has workers collect garbage after every task: what is loaded by now need not be looked through each time.
    gc.freeze()
    daemon.manager()


def _is_spark_s(path: str) -> bool:
    return any(name in path for name in ("/pyspark.zip", "/py4j-", "/spark-core_"))


if __name__ == "__main__":
    main()
