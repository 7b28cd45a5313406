"""Is it all there, and is it what it was."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bergung.cli import words
from bergung.cli.calls import counts
from bergung.cli.door import Door
from bergung.cli.tables import shown
from bergung.cli.telling import Part, Result
from bergung.cli.work import at_work, open_vault
from bergung.clock import to_text
from bergung.errors import DamageFound, UsageError
from bergung.upkeep.damage import Damage
from bergung.upkeep.tampering import Tampered
from bergung.upkeep.verify import VerifyRequest, VerifyResult, run_verify

DIGEST = re.compile("sha256:[0-9a-f]{64}")
NAMED = 100
"""So many damaged files, and tries, are in the JSON result; all are counted."""


def verify(door: Door, point: str | None, given: Mapping[str, Any]) -> Result:
    """Read, compare, and name what is damaged."""
    head = given["expect_head"]
    if head is not None and not DIGEST.fullmatch(head):
        raise UsageError(f"not the digest of a log entry: {head}", "give it whole, as a backup prints it: sha256: and 64 digits")
    if given["data"] and given["budget"]:
        raise UsageError("--data and --budget both say how much is read", "give one of them")
    request = VerifyRequest(
        point=point,
        share=words.to_share(given["data"] or "all"),
        budget_bytes=words.to_bytes(given["budget"]) if given["budget"] else None,
        expect_head=head,
    )
    vault = open_vault(door)
    with at_work(door, ahead="data") as effects:
        result = run_verify(effects, vault, request)
    errors = (_damage(result),) if result.damages else ()
    return Result("damaged" if errors else "complete", _facts(result), list(_parts(result)), errors)


def _facts(result: VerifyResult) -> dict[str, Any]:
    return {
        "run": result.run,
        "points": result.points,
        "checked": counts.facts(result.checked),
        "read": counts.facts(result.read),
        "damaged_count": result.damaged_count,
        "damages": [damage_facts(damage) for damage in result.damages[:NAMED]],
        "void_slots": list(result.void_slots),
        "tampered_count": result.tampered_count,
        "tampered": [_try_facts(each) for each in result.tampered[:NAMED]],
        "head": result.head,
    }


def damage_facts(damage: Damage) -> dict[str, Any]:
    """One damaged file for programs."""
    return {
        "file": damage.file,
        "problem": damage.problem,
        "tables": list(damage.tables),
        "points": list(damage.points),
        "snapshots": list(damage.snapshots),
    }


def _try_facts(tried: Tampered) -> dict[str, Any]:
    return {"file": tried.file, "what": tried.what, "at": to_text(tried.at)}


def _parts(result: VerifyResult) -> Iterator[Part]:
    yield f"{words.many(result.points, 'point')}: {counts.told(result.checked)} are there, {counts.told(result.read)} read"
    yield from damage_parts(result.damages, result.damaged_count)
    if result.void_slots:
        yield f"void slots in the log, passed over: {', '.join(map(str, result.void_slots))}"
    yield from _tried(result)
    yield f"head {result.head}"


def _tried(result: VerifyResult) -> Iterator[Part]:
    """Said also when every point is whole: somebody has rights in this vault that nobody needs."""
    if not result.tampered:
        return
    yield f"tried by somebody else: {words.number(result.tampered_count)}, the points are read past it:"
    for each in result.tampered[: counts.SHOWN_FILES]:
        yield f"  {each.file}: {each.what}, {to_text(each.at)}"
    if result.tampered_count > counts.SHOWN_FILES:
        yield f"  … and {words.number(result.tampered_count - counts.SHOWN_FILES)} more"


def damage_parts(damages: Sequence[Damage], count: int) -> Iterator[Part]:
    """The first damaged files for people, and how many more there are."""
    for damage in damages[: counts.SHOWN_FILES]:
        yield f"{damage.file}: {damage.problem}"
        if damage.tables or damage.points:
            yield f"  harms {_harmed(damage)}"
    if count > min(len(damages), counts.SHOWN_FILES):
        yield f"… and {words.number(count - counts.SHOWN_FILES)} more"


def _harmed(damage: Damage) -> str:
    tables = ", ".join(map(shown, damage.tables)) or "every table"
    in_points = f" in {words.many(len(damage.points), 'point')}" if damage.points else ""
    snapshots = f", snapshots {', '.join(map(str, damage.snapshots))}" if damage.snapshots else ""
    return f"{tables}{in_points}{snapshots}"


def _damage(result: VerifyResult) -> DamageFound:
    tables = sorted({shown(table) for damage in result.damages for table in damage.tables})
    names = f" of {', '.join(tables)}" if tables else ""
    return DamageFound(
        f"{words.many(result.damaged_count, 'file')}{names} damaged or gone",
        "back up again: what the tables still have is stored anew; keep the points that are whole",
    )
