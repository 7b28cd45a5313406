"""What the figures were measured on."""

import os
import platform
import re
import subprocess
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

BLOCKS = 256  # of 4 MiB


def facts(folder: Path) -> dict[str, str | int | float]:
    """Cores, kernel, versions, and how fast the disk below the folder takes what is written."""
    return {
        "cores": os.cpu_count() or 0,
        "processor": _processor(),
        "kernel": platform.release(),
        "file_system": _of_command(["stat", "-f", "-c", "%T", str(folder)]),
        "disk_write_mb_s": round(_disk_write_mb_s(folder)),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "python": platform.python_version(),
        "spark": version("pyspark"),
        **{name: found for name in ("restic", "borg", "rclone") if (found := _version(name))},
    }


def said(machine: dict[str, str | int | float]) -> list[str]:
    """Two lines."""
    place = f"{machine['file_system']}, writes {machine['disk_write_mb_s']} MB/s (dd conv=fdatasync)"
    programs = [f"{name} {machine[name]}" for name in ("python", "spark", "restic", "borg", "rclone") if name in machine]
    first = f"{machine['cores']} cores ({machine['processor']}), {machine['memory_gb']} GB, Linux {machine['kernel']}, {place}"
    return [first, ", ".join(programs)]


def cpu_seconds() -> float:
    """Of this process and all that it started, also of those that have ended."""
    facts, children = dict[int, float](), dict[int, list[int]]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            number, _, rest = stat.read_text().partition(" (")
            words = rest.rpartition(") ")[2].split()
            facts[int(number)] = sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")
            children.setdefault(int(words[1]), []).append(int(number))
    found = [os.getpid()]
    for each in found:
        found += children.get(each, [])
    return sum(facts.get(each, 0.0) for each in found)


def _disk_write_mb_s(folder: Path) -> float:
    target = folder / "dd"
    words = ["dd", "if=/dev/zero", f"of={target}", "bs=4M", f"count={BLOCKS}", "conv=fdatasync"]
    told = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}).stderr
    target.unlink()
    seconds = re.search(r"copied, ([0-9.e+-]+) s", told)
    return BLOCKS * 4 * 1024 * 1024 / float(seconds[1]) / 1e6 if seconds else 0.0


def _processor() -> str:
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return found[1].strip() if found else platform.machine()


def _version(program: str) -> str:
    found = re.search(r"\d+\.\d+\S*", _of_command([program, "version" if program != "borg" else "--version"]))
    return found[0] if found else ""


def _of_command(words: list[str]) -> str:
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""
