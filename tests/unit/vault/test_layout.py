"""Where things lie in a vault: each case of format.md, "Layout" and "Keys"."""

from hashlib import sha256

import pytest

from bergung.vault.layout import (
    ADMIN_LOG,
    CHECKPOINTS,
    LOG,
    beside_key,
    blob_key,
    point_key,
    receipts_key,
    run_key,
    slot_key,
    slot_of,
    table_folder,
)

PLAIN = [
    ("/wh/t", "/wh/t/data/a.parquet", "files/data/a.parquet", "below the location"),
    ("file:///wh/t", "file:/wh/t/data/a.parquet", "files/data/a.parquet", "however both are written"),
    ("s3://b/t", "s3a://b/t/data/a.parquet", "files/data/a.parquet", "in a store too"),
    ("s3://b/t", "s3://b/t/x=a%2Fb/c+d, ü?#.parquet", "files/x=a%2Fb/c+d, ü?#.parquet", "letter for letter, never escaped"),
    ("s3://b/t", "s3://b/t/a..b/..c/d..", "files/a..b/..c/d..", "dots in names are names"),
    ("s3://b/t", "s3://b/t/.hidden/_x", "files/.hidden/_x", "so is a dot at the beginning"),
    ("s3://b/t", "s3://b/u/a.parquet", "elsewhere/s3/b/u/a.parquet", "outside the location"),
    ("s3://b/t", "s3a://b/u/a.parquet", "elsewhere/s3/b/u/a.parquet", "three names of one store"),
    ("s3://b/t", "s3://b/tt/a.parquet", "elsewhere/s3/b/tt/a.parquet", "another folder that begins alike"),
    ("/wh/t", "/other/a.parquet", "elsewhere/file/-/other/a.parquet", "no authority"),
    ("hdfs://nn:8020/t", "hdfs://nn:8020/u/a", "elsewhere/hdfs/nn:8020/u/a", "an authority with a port"),
    ("s3://b/t", f"s3://b/t/{'a' * 255}", f"files/{'a' * 255}", "the longest segment"),
    ("s3://b/t", f"s3://b/t/{'ü' * 127}", f"files/{'ü' * 127}", "counted in bytes"),
    ("s3://b/t", f"s3://b/t/{'/'.join(['a' * 198] * 4)[:794]}", f"files/{'/'.join(['a' * 198] * 4)[:794]}", "the longest key"),
]
BESIDE = [
    ("s3://b/t", "s3://b/t/a//b", "an empty segment"),
    ("s3://b/t", "s3://b/t/a/", "an empty one at the end"),
    ("s3://b/t", "s3://b/t//a", "an empty one at the beginning"),
    ("s3://b/t", "s3://b/t/./a", "a dot"),
    ("s3://b/t", "s3://b/t/../a", "two dots"),
    ("s3://b/t", "s3://b/t/a\nb", "a control character"),
    ("s3://b/t", "s3://b/t/a\x7fb", "the last of them"),
    ("s3://b/t", "s3://b/t/a\0b", "the first of them"),
    ("s3://b/t", f"s3://b/t/{'a' * 256}", "a segment too long"),
    ("s3://b/t", f"s3://b/t/{'ü' * 128}", "too long in bytes"),
    ("s3://b/t", "s3://b/t/x/.bergung-1.part", "a name of our own"),
    ("s3://b/t", f"s3://b/t/{'/'.join(['a' * 198] * 4)[:795]}", "a key too long"),
    ("s3://b/t", "s3://b/u//a", "the same outside the location"),
    ("/wh/t", "/wh/t/../../etc/passwd", "out of the location"),
    ("/wh/t", "relative/../a", "a path that means nothing on another machine"),
]


@pytest.mark.parametrize(("location", "path", "key", "why"), PLAIN)
def test_a_plain_path_is_its_own_key(location: str, path: str, key: str, why: str) -> None:
    assert blob_key(location, path) == key, why
    assert len(key.encode()) <= 800


@pytest.mark.parametrize(("location", "path", "why"), BESIDE)
def test_any_other_lies_beside(location: str, path: str, why: str) -> None:
    assert blob_key(location, path) == f"beside/{sha256(path.encode()).hexdigest()}", why


def test_what_comes_again_with_other_bytes() -> None:
    own = f"beside/{sha256(b's3://b/t/a').hexdigest()}"
    content = "sha256:" + "ab" * 32
    assert [beside_key("s3://b/t/a", content, again) for again in range(3)] == [
        f"{own}-abababababababab",
        f"{own}-abababababababab-1",
        f"{own}-abababababababab-2",
    ]


UUID = "0f3c2d1e-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("namespace", "name", "identity", "folder"),
    [
        (("sales",), "orders", UUID, "tables/sales.orders-0f3c2d1e/"),
        (("a", "b", "c"), "t", UUID, "tables/a.b.c.t-0f3c2d1e/"),
        ((), "t", UUID, "tables/t-0f3c2d1e/"),
        (("sales",), "orders", "sha256:" + "cd" * 32, "tables/sales.orders-cdcdcdcd/"),
        (("my sales",), "ord/ers%2F€", UUID, "tables/my_sales.ord_ers_2F_-0f3c2d1e/"),
        (("Sales_1",), "a-b.c", UUID, "tables/Sales_1.a-b.c-0f3c2d1e/"),
        (("..",), "..", UUID, "tables/-0f3c2d1e/"),
        (("n" * 100,), "t", UUID, f"tables/{'n' * 80}-0f3c2d1e/"),
    ],
)
def test_the_folder_of_a_table(namespace: tuple[str, ...], name: str, identity: str, folder: str) -> None:
    assert table_folder(namespace, name, identity) == folder


def test_the_layout_of_the_page() -> None:
    assert slot_key(LOG, 0) == "log/00000000000000000000.json"
    assert slot_key(ADMIN_LOG, 7) == "log-admin/00000000000000000007.json"
    assert slot_key(CHECKPOINTS, 255) == "checkpoints/00000000000000000255.json"
    assert point_key("p1") == "points/p1.json"
    assert run_key("r1", "start.json") == "runs/r1/start.json"
    assert receipts_key("sha256:" + "ab" * 32, "sha256:" + "cd" * 32) == f"receipts/{'ab' * 32}-{'cd' * 8}.parquet"


@pytest.mark.parametrize(
    "key",
    [
        "log/1.json",
        "log/00000000000000000001",
        "log/00000000000000000001.json\n",
        "log/x00000000000000000001.json",
        "log/x/00000000000000000001.json",
        "log/٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠١.json",
        "log-admin/00000000000000000001.json",
    ],
)
def test_what_is_no_slot(key: str) -> None:
    assert slot_of(LOG, key) is None
    assert slot_of(LOG, "log/00000000000000000001.json") == 1
