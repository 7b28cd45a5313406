"""Where a path goes."""

import pytest

from bergung.errors import UnmappedPath, UsageError
from bergung.iceberg.relocate.path_map import PathMap

MOVED = [
    # pairs, path, where it goes, why
    ([("/a/b", "s3://n/t")], "/a/b/c/d", "s3://n/t/c/d", "below the folder"),
    ([("/a/b", "s3://n/t")], "/a/b", "s3://n/t", "the folder itself"),
    ([("/a/b/", "s3://n/t/")], "/a/b/c", "s3://n/t/c", "slashes at the ends do not count"),
    ([("/a/b", "s3://n/t")], "/a/bc/d", None, "only on a slash boundary"),
    ([("file:///a/b", "/n")], "file:/a/b/c", "/n/c", "all spellings of one file get one"),
    ([("file:/a/b", "/n")], "file:///a/b/c", "/n/c", "all spellings of one file get one"),
    ([("/a/b", "/n")], "file://localhost/a//b///c", "/n/c", "all spellings of one file get one"),
    ([("s3a://b/t", "s3://b/t")], "s3n://b/t/f", "s3://b/t/f", "a new spelling of the same place"),
    ([("s3://b/t", "s3://n/t")], "s3://b/t//f", "s3://n/t//f", "in an object store every slash counts"),
    ([("s3://b/t", "s3://n/t")], "s3://b//t/f", None, "in an object store every slash counts"),
    ([("/a", "/x"), ("/a/b", "/y")], "/a/b/c", "/y/c", "the longest wins"),
    ([("/a/b", "/y"), ("/a", "/x")], "/a/b/c", "/y/c", "in whatever order they are given"),
    ([("/a", "/x"), ("/a/b", "/y")], "/a//b/c", "/y/c", "in whatever spelling"),
    ([("/a", "/x"), ("/a/b", "/y")], "/a/bc", "/x/bc", "on a slash boundary"),
    ([("/a", "/x"), ("/a/b", "/y")], "/a/b", "/y", "also for the folder itself"),
    ([("s3a://b", "/x"), ("s3://b/t", "/y")], "s3a://b/t", "/y", "also for the folder itself"),
    ([("s3://b", "s3://n/all")], "s3://b/t/f", "s3://n/all/t/f", "a whole bucket"),
    ([("s3://b", "s3://n/all")], "s3://b/t/a%2Fb ü,c+d", "s3://n/all/t/a%2Fb ü,c+d", "nothing is decoded"),
    ([("/a", "/n")], "/a/../c", None, "`..` may leave the folder"),
    ([("/a", "/n")], "/a/..c/.d", "/n/..c/.d", "dots in names are names"),
    ([("/a", "/a/b")], "/a/b/c", "/a/b/b/c", "into itself, once"),
    ([("file:///a", "file:///a")], "file:/a//b", "file:/a//b", "a map to itself changes nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("pairs", "path", "wanted", "why"), MOVED)
def test_where_a_path_goes(pairs: list[tuple[str, str]], path: str, wanted: str | None, why: str) -> None:
    assert PathMap(tuple(pairs)).maybe(path) == wanted, why


@pytest.mark.parametrize(("pairs", "path", "wanted", "why"), MOVED)
def test_single_files_elsewhere_change_nothing_for_others(
    pairs: list[tuple[str, str]], path: str, wanted: str | None, why: str
) -> None:
    assert PathMap(tuple(pairs), {"s3://else/where": "/n/x"}).maybe(path) == wanted, why


def test_a_single_file_goes_its_own_way_in_every_spelling() -> None:
    moves = PathMap((("/a", "/n"),), {"file:///a/b": "/n/beside/1"})
    assert [moves.of(path) for path in ("/a/b", "file:/a/b", "file:///a//b", "/a/c")] == ["/n/beside/1"] * 3 + ["/n/c"]


def test_a_path_without_a_place_is_refused_by_name() -> None:
    with pytest.raises(UnmappedPath, match="s3://b/x/f"):
        PathMap((("s3://b/t", "/n"),)).of("s3://b/x/f")


@pytest.mark.parametrize("pairs", [[("a", "/n")], [("/a", "n")], [("/a", "/n"), ("file:/a/", "/m")], [("/a/..", "/n")]])
def test_pairs_that_make_no_sense(pairs: list[tuple[str, str]]) -> None:
    with pytest.raises(UsageError):
        PathMap(tuple(pairs))
