"""The newest metadata file, told by names."""

import pytest

from bergung.catalogs.newest import newest
from bergung.errors import Refused

A = "0a1b2c3d-0000-4000-8000-00000000000a"
B = "0a1b2c3d-0000-4000-8000-00000000000b"


@pytest.mark.parametrize(
    ("names", "hinted", "found"),
    [
        ([], None, []),
        (["version-hint.text", "snap-1.avro", f"{A}-m0.avro", f"{A}.metadata.json"], 1, []),
        ([f"00009-{A}.metadata.json", f"00010-{B}.metadata.json"], None, [f"00010-{B}.metadata.json"]),
        ([f"99999-{A}.metadata.json", f"100000-{B}.metadata.json"], None, [f"100000-{B}.metadata.json"]),
        ([f"00001-{A}.gz.metadata.json"], None, [f"00001-{A}.gz.metadata.json"]),
        ([f"00001-{A}.metadata.json.gz"], None, [f"00001-{A}.metadata.json.gz"]),
        ([f"00001-{A.upper()}.metadata.json"], None, [f"00001-{A.upper()}.metadata.json"]),
        ([f"00000-{A}.metadata.json", f"00000-{B}.metadata.json", f"00001-{B}.metadata.json"], None, ["last"]),
        (["v1.metadata.json", "v2.metadata.json"], None, ["v2.metadata.json"]),
        (["v2.metadata.json.crc", ".v3.metadata.json.crc", "v4.metadata.json.tmp", "v1.metadata.json"], 1, ["last"]),
        (["v9.metadata.json", "v10.gz.metadata.json"], 9, ["v10.gz.metadata.json"]),
        (["v1.metadata.json", "v2.metadata.json.gz", "v3.metadata.json"], 1, ["v3.metadata.json"]),
        (["v8.metadata.json", "v9.metadata.json"], 3, ["v9.metadata.json"]),
        (["v1.metadata.json", "v5.metadata.json"], 5, ["v5.metadata.json"]),
        (["v1.metadata.json", f"{A}.metadata.json"], 1, ["v1.metadata.json"]),
        # The digits of a uuid alone are no number, however much they look like one.
        (["v1.metadata.json", "12345678-1234-4000-8000-123456789012.metadata.json"], 1, ["v1.metadata.json"]),
    ],
)
def test_the_highest_number_is_the_newest(names: list[str], hinted: int | None, found: list[str]) -> None:
    expected = [names[-1]] if found == ["last"] else found
    assert newest(names, hinted) == expected
    assert newest(reversed(names), hinted) == expected


@pytest.mark.parametrize(
    ("names", "hinted", "why"),
    [
        ([f"00003-{A}.metadata.json", f"00003-{B}.metadata.json"], None, "two files have the highest number"),
        (["v3.metadata.json", "v3.gz.metadata.json"], 3, "two files have the highest number"),
        (["v3.metadata.json", f"00001-{A}.metadata.json"], 3, "files of two kinds"),
        (["v3.metadata.json"], 4, "version-hint.text says 4"),
        (["v1.metadata.json", "v3.metadata.json"], 1, "version 2 is missing"),
        (["v1.metadata.json", "v4.metadata.json"], 2, "version 2 is missing"),
    ],
)
def test_two_answers_are_refused(names: list[str], hinted: int | None, why: str) -> None:
    with pytest.raises(Refused, match=why) as told:
        newest(names, hinted)
    assert "metadata file itself" in told.value.hint
    assert names[-1] in told.value.message
