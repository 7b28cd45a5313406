"""How object stores are reached, as bergung.toml says it."""

from pathlib import Path

import pytest

from bergung.cli.settings import load_settings
from bergung.errors import UsageError
from bergung.stores.access import Access

SECRET = "s3cr3t-of-the-test"


def accesses(tmp_path: Path, text: str) -> tuple[Access, ...]:
    (tmp_path / "bergung.toml").write_text(text)
    return load_settings({"XDG_CONFIG_HOME": str(tmp_path)}, tmp_path).accesses()


def test_entries_come_in_their_order_with_what_their_references_stand_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE_SECRET", SECRET)
    (tmp_path / "token").write_text("the token\n")
    lake, vault = accesses(
        tmp_path,
        f"""
        [[access]]
        prefix = "s3://lake/"
        endpoint = "http://127.0.0.1:9000"
        key_id = "lake"
        secret = "env:LAKE_SECRET"
        token = "file:{tmp_path}/token"
        [[access]]
        prefix = "s3://vault/"
        region = "eu-central-1"
        key_id = "cmd:printf vault"
        secret = "cmd:echo '{SECRET}'"
        virtual_hosts = true
        """,
    )
    assert (lake.prefix, lake.endpoint, lake.key_id, lake.secret) == ("s3://lake/", "http://127.0.0.1:9000", "lake", SECRET)
    assert (lake.token, lake.anonymous, lake.virtual_hosts) == ("the token", False, False)
    assert (vault.prefix, vault.region, vault.key_id, vault.secret) == ("s3://vault/", "eu-central-1", "vault", SECRET)
    assert vault.virtual_hosts and vault.origin == f"[[access]] 2 of {tmp_path}/bergung.toml"


def test_references_are_shown_and_what_they_stand_for_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE_SECRET", SECRET)
    text = '[[access]]\nprefix = "s3://"\nkey_id = "lake"\nsecret = "env:LAKE_SECRET"\n'
    (found,) = accesses(tmp_path, text)
    assert SECRET not in repr(found)
    shown = load_settings({"XDG_CONFIG_HOME": str(tmp_path)}, tmp_path).shown()
    assert shown["access.1.secret"].value == "env:LAKE_SECRET"
    assert SECRET not in str(shown)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('endpoint = "http://x"', "no prefix"),
        ('prefix = "gs://b/"', "no prefix"),
        (f'prefix = "s3://"\nkey_id = "k"\nsecret = "{SECRET}"', "secret stands there itself"),
        ('prefix = "s3://"\nkey_id = "k"', "go together"),
        ('prefix = "s3://"\nkey_id = "k"\nsecret = "env:NOT_SET_ANYWHERE"', "NOT_SET_ANYWHERE, which is not set"),
        ('prefix = "s3://"\nkey_id = "k"\nsecret = "file:/not/there"', "no such file"),
        (f'prefix = "s3://"\nkey_id = "k"\nsecret = "cmd:echo {SECRET} >&2; false"', "its command failed"),
        ('prefix = "s3://"\nkey_id = "k"\nsecret = "cmd:true"', "is empty"),
        ('prefix = "s3://"\npassword = "x"', "no setting access.1.password"),
    ],
)
def test_what_does_not_fit_is_told_without_the_secret(tmp_path: Path, entry: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        accesses(tmp_path, f"[[access]]\n{entry}\n")
    assert said in caught.value.message and SECRET not in caught.value.message
    assert caught.value.hint
