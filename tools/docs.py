"""Writes the generated pages (`write`) and checks that the docs tell the truth (`check`)."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from cli_reference import command_paths, reference

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
CLI_PAGE = DOCS / "cli.md"
SOURCE = ROOT / "src" / "bergung"
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE_BLOCK = re.compile(r"```.*?```", re.DOTALL)


def main(arguments: list[str]) -> int:
    if arguments == ["write"]:
        CLI_PAGE.write_text(reference())
        print(f"wrote {CLI_PAGE.relative_to(ROOT)}")
        return 0
    found = [*stale(), *dead_links(), *unknown_commands(), *untold_commands(), *untold_rooms()]
    print("\n".join(found))
    return 1 if found else 0


def pages() -> list[Path]:
    return [*ROOT.glob("*.md"), *sorted(DOCS.rglob("*.md"))]


def stale() -> Iterator[str]:
    if not CLI_PAGE.is_file() or CLI_PAGE.read_text() != reference():
        yield "docs/cli.md does not tell what the commands say; run ./dev docs"


def dead_links() -> Iterator[str]:
    for page in pages():
        for target in LINK.findall(CODE_BLOCK.sub("", page.read_text())):
            path, _, anchor = target.partition("#")
            if ":" in path:
                continue  # another site
            place = (page.parent / path).resolve() if path else page
            if not place.exists():
                yield f"{page.relative_to(ROOT)}: {target} leads nowhere"
            elif anchor and place.suffix == ".md" and anchor not in anchors(place):
                yield f"{page.relative_to(ROOT)}: {target} names no heading"


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ +(.+)$", CODE_BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def unknown_commands() -> Iterator[str]:
    """What the pages tell people to type must exist."""
    verbs, ours = command_paths(), dev_commands()
    for page in pages():
        for line in typed_lines(page.read_text()):
            words = line.removeprefix("$ ").split()
            if words[:1] == ["./dev"] and words[1:2] and words[1].islower() and words[1] not in ours:
                yield f"{page.relative_to(ROOT)}: ./dev has no command {words[1]}"
            words = words[1:] if words[:2] == ["./dev", "bergung"] else words
            if words[:1] == ["bergung"] and words[1:2] and re.fullmatch(r"[a-z]+", words[1]) and words[1] not in verbs:
                yield f"{page.relative_to(ROOT)}: bergung has no command {words[1]}"


def typed_lines(text: str) -> Iterator[str]:
    """Lines of code blocks, and single backticked commands."""
    for block in CODE_BLOCK.findall(text):
        yield from (line.strip() for line in block.splitlines()[1:-1])
    yield from re.findall(r"(?<!`)`((?:\./dev|bergung) [^`\n]+)`(?!`)", CODE_BLOCK.sub("", text))


def untold_commands() -> Iterator[str]:
    told = "\n".join(page.read_text() for page in pages())
    for command in dev_commands():
        if f"./dev {command}" not in told:
            yield f"no page tells of ./dev {command}"


def dev_commands() -> list[str]:
    done = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True)
    return re.findall(r"^  ([a-z]+)\b", done.stdout, re.MULTILINE)


def untold_rooms() -> Iterator[str]:
    house = DOCS / "house.md"
    told = house.read_text() if house.is_file() else ""
    for room in sorted(path.parent.name for path in SOURCE.glob("*/__init__.py")):
        if not re.search(rf"\b{room}/", told):
            yield f"docs/house.md does not tell of the room {room}/"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
