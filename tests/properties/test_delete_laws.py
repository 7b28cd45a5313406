"""What holds for the deletes of a table wherever it moves: no row is lost, none is made up, each stays with its file."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.puffin import check_puffin, relocate_puffin
from tests.unit.iceberg.relocate.delete_files import Row, as_text, moved
from tests.unit.iceberg.relocate.delete_formats import FORMATS, made, rows_of
from tests.unit.iceberg.relocate.puffins import deletes, puffin

FOLDERS = ["file:/w/a", "file:/w/b", "file:/w/b/c", "s3://gone"]
PLACES = ["s3://n/1", "s3://n/2", "s3://n/3", "file:/w/a"]

names = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..")
)
paths = st.builds(lambda folder, name: f"{folder}/{name}", st.sampled_from(FOLDERS), names)
rows = st.lists(st.tuples(paths, st.integers(0, 2**40)), max_size=40)
maps = st.builds(
    lambda places, exact: PathMap(tuple(zip(FOLDERS[:3], places, strict=True)), exact),
    st.permutations(PLACES).map(lambda places: places[:3]),
    st.dictionaries(names.map(lambda name: f"file:///w/a/{name}"), st.just("s3://n/beside/x"), max_size=2),
)


def by_place(found: list[Row]) -> list[Row]:
    return sorted(found, key=lambda row: (row[0].encode(), row[1]))


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(FORMATS), rows, maps)
def test_rows_are_those_that_were_meant(file_format: str, found: list[Row], moves: PathMap) -> None:
    old = by_place(found)
    new = moved(made(file_format, old), moves, file_format)
    meant: list[Row] = [(moves.maybe(path) or path, position) for path, position in found]
    assert rows_of(file_format, new.data) == as_text(by_place(meant))
    assert new.dangling_count == sum(moves.maybe(path) is None for path, _ in found)
    if any(moves.maybe(path) not in (path, None) for path, _ in found):
        ends = sorted(path.encode() for path, _ in meant)
        assert new.rewritten.bounds == (ends[0], ends[-1])


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(FORMATS), rows, st.permutations(["s3://n/1", "s3://n/2", "s3://m"]))
def test_there_and_back(file_format: str, found: list[Row], places: list[str]) -> None:
    there = PathMap(tuple(zip(FOLDERS[:3], places, strict=True)))
    back = PathMap(tuple(zip(places, FOLDERS[:3], strict=True)))
    old = made(file_format, by_place(found))
    assert rows_of(file_format, moved(moved(old, there, file_format).data, back, file_format).data) == rows_of(file_format, old)


@settings(deadline=None)
@given(st.lists(st.tuples(paths, st.sets(st.integers(0, 2**34), max_size=5)), max_size=5), st.booleans(), maps)
def test_vectors_follow_their_files(vectors: list[tuple[str, set[int]]], compressed: bool, moves: PathMap) -> None:
    old = puffin(*(deletes(path, positions) for path, positions in vectors), compressed=compressed)
    new = relocate_puffin(old, "p", moves)
    check_puffin(old, new, "p", moves)
    meant = puffin(*(deletes(moves.maybe(path) or path, positions) for path, positions in vectors), compressed=compressed)
    assert new.data == meant
    assert new.dangling_count == sum(moves.maybe(path) is None for path, _ in vectors)


@settings(deadline=None)
@given(st.lists(paths, max_size=5), st.booleans(), st.permutations(["s3://n/1", "s3://n/2", "s3://m"]))
def test_vectors_there_and_back_are_the_same_file(named: list[str], compressed: bool, places: list[str]) -> None:
    there = PathMap(tuple(zip(FOLDERS[:3], places, strict=True)))
    back = PathMap(tuple(zip(places, FOLDERS[:3], strict=True)))
    old = puffin(*(deletes(path, [1, 2]) for path in named), compressed=compressed)
    assert relocate_puffin(relocate_puffin(old, "p", there).data, "p", back).data == old
