"""Whatever is asked of them in whatever order, files and memory answer the same."""

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bergung.errors import BergungError
from bergung.stores.base import Stat, Store, Version
from bergung.stores.local import LocalStore
from bergung.stores.memory import MemoryStore

# None is the beginning of another with a slash behind it: there the two differ, as a file is no folder.
KEYS = st.sampled_from(["a", "a.b", "a-b/c", "b/a", "b/a.b/c", "b/a-b", "b/ü %2F", "c/d/e/f", "c/d/e/g", "c/d0"])
PREFIXES = KEYS | st.sampled_from(["", "b", "b/", "b/a", "c/d", "c/d/", "c/d/e/", "x", "x/y/"])
CONTENTS = st.binary(max_size=20)
NUMBERS = st.integers(0, 25)


class SourceBroke(Exception):
    """The blocks break off."""


def breaking(content: bytes) -> Iterator[bytes]:
    yield content
    raise SourceBroke


class StoresAgree(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.files = LocalStore(self.folder.name)
        self.memory = MemoryStore(uuid.uuid4().hex)
        self.seen: dict[str, list[tuple[str, str]]] = {}
        self.tick = 1_000_000_000

    def teardown(self) -> None:
        self.folder.cleanup()

    def same(self, ask: Callable[[Store], object]) -> object:
        answers = [outcome(ask, store) for store in (self.files, self.memory)]
        assert answers[0] == answers[1]
        return answers[0]

    def remember(self, key: str) -> None:
        # A clock of coarse ticks could give two contents one time, and a new file the number of one that is gone.
        self.tick += 1
        os.utime(Path(self.files.root) / key, ns=(self.tick, self.tick))
        pair = self.files.head(key).version, self.memory.head(key).version
        self.seen.setdefault(key, []).append(pair)

    @rule(key=KEYS, contents=st.lists(CONTENTS, max_size=3))
    def put(self, key: str, contents: list[bytes]) -> None:
        if isinstance(self.same(lambda store: store.put_if_absent(key, iter(contents))), tuple):
            self.remember(key)

    @rule(key=KEYS, content=CONTENTS)
    def put_what_breaks_off(self, key: str, content: bytes) -> None:
        self.same(lambda store: store.put_if_absent(key, breaking(content)))

    @rule(source=KEYS, key=KEYS)
    def copy(self, source: str, key: str) -> None:
        if isinstance(self.same(lambda store: store.copy(source, key)), tuple):
            self.remember(key)

    @rule(key=KEYS, content=CONTENTS)
    def another_client_overwrites(self, key: str, content: bytes) -> None:
        if key in [found.key for found in self.memory.list(key)]:
            (Path(self.files.root) / key).write_bytes(content)
            self.memory.overwrite(key, content)
            self.remember(key)

    @rule(key=KEYS)
    def delete(self, key: str) -> None:
        self.same(lambda store: store.delete(key))

    @rule(key=KEYS, number=NUMBERS)
    def delete_a_version(self, key: str, number: int) -> None:
        files, memory = self.version(key, number)
        self.same(lambda store: store.delete(key, version=files if store is self.files else memory))

    @rule(key=KEYS, start=NUMBERS, length=st.none() | NUMBERS)
    def read(self, key: str, start: int, length: int | None) -> None:
        self.same(lambda store: store.read(key, start=start, length=length))

    @rule(key=KEYS, number=NUMBERS)
    def read_a_version(self, key: str, number: int) -> None:
        files, memory = self.version(key, number)
        self.same(lambda store: store.read(key, version=files if store is self.files else memory))

    @rule(key=KEYS, block_bytes=st.integers(1, 30))
    def blocks(self, key: str, block_bytes: int) -> None:
        self.same(lambda store: list(store.blocks(key, block_bytes=block_bytes)))

    @rule(keys=st.lists(KEYS, max_size=4))
    def make_durable(self, keys: list[str]) -> None:
        self.same(lambda store: store.make_durable(keys))

    @rule(prefix=PREFIXES)
    def list(self, prefix: str) -> None:
        self.same(lambda store: [plain(found) for found in store.list(prefix)])

    @rule(prefix=PREFIXES)
    def list_versions(self, prefix: str) -> None:
        self.same(lambda store: [plain(found) for found in store.list_versions(prefix)])

    @invariant()
    def no_unfinished_write_is_left(self) -> None:
        assert list(Path(self.folder.name).rglob("*.part")) == []

    def version(self, key: str, number: int) -> tuple[str, str]:
        pairs = self.seen.get(key) or [("never", "never")]
        return pairs[number % len(pairs)]


def outcome(ask: Callable[[Store], object], store: Store) -> object:
    try:
        return plain(ask(store))
    except (BergungError, SourceBroke) as error:
        return type(error)


def plain(answer: object) -> object:
    """What both must agree on: not the version's spelling, not the moment."""
    if isinstance(answer, Stat):
        return answer.key, answer.size_bytes
    if isinstance(answer, Version):
        return answer.key, answer.size_bytes, answer.is_latest, answer.is_marker
    return answer


StoresAgree.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestStoresAgree = StoresAgree.TestCase
