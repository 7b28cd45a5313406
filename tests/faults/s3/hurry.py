"""A clock for tests that wait for patience to end."""

from bergung.clock import SystemClock


class FastClock(SystemClock):
    """Thirty seconds pass in one."""

    def monotonic(self) -> float:
        return super().monotonic() * 30
