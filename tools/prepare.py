"""Fetch the jars and make the archive of classes, so that no later start of Spark waits for either."""

import sys

from bergung.errors import BergungError
from bergung.spark.prepare import prepare
from bergung.spark.session import default_cache


def main() -> int:
    print("dev: fetching the Spark jars (60 MB) and rehearsing a session (once, half a minute)", file=sys.stderr)
    try:
        prepare(default_cache())
    except BergungError as error:
        print(f"error: {error}\nhint: {error.hint}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
