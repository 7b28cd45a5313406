"""What is read from a declaration in the same way for every kind."""

import pytest

from bergung.catalogs.declaration import Declaration, declared_access, is_true
from bergung.clock import SystemClock
from bergung.stores.access import Access
from bergung.stores.open import open_store


def declared(**properties: str) -> Declaration:
    names = {name.replace("_", "-").replace("-", ".", 1): value for name, value in properties.items()}
    return Declaration("lake", names, SystemClock(), open_store)


def test_a_declaration_without_s3_says_nothing() -> None:
    assert declared_access(declared()) == ()
    assert declared_access(declared(s3_anonymous="false")) == ()


def test_everything_that_pyiceberg_reads_of_s3_is_read() -> None:
    (access,) = declared_access(
        declared(
            s3_endpoint="http://127.0.0.1:9000",
            s3_region="eu-central-1",
            s3_access_key_id="key",
            s3_secret_access_key="secret",
            s3_session_token="token",
            s3_force_virtual_addressing="True",
        )
    )
    wanted = Access("s3://", "http://127.0.0.1:9000", "eu-central-1", "key", "secret", "token", virtual_hosts=True)
    assert access == wanted
    assert access.origin == "the catalog lake"


def test_what_is_declared_for_all_of_aws_counts_where_s3_has_nothing_of_its_own() -> None:
    (access,) = declared_access(
        declared(client_region="eu-west-1", client_access_key_id="all", client_secret_access_key="of-all", s3_region="eu-north-1")
    )
    assert access == Access("s3://", region="eu-north-1", key_id="all", secret="of-all")


@pytest.mark.parametrize(("text", "wanted"), [("true", True), ("True", True), ("1", True), ("false", False), ("", False)])
def test_switches_are_read_as_pyiceberg_reads_them(text: str, wanted: bool) -> None:
    assert is_true(text) is wanted


def test_secrets_are_not_shown() -> None:
    assert "hidden" not in repr(declared(s3_secret_access_key="hidden", uri="x://user:hidden@host"))
