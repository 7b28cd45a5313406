"""Hive Metastore 2.3.10 as Spark has it: it checks an expected pointer itself, so engines can do without its locks."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tools.servers import CannotBuild

from bergung.catalogs.base import Catalog
from bergung.catalogs.hive import _swap
from bergung.errors import SourceChanged
from bergung.model.names import TableName
from tests.contract.catalogs.test_hive import HiveContract, HiveEngine, client, opened, point_to
from tests.servers.hive import emptied, hive_metastore_2
from tests.servers.needed import absent

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    try:
        with hive_metastore_2() as uri:
            yield uri
    except CannotBuild as why:
        absent(why)


class Overtaken:
    """The client, and another program that swaps between our look and our swap."""

    def __init__(self, asked: Any, theirs: str) -> None:
        self._asked, self._theirs = asked, theirs
        self.fired = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._asked, name)

    def alter_table_with_environment_context(self, *words: Any) -> None:
        if not self.fired:
            self.fired = True
            point_to(self._asked, self._theirs)
        self._asked.alter_table_with_environment_context(*words)


class TestHiveThatChecks(HiveContract):
    @pytest.fixture
    def uri(self, server: str) -> str:
        emptied(server)
        return server

    @pytest.fixture
    def engine(self, uri: str, tmp_path: Path) -> HiveEngine:
        return HiveEngine(uri, tmp_path / "warehouse")

    @pytest.fixture
    def reopen(self, uri: str) -> Callable[[], Catalog]:
        return partial(opened, "lake", uri)

    def test_who_is_overtaken_without_a_lock_is_told(self, catalog: Catalog, uri: str, orders: TableName) -> None:
        first = catalog.locate(orders).metadata_location
        with client(uri) as asked:
            overtaken = Overtaken(asked, "file:///theirs")
            with pytest.raises(SourceChanged, match="was committed meanwhile"):
                _swap(overtaken, orders, "file:///ours", first)
        assert overtaken.fired
        assert catalog.locate(orders).metadata_location == "file:///theirs"
