"""Print the home of a Java that Spark can use; with `install`, get one where Debian's packages can be had."""

import os
import shutil
import subprocess
import sys

from bergung.errors import BergungError
from bergung.spark import java

PACKAGE = "openjdk-17-jre-headless"


def main(arguments: list[str]) -> int:
    try:
        print(java.find_home())
    except BergungError as error:
        if "install" not in arguments:
            return 2
        if not can_install():
            print(f"error: {error}\nhint: {error.hint}", file=sys.stderr)
            return 2
        install()
        print(java.find_home())
    return 0


def can_install() -> bool:
    return shutil.which("apt-get") is not None and os.geteuid() == 0


def install() -> None:
    print(f"dev: installing {PACKAGE} (once)", file=sys.stderr)
    quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": sys.stderr, "check": True}
    subprocess.run(["apt-get", "update", "-qq"], **quiet)
    subprocess.run(["apt-get", "install", "-qq", "-y", "--no-install-recommends", PACKAGE], **quiet)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
