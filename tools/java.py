"""Print the home of a Java that Spark can use; with `install`, get one where Debian's packages can be had."""

import os
import shutil
import subprocess
import sys

from bergung.errors import BergungError
from bergung.spark import java

PACKAGES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless")


def main(arguments: list[str]) -> int:
    try:
        print(java.find_home())
    except BergungError as error:
        if "install" not in arguments:
            return 2
        if not (can_install() and any(map(installed, PACKAGES))):
            print(f"error: {error}\nhint: {error.hint}", file=sys.stderr)
            return 2
        print(java.find_home())
    return 0


def can_install() -> bool:
    """As root on a system with apt, its lists of packages up to date."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return False
    return apt("update", "-qq")


def installed(package: str) -> bool:
    print(f"dev: installing {package} (once)", file=sys.stderr)
    if not apt("install", "-qq", "-y", "--no-install-recommends", package):
        return False
    try:
        java.find_home()
    except BergungError:
        return False
    return True


def apt(*words: str) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(["apt-get", *words], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"dev: apt-get {words[0]} failed: {done.stderr.strip()[-300:]}", file=sys.stderr)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
