"""The cases of docs/format.md, Paths: this list is the truth."""

from pathlib import Path

import pytest

from bergung.iceberg.paths import below, is_allowed, is_local, normal, spellings, split_uri

NORMAL = [
    # written, normal form, why
    ("/wh/t/f", "file:///wh/t/f", "a path without a scheme is a local one"),
    ("file:/wh/t/f", "file:///wh/t/f", "as Hadoop writes it"),
    ("file:///wh/t/f", "file:///wh/t/f", "as PyIceberg writes it"),
    ("file://localhost/wh/t/f", "file:///wh/t/f", "this machine by name"),
    ("FILE:/wh/t/f", "file:///wh/t/f", "schemes have no case"),
    ("//wh///t//f", "file:///wh/t/f", "local slashes are folded"),
    ("file:////wh//t/f", "file:///wh/t/f", "local slashes are folded"),
    ("/wh/t/", "file:///wh/t", "a local path does not end in a slash"),
    ("/", "file:///", "but for the root"),
    ("/WH/T/f", "file:///WH/T/f", "names keep their case"),
    ("/wh/a%2Fb c+d,ü", "file:///wh/a%2Fb c+d,ü", "nothing is decoded"),
    ("/wh/a:b/f", "file:///wh/a:b/f", "a colon after the first slash is no scheme"),
    ("/wh/f?x=1#y", "file:///wh/f?x=1#y", "nor are query and fragment split off"),
    ("s3a://b/t/f", "s3://b/t/f", "three names of one store"),
    ("s3n://b/t/f", "s3://b/t/f", "three names of one store"),
    ("S3://b/t/F", "s3://b/t/F", "keys keep their case"),
    ("s3://b//t//f", "s3://b//t//f", "in an object store every slash counts"),
    ("s3://b/t/", "s3://b/t/", "at the end too"),
    ("s3://b/a%2Fb", "s3://b/a%2Fb", "nothing is decoded"),
    ("abfss://c@acct/t/f", "abfs://c@acct/t/f", "with and without TLS is one store"),
    ("gs://b/t/f", "gs://b/t/f", "other stores have one name"),
    ("hdfs://nn:8020/wh//t/", "hdfs://nn:8020/wh/t", "HDFS is a file system"),
    ("hdfs:/wh/t", "hdfs:///wh/t", "the default name node"),
    ("wh/t/f", "wh/t/f", "a relative path means nothing on another machine: as written"),
    ("file:wh/t", "file:wh/t", "the same with a scheme"),
    ("file://other/wh/t", "file://other/wh/t", "another machine's file is no local one: as written"),
    ("s3:/b/t", "s3:/b/t", "no bucket: as written"),
]

BELOW = [
    # prefix, path, what follows (None: not below), why
    ("/a/b", "/a/b/c/d", "c/d", "on a slash boundary"),
    ("/a/b", "/a/bc", None, "only there"),
    ("/a/b/", "/a/b/c", "c", "slashes at the end of a prefix do not count"),
    ("/a/b", "/a/b", "", "the prefix itself"),
    ("file:///a/b", "file:/a/b/c", "c", "whatever the spelling"),
    ("/a/b", "/a//b//c", "c", "whatever the spelling"),
    ("s3://b/t", "s3a://b/t/f", "f", "whatever the spelling"),
    ("s3://b/t/", "s3://b/t//f", "/f", "in an object store every slash counts"),
    ("s3://b/t", "s3://b//t/f", None, "in an object store every slash counts"),
    ("s3://b", "s3://b/t/f", "t/f", "a whole bucket"),
    ("s3://b", "s3://bb/t/f", None, "no other bucket"),
    ("s3://b/t", "gs://b/t/f", None, "no other store"),
    ("s3://b/t", "/b/t/f", None, "a table in an object store never reaches a local file"),
    ("s3://b/t", "file:/etc/passwd", None, "a table in an object store never reaches a local file"),
    ("s3://b/t", "s3://b/T/f", None, "case counts"),
    ("/a/b", "/a/b/../c", None, "`..` may leave the folder"),
    ("/a/b", "/a/b/./c", None, "so `.` is not allowed either"),
    ("s3://b/t", "s3://b/t/..", None, "in keys neither"),
    ("/a/b", "/a/b/..c/d..", "..c/d..", "dots in names are names"),
    ("/a/b", "/a/b/c\0d", None, "no file system has such a name"),
    ("/a/../b", "/a/../b/c", None, "nor may a prefix have it"),
    ("/", "/etc/passwd", None, "the local root is no prefix"),
    ("file:///", "/etc/passwd", None, "however it is written"),
    ("", "/etc/passwd", None, "nor is nothing"),
    ("s3://", "s3://b/t", None, "nor a store without a bucket"),
    ("wh/t", "wh/t/f", None, "a relative path is never below anything"),
    ("file://other/t", "file://other/t/f", None, "nor is another machine's"),
    ("hdfs://nn/wh", "hdfs://nn/wh/t/f", "t/f", "HDFS by its name node"),
    ("hdfs://nn/wh", "hdfs://nn2/wh/t/f", None, "and by no other"),
]


@pytest.mark.parametrize(("written", "form", "why"), NORMAL)
def test_normal(written: str, form: str, why: str) -> None:
    assert normal(written) == form, why
    assert normal(form) == form


@pytest.mark.parametrize(("prefix", "path", "rest", "why"), BELOW)
def test_below(prefix: str, path: str, rest: str | None, why: str) -> None:
    assert below(prefix, path) == rest, why
    assert is_allowed(path, [prefix]) == (rest is not None)


def test_one_prefix_of_several_is_enough():
    assert is_allowed("/b/f", ["/a", "/b"])
    assert not is_allowed("/c/f", ["/a", "/b"])
    assert not is_allowed("/c/f", [])


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("file:/wh/t/f", ("file", "", "/wh/t/f")),
        ("s3a://b/t/f", ("s3", "b", "/t/f")),
        ("s3://b", ("s3", "b", "")),
        ("wh/t", ("", "", "wh/t")),
        ("s3://", ("", "", "s3://")),
    ],
)
def test_split_uri(path: str, parts: tuple[str, str, str]) -> None:
    assert split_uri(path) == parts


def test_is_local():
    assert [path for path in ("/a", "a", "file:/a", "FILE:///a", "s3://a", "hdfs:/a") if is_local(path)] == [
        "/a",
        "a",
        "file:/a",
        "FILE:///a",
    ]


@pytest.mark.parametrize("prefix", ["/a/b/", "s3a://b/t", "abfs://c@acct/t", "gs://b", "hdfs:/wh"])
def test_what_starts_as_a_spelling_is_below(prefix: str) -> None:
    assert spellings(prefix)
    assert all(below(prefix, spelling + "f") == "f" for spelling in spellings(prefix))


@pytest.mark.parametrize("prefix", ["/", "a/b", "/a/../b", "s3://"])
def test_a_prefix_that_is_none_has_no_spelling(prefix: str) -> None:
    assert spellings(prefix) == ()


def test_the_page_of_the_format_has_these_cases_and_no_others() -> None:
    page = (Path(__file__).parents[3] / "docs" / "format.md").read_text().partition("## Paths")[2].partition("\n## ")[0]
    told = {line for line in page.splitlines() if line.startswith("| ") and not line.startswith(("| written", "| prefix |"))}
    normal_rows = {f"| {_cell(path)} | {_cell(form)} | {why} |" for path, form, why in NORMAL}
    below_rows = {f"| {_cell(prefix)} | {_cell(path)} | {_follows(rest)} | {why} |" for prefix, path, rest, why in BELOW}
    assert told == normal_rows | below_rows


def _cell(text: str) -> str:
    return f"`{text}`".replace("\0", "\\0") if text else "(nothing)"


def _follows(rest: str | None) -> str:
    if rest is None:
        return "not below"
    return f"`{rest}`" if rest else "(the prefix itself)"
