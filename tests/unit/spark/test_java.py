from pathlib import Path

import pytest

from bergung.errors import UsageError
from bergung.spark import java


def a_java(home: Path, version: str) -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    (home / "bin" / "java").chmod(0o755)
    (home / "release").write_text(f'IMPLEMENTOR="somebody"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    return tmp_path


def test_java_home_is_taken_when_it_fits(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_java(alone / "system" / "a17", "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(a_java(alone / "mine", "21.0.2")))
    assert java.find_home([alone / "system"]) == alone / "mine"


def test_a_java_home_that_spark_cannot_use_is_passed_over(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(a_java(alone / "mine", "25")))
    fits = a_java(alone / "system" / "a17", "17.0.15")
    assert java.find_home([alone / "system"]) == fits


def test_the_java_on_the_path_comes_before_the_systems(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_java(alone / "system" / "a17", "17.0.15")
    on_path = a_java(alone / "other", "17.0.1")
    monkeypatch.setenv("PATH", str(on_path / "bin"))
    assert java.find_home([alone / "system"]) == on_path


def test_a_java_without_a_release_file_is_asked(alone: Path) -> None:
    home = a_java(alone / "system" / "old", "17")
    (home / "release").unlink()
    (home / "bin" / "java").write_text("#!/bin/sh\necho 'openjdk version \"21.0.4\" 2024-07-16' >&2\n")
    assert java.major_version(home) == 21


def test_without_a_fitting_java_the_error_names_what_was_seen_and_what_to_install(alone: Path) -> None:
    a_java(alone / "system" / "old", "11.0.2")
    with pytest.raises(UsageError, match=r"no Java 17 or 21 was found .*old is 11") as raised:
        java.find_home([alone / "system"])
    assert raised.value.exit_code == 2
    assert "openjdk-17-jre-headless" in raised.value.hint
