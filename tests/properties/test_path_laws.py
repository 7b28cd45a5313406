"""What holds for every path, also for those that somebody hostile would write into a manifest."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from bergung.iceberg.paths import below, is_allowed, is_local, normal
from bergung.iceberg.survey import outside

ROOTS = [
    "",
    "/",
    "//",
    "file:",
    "file:/",
    "file:///",
    "file://localhost/",
    "file://h/",
    "FILE:/",
    "s3://b/",
    "s3a://b/",
]
ROOTS += ["s3://b//", "S3N://b/", "hdfs:/", "hdfs://n/", "s3:/", "x:"]
SEGMENTS = ["t", "tt", "a", "..", ".", "", "...", "%2e%2e", "a b", "ü", "\0", "a\n", "file:", "t?x", "\\.."]

paths = st.builds(lambda root, rest: root + "/".join(rest), st.sampled_from(ROOTS), st.lists(st.sampled_from(SEGMENTS)))
names = st.text(st.characters(exclude_characters="/\0"), min_size=1).filter(lambda name: name not in (".", ".."))
plain = st.lists(names)
prefixes = st.sampled_from(["/t", "file:/t/a/", "s3://b/t", "s3a://b", "hdfs://n/t", "/", "", "s3://b/t/../a"])


@given(paths)
def test_the_normal_form_is_its_own_normal_form(path: str) -> None:
    assert normal(normal(path)) == normal(path)


@given(st.sampled_from(["/t", "file:///t/a", "s3://b/t", "hdfs://n/t"]), plain)
def test_what_is_put_below_a_prefix_is_found_below_it(prefix: str, rest: list[str]) -> None:
    path = "/".join([prefix, *rest])
    assert below(prefix, path) == "/".join(rest)


@given(prefixes, paths)
def test_below_means_that_the_rest_leads_back(prefix: str, path: str) -> None:
    rest = below(prefix, path)
    if rest:
        assert normal(f"{normal(prefix).rstrip('/')}/{rest}") == normal(path)


@given(paths, st.lists(prefixes))
def test_no_dot_segment_is_ever_allowed(path: str, allowed: list[str]) -> None:
    if {".", ".."} & set(path.split("/")):
        assert not is_allowed(path, allowed)


@given(paths, st.lists(st.sampled_from(["s3://b", "s3a://b/t", "gs://x"])))
def test_an_object_store_never_reaches_a_local_file(path: str, allowed: list[str]) -> None:
    if is_local(path):
        assert not is_allowed(path, allowed)


@settings(deadline=None)
@given(st.lists(paths), st.lists(prefixes))
def test_many_paths_at_once_are_judged_as_one_by_one(many: list[str], allowed: list[str]) -> None:
    wanted = [path for path in many if not is_allowed(path, allowed)]
    assert outside(pa.array(many, pa.string()), allowed).to_pylist() == wanted
