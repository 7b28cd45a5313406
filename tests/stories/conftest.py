"""A lake of real tables and a vault for each story."""

from pathlib import Path

import pytest

from tests.command import call
from tests.stories.small_lake import SmallLake


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallLake:
    """Without tables yet; the vault is made."""
    lake = SmallLake(tmp_path)
    lake.announce(monkeypatch)
    assert call("init").code == 0
    return lake
