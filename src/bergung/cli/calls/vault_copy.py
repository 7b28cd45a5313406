"""A second copy of the vault: what is missing there, and what came of it."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bergung.carry.effects import Effects, here
from bergung.cli import words
from bergung.cli.calls import counts
from bergung.cli.calls.verify import damage_facts, damage_parts
from bergung.cli.door import Door
from bergung.cli.settings import address
from bergung.cli.telling import Part, Result
from bergung.cli.work import at_work, open_vault
from bergung.errors import DamageFound
from bergung.plan.copying import CopyPlan
from bergung.upkeep.copying import CopyRequest, CopyResult, plan_copy, run_copy


def copy(door: Door, to: str, given: Mapping[str, Any]) -> Result:
    """Carry what is missing there, or say what that is."""
    share = words.to_share(given["data"]) if given["data"] else 0.0
    request = CopyRequest(address(to, Path.cwd()), share, given["trust"] == "size", given["mend"])
    vault = open_vault(door)
    if given["dry_run"]:
        plan = plan_copy(Effects(engine=here, open_store=door.stores), vault, request)
        return _planned(plan, request, door)
    with at_work(door, ahead="receipts") as effects:
        started = effects.clock.monotonic()
        result = run_copy(effects, vault, request)
        took = effects.clock.monotonic() - started
    errors = tuple(_errors(result, vault.url, request.to))
    return Result("damaged" if errors else "complete", _facts(result, request), list(_parts(result, request, took)), errors)


def _planned(plan: CopyPlan, request: CopyRequest, door: Door) -> Result:
    said = f"to bring to {request.to}: {words.many(len(plan.points), 'point')}, {counts.told(plan.bring)}"
    options = [*(["--trust size"] if request.trust_size else []), *(["--mend"] if request.mend else [])]
    again = " ".join(["bergung vault copy", shlex.quote(request.to), *options]) + door.vault_words()
    return Result("planned", {**_plan_facts(plan), "to": request.to}, [said, f"to do it: {again}"])


def _plan_facts(plan: CopyPlan) -> dict[str, Any]:
    return {"points": list(plan.points), "slots": plan.slots, "brought": counts.facts(plan.bring)}


def _facts(result: CopyResult, request: CopyRequest) -> dict[str, Any]:
    return {
        "run": result.run,
        "to": request.to,
        **_plan_facts(result.plan),
        "points_there": result.points,
        "head": result.head,
        "verified": {
            "run": result.verify_run,
            "checked": counts.facts(result.checked),
            "read": counts.facts(result.read),
        },
        "damaged_count": result.verified.damaged_count,
        "damages": [damage_facts(damage) for damage in result.verified.damages],
    }


def _parts(result: CopyResult, request: CopyRequest, took: float) -> Iterator[Part]:
    if result.plan.points or result.plan.bring.files:
        brought = f"{words.many(len(result.plan.points), 'point')}, {counts.told(result.plan.bring)}"
        yield f"brought {brought} to {request.to} (in {words.seconds(took)})"
        yield f"looked through there: {counts.told(result.checked)} are there, {counts.told(result.read)} read again"
    else:
        yield f"{request.to} has every point already"
    yield from damage_parts(result.verified.damages, result.verified.damaged_count)
    yield f"{words.many(result.points, 'point')} there; head {result.head}"


def _errors(result: CopyResult, url: str, to: str) -> Iterator[DamageFound]:
    count, own = result.verified.damaged_count, result.own
    if count > len(own):
        fact = f"{words.many(count - len(own), 'file')} damaged or gone in {url}; everything else is in the copy"
        yield DamageFound(fact, "back up again: what the tables still have is stored anew; then copy again")
    if own:
        fact = f"{words.many(len(own), 'file')} damaged or gone in the copy {to} alone"
        yield DamageFound(fact, f"remove what is damaged there, then bring it again: bergung vault copy {shlex.quote(to)} --mend")
