"""Finding out what works, and where settings come from."""

import os
from pathlib import Path

import pytest

from tests.command import call, tree
from tests.stories.small_lake import SmallLake


def test_doctor_says_what_works(lake: SmallLake) -> None:
    lake.make("sales", "orders")
    before = tree(lake.folder)
    said = call("doctor", "--json")
    assert said.code == 0, said.result
    found = {each["check"]: each for each in said.result["checks"]}
    assert set(found) == {"bergung", "python", "settings", "java", "pyspark", "jars", "vault", "catalog lake"}
    assert found["catalog lake"]["fact"] == "1 table"
    assert found["vault"]["fact"].startswith("0 points, refuses a second write, ") and str(lake.vault) in found["vault"]["fact"]
    assert tree(lake.folder) == before, "the probe takes away what it wrote"
    lines = call("doctor").out.splitlines()
    assert len(lines) == len(found) and all(" ok " in line or " - " in line for line in lines)


def test_doctor_fails_when_something_needed_does_not_work(lake: SmallLake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.database.write_bytes(b"this is no database, whatever its name may say")
    monkeypatch.setenv("BERGUNG_VAULT", str(lake.folder / "elsewhere"))
    said = call("doctor")
    assert said.code == 1
    assert said.errors == ["needed, but it does not work: vault, catalog lake"]
    assert f"vault: make one: bergung init --vault file://{lake.folder / 'elsewhere'}" in said.out
    broken = [each for each in call("doctor", "--json").result["checks"] if not each["ok"] and each["needed"]]
    assert all(each["hint"] for each in broken)


def test_doctor_needs_java_only_for_spark_on_this_machine(lake: SmallLake, monkeypatch: pytest.MonkeyPatch) -> None:
    def java(*words: str) -> bool:
        checks = call("doctor", "--json", *words).result["checks"]
        return next(bool(each["needed"]) for each in checks if each["check"] == "java")

    assert java("--engine", "spark") and java("--engine", "auto")
    assert not java("--engine", "process")
    monkeypatch.setenv("BERGUNG_SPARK_REMOTE", "sc://host")
    assert not java("--engine", "spark")


def test_a_catalog_of_a_kind_that_is_not_known_yet_breaks_nothing(lake: SmallLake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__FAR__TYPE", "bigquery")
    said = call("doctor", "--json")
    assert said.code == 0
    (far,) = (each for each in said.result["checks"] if each["check"] == "catalog far")
    assert (far["ok"], far["needed"]) == (False, False) and far["hint"]


def test_doctor_tells_of_settings_that_cannot_be_read(lake: SmallLake) -> None:
    Path("bergung.toml").write_text("vault = ")
    said = call("doctor")
    assert said.code == 1 and "settings" in said.errors[0]


def test_settings_with_their_origin(lake: SmallLake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BERGUNG_ENGINE")
    file = Path("bergung.toml").absolute()
    file.write_text('engine = "auto"\n[spark]\nexecutor.memory = "4g"\nssl.keyPassword = "abc123"\n')
    said = call("config", "show", "--origin")
    rows = {line.split()[0]: line.split(maxsplit=2)[1:] for line in said.out.splitlines()[1:]}
    assert rows == {
        "engine": ["auto", str(file)],
        **{name: ["-", "default"] for name in ("limit_rate", "max_requests", "window")},
        "spark.executor.memory": ["4g", str(file)],
        "spark.master": ["-", "default"],
        "spark.patience": ["120", "default"],
        "spark.remote": ["-", "default"],
        "spark.ssl.keyPassword": ["(hidden)", str(file)],
        "vault": [str(lake.vault), "environment BERGUNG_VAULT"],
    }
    plain = call("config", "show")
    assert "default" not in plain.out and "abc123" not in plain.out
    told = call("config", "show", "--json").result
    assert told["file"] == str(file) and told["settings"]["engine"] == {"value": "auto", "origin": str(file)}


def test_an_option_wins_over_all(lake: SmallLake) -> None:
    other = lake.folder / "other"
    assert call("init", "--vault", str(other)).code == 0
    assert call("points", "--vault", "../other", "--json").result["vault"] == str(other)


def test_the_vault_of_bergung_toml_is_used(lake: SmallLake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BERGUNG_VAULT")
    assert call("points").code == 2
    Path("bergung.toml").write_text('vault = "../vault"')
    assert call("points", "--json").result["vault"] == os.path.abspath("../vault")
