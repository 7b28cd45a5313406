"""What Spark's first start would otherwise wait for: the jars, and the archive of classes.

`python -m bergung.spark.prepare` does it ahead, as ./dev and the image do.
"""

from pathlib import Path

from bergung.spark import archive, jars
from bergung.spark.session import default_cache


def prepare(cache: Path) -> None:
    """Fetch what is missing; made once, this costs a few milliseconds."""
    archive.ensure(cache, jars.ensure(cache))


if __name__ == "__main__":
    prepare(default_cache())
