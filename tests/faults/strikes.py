"""The five ways in which an effect goes wrong, for every effect of a run."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.faults.faulty_store import FOREVER, Call, Crash, FaultPlan

WRITE = "put_if_absent"


@dataclass(frozen=True)
class Strike:
    """One way at one effect, counted from 1; a torn write is counted among the writes."""

    way: str
    nth: int
    call: Call

    def plan(self) -> FaultPlan:
        plan = FaultPlan()
        if self.way == "crash before":
            plan.before("effect", self.nth, error=Crash, times=FOREVER)
        elif self.way == "done, answer lost, then crash":
            plan.after("effect", self.nth, error=Crash)
            plan.before("effect", self.nth + 1, error=Crash, times=FOREVER)
        elif self.way == "done, answer lost":
            plan.after("effect", self.nth)
        elif self.way == "error once":
            plan.before("effect", self.nth)
        elif self.way == "error for ever":
            plan.before("effect", self.nth, times=FOREVER)
        else:
            plan.torn(WRITE, self.nth, after_bytes=3)
        return plan

    def __str__(self) -> str:
        return f"{self.way} at {self.nth}: {self.call.operation} {self.call.key}"


WAYS = ("crash before", "done, answer lost, then crash", "done, answer lost", "error once", "error for ever", "torn write")


def strikes(way: str, effects: list[Call], every: int = 1) -> Iterator[Strike]:
    """One for each effect that an undisturbed run has, or for every nth of them, each way beginning at another."""
    chosen = [call for call in effects if way != "torn write" or call.operation == WRITE]
    found = [Strike(way, nth, call) for nth, call in enumerate(chosen, 1)]
    return iter(found[5 * WAYS.index(way) % every :: every])


def fired(strike: Strike, plan: FaultPlan) -> None:
    """The declared fault happened; what should come after a crash cannot come when it was the last effect."""
    assert plan.faults[0].fired, f"never fired: {strike}; effects: {len(plan.effects)}"
