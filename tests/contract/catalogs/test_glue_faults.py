"""What Glue answers when something is wrong, and requests whose answer is lost."""

from collections.abc import Callable
from typing import Any

import boto3
import pytest

from bergung.catalogs.base import Namespace
from bergung.catalogs.declaration import Declaration
from bergung.catalogs.glue import GlueCatalog, open_declared
from bergung.catalogs.settings import open_catalog
from bergung.clock import SystemClock
from bergung.errors import BergungError, Busy, NotAllowed, SourceChanged, UnknownTable, UsageError
from bergung.model.names import TableName
from bergung.stores.access import Access
from bergung.stores.open import open_store
from tests.servers.glue_front import Front
from tests.servers.moto import REGION

SECRET = "wJalr/EXAMPLEKEY"
GIVEN = {"glue.access-key-id": "AKIAEXAMPLE", "glue.secret-access-key": SECRET}
ORDERS = TableName("lake", ("sales",), "orders")
OLD, NEW = "file:///lake/orders/metadata/old.metadata.json", "file:///lake/orders/metadata/new.metadata.json"

OpenGlue = Callable[..., GlueCatalog]


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A machine without any settings of AWS."""
    home = tmp_path_factory.mktemp("home")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(home / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(home / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def opened(glue: Front) -> OpenGlue:
    def open_with(**changed: str | None) -> GlueCatalog:
        given = {"glue.endpoint": glue.url, "glue.region": REGION, **GIVEN}
        given |= {f"glue.{key.replace('_', '-')}": value for key, value in changed.items()}
        properties = {key: value for key, value in given.items() if value is not None}
        return open_declared(Declaration("lake", properties, SystemClock(), open_store))

    return open_with


@pytest.fixture
def client(moto_url: str, glue: Front) -> Any:
    client = boto3.client("glue", endpoint_url=moto_url, region_name=REGION, aws_access_key_id="A", aws_secret_access_key="B")
    client.create_database(DatabaseInput={"Name": "sales"})
    return client


@pytest.fixture
def catalog(opened: OpenGlue, client: Any) -> GlueCatalog:
    catalog = opened()
    catalog.register(ORDERS, OLD)
    return catalog


@pytest.mark.parametrize(
    ("code", "message", "kind", "said", "hint"),
    [
        ("ExpiredTokenException", "token expired", NotAllowed, "for the catalog lake are expired", "log in"),
        ("UnrecognizedClientException", "token invalid", NotAllowed, "credentials for the catalog lake are wrong", "access-key-id"),
        ("InvalidSignatureException", f"not match {SECRET}", NotAllowed, "credentials for the catalog lake are wrong", "secret-"),
        ("InvalidSignatureException", "Signature expired: now", NotAllowed, "time of this machine wrong", "clock"),
        ("AccessDeniedException", "not authorized to perform: glue:GetTable", NotAllowed, "perform: glue:GetTable", "policy"),
        ("AccessDeniedException", "Insufficient Lake Formation permission(s)", NotAllowed, "Insufficient", "grant-permissions"),
        ("InvalidInputException", "1 validation error", UsageError, "does not take this: 1 validation error", "choose"),
        ("InternalServiceException", "sorry", BergungError, "says InternalServiceException: sorry", "try again"),
    ],
)
def test_what_glue_refuses_is_told(
    catalog: GlueCatalog, glue: Front, code: str, message: str, kind: type[BergungError], said: str, hint: str
) -> None:
    glue.fail("GetTable", code, message)
    with pytest.raises(BergungError) as told:
        catalog.locate(ORDERS)
    assert type(told.value) is kind
    assert said in told.value.message
    assert hint in told.value.hint
    assert SECRET not in told.value.message + told.value.hint
    assert catalog.locate(ORDERS).metadata_location == OLD


def test_missing_credentials_half_ones_and_a_missing_region_are_told(opened: OpenGlue) -> None:
    with pytest.raises(NotAllowed, match="no credentials for the catalog lake") as told:
        opened(access_key_id=None, secret_access_key=None).tables()
    assert "glue.profile-name" in told.value.hint
    with pytest.raises(UsageError, match="half of the credentials for the catalog lake are missing"):
        opened(secret_access_key=None).tables()
    with pytest.raises(UsageError, match="no region for the catalog lake") as told_region:
        opened(region=None).tables()
    assert "glue.region" in told_region.value.hint
    with pytest.raises(UsageError, match="config profile .* could not be found"):
        opened(profile_name="nobody").tables()
    with pytest.raises(UsageError, match="is no number"):
        opened(max_retries="many").tables()
    with pytest.raises(UsageError, match="cannot be reached as it is declared"):
        opened(endpoint="nowhere").tables()


def test_an_endpoint_that_does_not_answer_is_told(opened: OpenGlue) -> None:
    with pytest.raises(BergungError, match="the catalog lake does not answer"):
        opened(endpoint="http://127.0.0.1:9", max_retries="1").tables()


def test_nothing_is_asked_by_opening(opened: OpenGlue, glue: Front) -> None:
    opened()
    opened(endpoint="nowhere")
    assert glue.seen == []


def test_credentials_for_all_of_aws_are_taken_where_glue_has_none_of_its_own(glue: Front) -> None:
    properties = {"glue.endpoint": glue.url, "client.region": REGION}
    properties |= {"client.access-key-id": "AKIAEXAMPLE", "client.secret-access-key": SECRET, "s3.endpoint": "http://127.0.0.1:1"}
    catalog = open_declared(Declaration("lake", properties, SystemClock(), open_store))
    assert catalog.tables() == []
    assert catalog.access(ORDERS) == (
        Access("s3://", "http://127.0.0.1:1", REGION, "AKIAEXAMPLE", SECRET),
    )  # fmt: skip


def test_a_declared_glue_is_opened(glue: Front, monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    words = {"type": "glue", "glue__endpoint": glue.url, "glue__region": REGION, "glue__access_key_id": "AKIAEXAMPLE"}
    for key, value in {**words, "glue__secret_access_key": SECRET}.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__LAKE__{key.upper()}", value)
    assert open_catalog("lake").namespaces() == [Namespace(("sales",), {})]


def test_throttled_requests_are_tried_again(catalog: GlueCatalog, glue: Front) -> None:
    glue.fail("GetTable", "ThrottlingException", "Rate exceeded", times=2)
    assert catalog.locate(ORDERS).metadata_location == OLD
    assert glue.count("GetTable") == 3


def test_throttling_without_end_is_told(opened: OpenGlue, glue: Front) -> None:
    glue.fail("GetDatabases", "ThrottlingException", "Rate exceeded", times=3)
    with pytest.raises(Busy, match="is asked too often"):
        opened(max_retries="2").tables()


def test_a_registration_whose_answer_is_lost_is_one(catalog: GlueCatalog, glue: Front) -> None:
    glue.lose_answer("CreateTable")
    copy = TableName("lake", ("sales",), "copy")
    catalog.register(copy, OLD)
    assert catalog.locate(copy).metadata_location == OLD
    assert glue.count("CreateTable") == 3
    with pytest.raises(Busy):
        catalog.register(copy, OLD)


def test_a_name_that_another_took_while_an_answer_was_lost_is_busy(catalog: GlueCatalog, glue: Front) -> None:
    glue.lose_answer("CreateTable")
    with pytest.raises(Busy):
        catalog.register(ORDERS, NEW)
    assert catalog.locate(ORDERS).metadata_location == OLD


def test_a_swap_whose_answer_is_lost_is_one(catalog: GlueCatalog, glue: Front) -> None:
    glue.lose_answer("UpdateTable")
    catalog.replace(ORDERS, NEW, expected=OLD)
    found = catalog.locate(ORDERS)
    assert (found.metadata_location, found.previous_location) == (NEW, OLD)
    assert glue.count("UpdateTable") == 2


def test_an_entry_that_changes_between_look_and_swap_is_left(catalog: GlueCatalog, glue: Front, client: Any) -> None:
    """Another program changes a description meanwhile: the pointer is as expected, the entry is not."""
    entry = client.get_table(DatabaseName="sales", Name="orders")["Table"]

    def meddle() -> None:
        words = {"Name": "orders", "Description": "changed", "Parameters": entry["Parameters"]}
        client.update_table(DatabaseName="sales", TableInput=words)

    glue.between("UpdateTable", meddle)
    with pytest.raises(SourceChanged, match="was changed meanwhile"):
        catalog.replace(ORDERS, NEW, expected=OLD)
    assert client.get_table(DatabaseName="sales", Name="orders")["Table"]["Description"] == "changed"
    assert catalog.locate(ORDERS).metadata_location == OLD
    catalog.replace(ORDERS, NEW, expected=OLD)
    assert client.get_table(DatabaseName="sales", Name="orders")["Table"]["Description"] == "changed"


def test_all_pages_are_read(catalog: GlueCatalog, client: Any, glue: Front) -> None:
    names = [TableName("lake", ("sales",), f"t{number}") for number in range(5)]
    for table in names:
        catalog.register(table, NEW)
    for number in range(4):
        client.create_database(DatabaseInput={"Name": f"more{number}"})
    assert catalog.tables() == [ORDERS, *names]
    assert len(catalog.namespaces()) == 5
    glue.seen.clear()
    assert catalog.locate_all([ORDERS, *names]).keys() == {ORDERS, *names}
    assert (glue.count("GetTables"), glue.count("GetTable")) == (3, 0)
    glue.seen.clear()
    gone = TableName("lake", ("gone",), "t"), TableName("lake", ("gone",), "u")
    assert catalog.locate_all([names[0], *gone]).keys() == {names[0]}
    assert (glue.count("GetTables"), glue.count("GetTable")) == (1, 1)


def test_a_database_that_may_not_be_read_does_not_keep_the_others(catalog: GlueCatalog, client: Any, glue: Front) -> None:
    client.create_database(DatabaseInput={"Name": "a_secret"})
    secret = [TableName("lake", ("a_secret",), name) for name in ("t", "u")]
    for table in secret:
        catalog.register(table, OLD)
    glue.fail("GetTables", "AccessDeniedException", "not authorized to perform: glue:GetTables")
    assert catalog.locate_all([ORDERS, *secret]).keys() == {ORDERS}
    glue.fail("GetTables", "AccessDeniedException", "not authorized to perform: glue:GetTables")
    with pytest.raises(NotAllowed, match="glue:GetTables"):
        catalog.tables()


def test_older_versions_of_an_entry(catalog: GlueCatalog) -> None:
    for number in range(3):
        current = catalog.locate(ORDERS).metadata_location
        catalog.replace(ORDERS, f"{NEW}{number}", expected=current)
    found = catalog.versions(ORDERS)
    assert [each.metadata_location for each in found] == [f"{NEW}2", f"{NEW}1", f"{NEW}0", OLD]
    assert [int(each.id) for each in found] == sorted((int(each.id) for each in found), reverse=True)
    assert found[0].updated_at is not None
    with pytest.raises(UnknownTable):
        catalog.versions(TableName("lake", ("sales",), "gone"))


def test_the_tags_of_a_table(catalog: GlueCatalog, client: Any) -> None:
    assert catalog.tags(ORDERS) == {}
    arn = f"arn:aws:glue:{REGION}:123456789012:table/sales/orders"
    client.tag_resource(ResourceArn=arn, TagsToAdd={"owner": "anna"})
    assert catalog.tags(ORDERS) == {"owner": "anna"}
    with pytest.raises(UnknownTable):
        catalog.tags(TableName("lake", ("sales",), "gone"))


def test_another_account_is_named_in_every_question(opened: OpenGlue, glue: Front, client: Any) -> None:
    catalog = opened(id="123456789012")
    catalog.register(ORDERS, OLD)
    catalog.replace(ORDERS, NEW, expected=OLD)
    catalog.versions(ORDERS)
    catalog.locate_all([ORDERS])
    assert catalog.tables() == [ORDERS]
    assert {each.words.get("CatalogId") for each in glue.seen} == {"123456789012"}
