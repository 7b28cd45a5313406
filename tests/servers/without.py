"""A Python in which packages are really missing: everything that is installed but them."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import bergung


def run_without(names: tuple[str, ...], program: str, folder: Path) -> str:
    """What the program prints there, both streams."""
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if not each.name.startswith(names):
            (folder / each.name).symlink_to(each)
    # -S: nothing that is installed is found by itself.
    source = Path(bergung.__path__[0]).parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (source, folder)))}
    command = [sys.executable, "-S", "-c", program]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=environment)
    return done.stdout
