"""The table, the ratios with their bounds, and the same as JSON."""

import argparse
import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

Seconds = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Ratio:
    """`value` must not be above `bound`; without a bound it is only shown."""

    name: str
    value: float
    bound: float | None = None
    unit: str = ""

    def line(self) -> str:
        shown = f"  {self.name:<58}{f'{self.value:.2f}{self.unit}':>8}"
        if self.bound is None:
            return shown
        return f"{shown}   at most {self.bound:g}{self.unit}: {'ok' if self.holds() else 'not reached'}"

    def holds(self) -> bool:
        return self.bound is None or self.value <= self.bound


def arguments(docstring: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=docstring, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured (default 5)")
    parser.add_argument("--quick", action="store_const", dest="rounds", const=3, help="three rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    return parser.parse_args()


def medians(seconds: Seconds) -> dict[str, float]:
    return {name: statistics.median(each) for name, each in seconds.items()}


def print_seconds(title: str, seconds: Seconds) -> None:
    print(f"\n  {title:<58}{'median':>8}{'least':>8}{'most':>8}")
    for name, each in seconds.items():
        print(f"  {name:<58}{statistics.median(each):>8.2f}{min(each):>8.2f}{max(each):>8.2f}")


def print_ratios(ratios: Sequence[Ratio]) -> None:
    print()
    for ratio in ratios:
        print(ratio.line())


def write_json(file: Path | None, facts: Mapping[str, object], seconds: Seconds, ratios: Sequence[Ratio]) -> None:
    if file is not None:
        told = [{**asdict(ratio), "ok": ratio.holds()} for ratio in ratios]
        file.write_text(json.dumps({**facts, "seconds": seconds, "ratios": told}, indent=2) + "\n")
