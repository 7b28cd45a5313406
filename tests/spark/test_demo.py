"""The demo as a newcomer runs it, and that it would say so when a row did not come back."""

from pathlib import Path

import pytest

from bergung.carry.fingerprint import Fingerprint
from bergung.demo.run import compare
from bergung.errors import Different
from tests.command import child


def test_the_demo_gets_every_row_back(tmp_path: Path) -> None:
    said = child("demo", "--folder", str(tmp_path / "demo"), "--json")
    assert said.code == 0, said.err
    assert said.result["snapshots"] >= 20
    steps = [line for line in said.lines if line["type"] == "step" and not line["step"].startswith(" ")]
    assert len(steps) >= 9 and all(line["seconds"] > 0 for line in steps), "each step says how long it took"
    told = " ".join(line.get("step", "") for line in said.lines)
    for part in ("made a lake", "backed the lake up", "only what is new", "PURGE", "files were gone", "compared every row"):
        assert part in told
    assert said.err == ""
    verified = child("verify", "--vault", str(tmp_path / "demo" / "vault"), "--engine", "process", "--json")
    assert verified.code == 0
    assert verified.result["points"] == 2


def test_a_row_that_did_not_come_back_is_told() -> None:
    was, other = Fingerprint(2, "rows1:aa"), Fingerprint(2, "rows1:ab")
    compare({("t", 1): was}, {("t", 1): was})
    for after in ({("t", 1): other}, {}):
        with pytest.raises(Different, match="snapshot 1 of t was 2 rows rows1:aa"):
            compare({("t", 1): was}, after)
