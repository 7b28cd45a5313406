"""Finding a Java that Spark can use, without starting one when its release file tells the version."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from bergung.errors import UsageError

WANTED = (17, 21)
ROOTS = (Path("/usr/lib/jvm"), Path("/Library/Java/JavaVirtualMachines"))


def find_home(roots: Iterable[Path] = ROOTS) -> Path:
    """JAVA_HOME when it fits, else the java on PATH, else one where systems keep theirs."""
    seen = []
    for home in dict.fromkeys(_candidates(roots)):
        version = major_version(home)
        if version in WANTED:
            return home
        seen.append(f"{home} is {version or 'unreadable'}")
    raise UsageError(
        "no Java 17 or 21 was found" + (f" ({', '.join(seen)})" if seen else ""),
        "install one (Debian, Ubuntu: apt-get install openjdk-17-jre-headless), or set JAVA_HOME to one",
    )


def major_version(home: Path) -> int | None:
    """17 for Java 17; None when the folder holds no Java that answers."""
    release = home / "release"
    text = release.read_text() if release.is_file() else _asked(home / "bin" / "java")
    found = re.search(r'(?:JAVA_VERSION=|version )"(\d+)', text)
    return int(found[1]) if found else None


def _candidates(roots: Iterable[Path]) -> Iterator[Path]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"])
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for root in roots:
        for java in sorted(root.glob("*/bin/java")) + sorted(root.glob("*/Contents/Home/bin/java")):
            yield java.resolve().parent.parent


def _asked(java: Path) -> str:
    if not os.access(java, os.X_OK):
        return ""
    return subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
