"""A path goes where the plain rule says, however it is found out."""

from collections.abc import Mapping, Sequence

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bergung.errors import UsageError
from bergung.iceberg.paths import as_folder, below, normal
from bergung.iceberg.relocate.path_map import PathMap
from tests.properties.test_path_laws import paths

ROOTS = ("/", "/t", "file:/t/tt", "file:///t/a b", "s3://b", "s3a://b/t", "s3n://b/t/tt/", "hdfs://n/t", "hdfs:/t", "gs://x/t")
TARGETS = ("/n", "s3://n/elsewhere/", "file:///t", "s3a://b/t")

folders = st.sampled_from(ROOTS)
inside = st.builds(
    lambda root, rest: "/".join([root.rstrip("/"), *rest]),
    folders,
    st.lists(st.sampled_from(("t", "tt", "a b", "..", "", ".x", "\0"))),
)
pairs = st.lists(st.tuples(folders, st.sampled_from(TARGETS) | folders), max_size=4)
exact = st.dictionaries((inside | paths).map(normal), st.just("s3://n/beside/1"), max_size=4)


def plainly(pairs: Sequence[tuple[str, str]], exact: Mapping[str, str], path: str) -> str | None:
    """Single files first; then of all folders that the path lies below, the longest."""
    if normal(path) in exact:
        return exact[normal(path)]
    covering = [(len(as_folder(source) or ""), source, target) for source, target in pairs if below(source, path) is not None]
    if not covering:
        return None
    _, source, target = max(covering)
    rest = below(source, path)
    return path if source == target else target.rstrip("/") + (f"/{rest}" if rest else "")


@settings(deadline=None, max_examples=500)
@given(pairs, exact, st.lists(inside | paths, min_size=1))
def test_a_path_goes_where_the_plain_rule_says(given_pairs: list[tuple[str, str]], exact: dict[str, str], tried: list[str]) -> None:
    try:
        moves = PathMap(tuple(given_pairs), exact)
    except UsageError:
        assume(False)
    assert [moves.maybe(path) for path in tried] == [plainly(given_pairs, exact, path) for path in tried]
