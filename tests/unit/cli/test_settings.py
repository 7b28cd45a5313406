"""Settings, and where each comes from."""

import os
from pathlib import Path

import pytest

from bergung.cli import access
from bergung.cli.settings import DEFAULTS, Setting, load_settings
from bergung.errors import UsageError


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bergung.toml").write_text(text)
    return folder / "bergung.toml"


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), **more}


def test_without_any_file_all_are_defaults(tmp_path: Path) -> None:
    settings = load_settings(environment(tmp_path), tmp_path)
    assert settings.file is None
    assert settings.shown() == {name: Setting(value, "default") for name, value in DEFAULTS.items()}


def test_the_nearest_file_is_the_only_one_read(tmp_path: Path) -> None:
    write(tmp_path / "config" / "bergung", 'vault = "/of/the/user"')
    far = write(tmp_path / "work", 'vault = "/far"\nengine = "auto"')
    inner = tmp_path / "work" / "a" / "b"
    inner.mkdir(parents=True)
    assert load_settings(environment(tmp_path), inner).file == far
    near = write(tmp_path / "work" / "a", 'vault = "/near"')
    settings = load_settings(environment(tmp_path), inner)
    assert settings.values["vault"] == Setting("/near", str(near))
    assert settings.values["engine"] == Setting("spark", "default")


def test_without_one_above_the_users_own_is_read(tmp_path: Path) -> None:
    own = write(tmp_path / "config" / "bergung", 'engine = "auto"')
    assert load_settings(environment(tmp_path), tmp_path / "config").values["engine"] == Setting("auto", str(own))


def test_a_variable_wins_over_the_file(tmp_path: Path) -> None:
    write(tmp_path, 'vault = "/near"\n[spark]\nmaster = "local[4]"')
    given = environment(tmp_path, BERGUNG_VAULT="/other", BERGUNG_SPARK_MASTER="yarn", BERGUNG_ENGINE="")
    settings = load_settings(given, tmp_path)
    assert settings.values["vault"] == Setting("/other", "environment BERGUNG_VAULT")
    assert settings.values["spark.master"] == Setting("yarn", "environment BERGUNG_SPARK_MASTER")
    assert settings.values["engine"] == Setting("spark", "default")


def test_a_relative_vault_is_meant_from_the_file_or_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "work", 'vault = "../vaults/one"')
    (tmp_path / "work" / "deep").mkdir()
    assert load_settings(environment(tmp_path), tmp_path / "work" / "deep").text("vault") == str(tmp_path / "vaults" / "one")
    monkeypatch.chdir(tmp_path)
    assert load_settings(environment(tmp_path, BERGUNG_VAULT="v"), tmp_path).text("vault") == str(tmp_path / "v")


@pytest.mark.parametrize("address", ["memory://vault", "file:///backup/a b", "file:/backup"])
def test_an_address_stays_as_it_is_written(tmp_path: Path, address: str) -> None:
    write(tmp_path, f'vault = "{address}"')
    assert load_settings(environment(tmp_path), tmp_path).text("vault") == address


def test_a_vault_at_home(tmp_path: Path) -> None:
    write(tmp_path, 'vault = "~/vault"')
    assert load_settings(environment(tmp_path), tmp_path).text("vault") == os.path.expanduser("~/vault")


def test_whatever_stands_below_spark_goes_to_spark(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
        [spark]
        remote = "sc://host"
        executor.memory = "4g"
        "sql.catalog.lake" = "org.example"
        "sql.catalog.lake.uri" = "http://x"
        eventLog.enabled = true
        cores.max = 8
        """,
    )
    settings = load_settings(environment(tmp_path), tmp_path)
    assert settings.text("spark.remote") == "sc://host"
    assert settings.spark_confs() == {
        "spark.executor.memory": "4g",
        "spark.sql.catalog.lake": "org.example",
        "spark.sql.catalog.lake.uri": "http://x",
        "spark.eventLog.enabled": "true",
        "spark.cores.max": "8",
    }


def test_what_may_be_a_secret_is_not_shown(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
        [spark]
        remote = "sc://host:443/;token=abc123;use_ssl=true"
        hadoop.fs.s3a."secret.key" = "abc123"
        hadoop.fs.s3a."access.key" = "abc123"
        ssl.keyStorePassword = "abc123"
        executor.memory = "4g"
        """,
    )
    shown = load_settings(environment(tmp_path), tmp_path).shown()
    assert "abc123" not in str(shown)
    assert shown["spark.remote"].value == "sc://host:443/;token=(hidden);use_ssl=true"
    assert shown["spark.executor.memory"].value == "4g"


@pytest.mark.parametrize(
    ("text", "fact", "hint"),
    [
        ('vualt = "/x"', "no setting vualt", "is it vault?"),
        ('zzz = "/x"', "no setting zzz", "vault, engine"),
        ("vault = /x", "is no TOML", "vault ="),
        ("vault = ['a']", "vault is neither text nor a number", "quotes"),
        ('engine = "rocket"', "no engine 'rocket'", "spark, process, auto"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(tmp_path: Path, text: str, fact: str, hint: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        load_settings(environment(tmp_path), tmp_path)
    assert fact in caught.value.message and str(file) in caught.value.message and hint in caught.value.hint


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    file = write(tmp_path, "")
    file.write_bytes(b"vault = \xff\xfe")
    with pytest.raises(UsageError, match="is no TOML"):
        load_settings(environment(tmp_path), tmp_path)


def test_a_line_that_cannot_be_read_is_not_repeated(tmp_path: Path) -> None:
    write(tmp_path, '[spark]\npassword = "abc123')
    with pytest.raises(UsageError) as caught:
        load_settings(environment(tmp_path), tmp_path)
    assert "abc123" not in caught.value.message


def test_the_page_tells_of_every_setting() -> None:
    page = (Path(__file__).parents[3] / "docs" / "settings.md").read_text()
    for name in DEFAULTS:
        assert f"`{name}`" in page and f"`BERGUNG_{name.upper().replace('.', '_')}`" in page, name
    for key in access.KEYS:
        assert f"`{key}`" in page, key
