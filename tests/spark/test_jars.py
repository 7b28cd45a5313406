"""The jars come from a Maven repository of our own on disk, through Spark's real resolver."""

import hashlib
from pathlib import Path

import pytest

from bergung.errors import BergungError
from bergung.spark import jars
from bergung.spark.jars import Jar

POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>org.example.bergung</groupId><artifactId>little</artifactId><version>1.0</version></project>
"""
BYTES = b"these are the bytes of a jar"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository" / "org" / "example" / "bergung" / "little" / "1.0"
    folder.mkdir(parents=True)
    (folder / "little-1.0.pom").write_text(POM)
    (folder / "little-1.0.jar").write_bytes(BYTES)
    monkeypatch.setenv("DEFAULT_ARTIFACT_REPOSITORY", (tmp_path / "repository").as_uri() + "/")
    return folder


def little(content: bytes) -> Jar:
    return Jar("org.example.bergung", "little", "1.0", hashlib.sha256(content).hexdigest())


def test_a_jar_is_fetched_once_and_then_needs_no_repository(repository: Path, tmp_path: Path) -> None:
    wanted = (little(BYTES),)
    assert jars.present(tmp_path / "cache", wanted) == []
    (place,) = jars.ensure(tmp_path / "cache", wanted)
    assert place.read_bytes() == BYTES
    (repository / "little-1.0.jar").unlink()
    assert jars.ensure(tmp_path / "cache", wanted) == [place]
    assert sorted(path.name for path in place.parent.iterdir()) == ["little-1.0.jar", "lock"]


def test_a_jar_with_other_bytes_is_refused_and_not_kept(repository: Path, tmp_path: Path) -> None:
    wanted = (little(b"other bytes"),)
    with pytest.raises(BergungError, match=r"is not the pinned org\.example\.bergung:little:1\.0: sha256 is"):
        jars.ensure(tmp_path / "cache", wanted)
    assert jars.present(tmp_path / "cache", wanted) == []


def test_a_jar_changed_in_the_cache_is_refused(repository: Path, tmp_path: Path) -> None:
    wanted = (little(BYTES),)
    (place,) = jars.ensure(tmp_path / "cache", wanted)
    place.write_bytes(BYTES + b"!")
    with pytest.raises(BergungError, match="is not the pinned"):
        jars.ensure(tmp_path / "cache", wanted)


def test_a_jar_that_no_repository_has_says_so_and_how_to_help(repository: Path, tmp_path: Path) -> None:
    (repository / "little-1.0.pom").unlink()
    (repository / "little-1.0.jar").unlink()
    with pytest.raises(BergungError, match="could not be fetched: .*little") as raised:
        jars.ensure(tmp_path / "cache", (little(BYTES),))
    assert "little-1.0.jar" in raised.value.hint
