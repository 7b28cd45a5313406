"""Fetch the jars and make the archive of classes, so that no later start of Spark waits for either."""

import sys

from bergung.errors import BergungError
from bergung.spark import archive, jars
from bergung.spark.session import default_cache


def main() -> int:
    cache = default_cache()
    try:
        print("dev: fetching the Spark jars (once, 60 MB)", file=sys.stderr)
        extra = jars.ensure(cache)
        print("dev: rehearsing a Spark session, so that later ones start faster (once, half a minute)", file=sys.stderr)
        archive.ensure(cache, extra)
    except BergungError as error:
        print(f"error: {error}\nhint: {error.hint}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
