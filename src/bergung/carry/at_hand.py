"""What this process wrote a moment ago and will ask for again: that needs no way there and back."""

from threading import Lock

MOST_BYTES = 16 * 1024 * 1024


class AtHand:
    """Bytes by name, the first of a run as far as there is room."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._kept: dict[str, bytes] = {}
        self._left = most_bytes
        self._guard = Lock()

    def put(self, name: str, data: bytes) -> bool:
        """False where there is no room: then it must lie in the store."""
        with self._guard:
            if name not in self._kept and len(data) > self._left:
                return False
            self._left -= 0 if name in self._kept else len(data)
            self._kept.setdefault(name, data)
        return True

    def get(self, name: str) -> bytes | None:
        """None where nobody put it, or there was no room."""
        return self._kept.get(name)
