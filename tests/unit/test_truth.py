"""The comparison that all proofs of a restore rest on."""

import pytest

from bergung.carry.fingerprint import Fingerprint
from truth import Truth, compare_all, differences, readers_agree

ONE, OTHER = Fingerprint(1, "rows1:01"), Fingerprint(1, "rows1:02")
BEFORE = Truth({7: {"duckdb": ONE, "spark": ONE}}, {1000: {"duckdb": ONE}})


def test_the_same_and_more_is_well() -> None:
    compare_all(BEFORE, Truth({**BEFORE.snapshots, 8: {"duckdb": OTHER}}, BEFORE.moments))


def test_other_rows_and_lost_snapshots_and_moments_are_named() -> None:
    assert differences(BEFORE, Truth({7: {"duckdb": OTHER, "spark": ONE}}, BEFORE.moments)) == [
        "snapshot 7 by duckdb: was 1 rows rows1:01, is 1 rows rows1:02"
    ]
    assert differences(BEFORE, Truth({}, {})) == [
        "snapshot 7 by duckdb: was 1 rows rows1:01, is gone",
        "snapshot 7 by spark: was 1 rows rows1:01, is gone",
        "moment 1000 by duckdb: was 1 rows rows1:01, is gone",
    ]
    with pytest.raises(AssertionError, match="moment 1000 by duckdb"):
        compare_all(BEFORE, Truth(BEFORE.snapshots, {}))


def test_a_reader_that_was_not_asked_again_is_a_difference() -> None:
    assert differences(BEFORE, Truth({7: {"duckdb": ONE}}, BEFORE.moments)) != []


def test_readers_that_disagree_are_named() -> None:
    readers_agree(BEFORE)
    with pytest.raises(AssertionError, match="snapshot 7"):
        readers_agree(Truth({7: {"duckdb": ONE, "spark": OTHER}}, {}))
