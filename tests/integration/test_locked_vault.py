"""Somebody with credentials of their own attacks a vault in a bucket with Object Lock: its points stay, and it is told.

The same attacks as in tests/stories/test_locked_storage.py, where each has a vault of its own and both points come back after it.
Here they come one upon another; after each both points are verified by their bytes, after every sixth one comes back, and at the
end all do.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from bergung.backup.request import BackupRequest
from bergung.clock import SystemClock
from bergung.errors import NotAllowed
from bergung.stores.probe import PROBE
from bergung.upkeep.tampering import HIDDEN, tampered
from bergung.vault.layout import LOG, RUNS, slot_key
from bergung.vault.vault import read_state
from tests.faults.buckets import FOLDER, Buckets, BucketStore
from tests.faults.lake import Lake, Shared
from tests.integration.intruder_users import client_of_intruder
from tests.servers.s3 import S3Server
from tests.stories import intruder
from tests.stories.test_locked_storage import ADDITIONS, ATTACKS, Story, two_points

LOCKED = {"versitygw": (403, "AccessDenied"), "MinIO": (400, "InvalidRequest")}
"""What each says of a version that is locked."""


class LockedVault(Buckets):
    """A vault whose every version is locked as it is written; other clients there are the intruder."""

    def __init__(self, server: S3Server) -> None:
        super().__init__(server)
        self.server = server
        self.own["vault"] = server.new_bucket(locked=True)
        name = self.own["vault"].name
        rule = {"ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 30}}}
        server.client.put_object_lock_configuration(Bucket=name, ObjectLockConfiguration=rule)
        self.intruder = client_of_intruder(server, name)

    def make(self, part: str) -> Shared:
        if part == "source":
            return super().make(part)
        return BucketStore(self.own[part], FOLDER[part], self.open_store.known, self.intruder)


@pytest.fixture(params=["versitygw_server", pytest.param("minio_server", marks=pytest.mark.nightly)])
def places(request: pytest.FixtureRequest) -> LockedVault:
    return LockedVault(request.getfixturevalue(request.param))


def _whole_and_told(story: Story, tried: set[tuple[str, bool]], name: str) -> None:
    seen, told = story.lake.verify(), list(tampered(story.lake.vault()))
    assert (seen.damages, seen.points) == ((), 2), name
    assert tried <= {(each.file, each.what == HIDDEN) for each in told}, name
    assert seen.tampered_count == len(told) and seen.tampered == tuple(told[: len(seen.tampered)]), name


@pytest.fixture
def story(places: LockedVault, tmp_path: Path) -> Story:
    return two_points(Lake(tmp_path, places=places))


@pytest.mark.parametrize("look_after", [5, pytest.param(1, marks=pytest.mark.nightly)])
def test_one_attack_upon_another(story: Story, look_after: int) -> None:
    """In the quick group both points are looked through after every fifth attack only."""
    # A key below a key: versitygw refuses the intruder too, and MinIO takes it and shows it to nobody.
    possible = {name: attack for name, attack in ATTACKS.items() if name != "slots below slots"}
    tried: set[tuple[str, bool]] = set()
    for number, (name, attack) in enumerate(possible.items(), 1):
        left = story.attacked(attack)
        assert left and story.lake.points() == list(story.wanted), name
        tried |= set(left)
        if number % look_after == 0:
            _whole_and_told(story, tried, name)
        if number % 6 == 0:
            story.check(list(story.wanted)[number // 6 % 2])
    _whole_and_told(story, tried, "all")
    story.check()
    story.goes_on()
    for attack in ADDITIONS.values():
        attack(story.lake)
    story.check()
    story.goes_on()
    harmed = {point for damage in story.lake.verify().damages for point in damage.points}
    assert not harmed & set(story.wanted)


def test_junk_under_the_keys_of_the_next_backup(story: Story) -> None:
    keys = intruder.next_keys(story.lake)
    beside = intruder.beside_keys(story.lake, [key for key in keys if "/files/" in key])
    assert len(keys) > 6 and len(beside) > 4
    intruder.plant(story.lake, [*keys, *beside])
    story.backup()
    story.check()
    story.goes_on()


@pytest.mark.nightly
def test_markers_on_the_keys_of_the_next_backup(story: Story) -> None:
    """Where nothing lies yet, the slot that comes next too."""
    slot = slot_key(LOG, read_state(story.lake.vault()).chain.next_slot)
    for key in (*intruder.next_keys(story.lake), slot):
        story.lake.store.put_marker(key)
    story.goes_on()
    assert story.lake.verify().damages == ()


def test_the_store_itself_refuses_to_forget(story: Story, places: LockedVault) -> None:
    """Versions and their locks: the intruder has no right, and the owner meets the lock."""
    versions = [each for each in story.lake.store.list_versions("") if not each.is_marker and not each.key.startswith(PROBE)]
    assert len(versions) > 30
    for each in versions:
        named = {"Bucket": places.own["vault"].name, "Key": f"vault/{each.key}", "VersionId": each.version}
        assert _refused(places.intruder.delete_object, **named) == (403, "AccessDenied")
        assert _refused(places.server.client.delete_object, **named) == LOCKED[places.server.name]
        with pytest.raises(NotAllowed):
            story.lake.store.delete(each.key, version=each.version)
    many = [{"Key": f"vault/{each.key}", "VersionId": each.version} for each in versions]
    errors = places.server.client.delete_objects(Bucket=places.own["vault"].name, Delete={"Objects": many})["Errors"]
    assert {error["Code"] for error in errors} == {LOCKED[places.server.name][1]} and len(errors) == len(many)
    story.check()


def test_a_lock_of_a_point_is_not_made_shorter(story: Story, places: LockedVault) -> None:
    """`--lock` sets one on each version; an intruder with the right to set locks, and the owner, try to end it early."""
    began = SystemClock().now()
    point = story.lake.backup(request=BackupRequest(("lake",), lock_days=60)).run
    soon = began + timedelta(hours=1)
    locked = 0
    for each in story.lake.store.list_versions(""):
        if each.is_marker or each.key.startswith((PROBE, RUNS)):
            continue
        named = {"Bucket": places.own["vault"].name, "Key": f"vault/{each.key}", "VersionId": each.version}
        until = story.lake.store.locked_until(each.key, each.version)
        if until is None or until < began + timedelta(days=60):
            continue
        locked += 1
        for client in (places.intruder, places.server.client):
            for mode in ("COMPLIANCE", "GOVERNANCE"):
                shorter = {"Retention": {"Mode": mode, "RetainUntilDate": soon}, "BypassGovernanceRetention": True}
                assert _refused(client.put_object_retention, **named, **shorter)[0] in (400, 403)
        assert story.lake.store.locked_until(each.key, each.version) == until
    assert locked > 15
    ATTACKS["everything hidden"](story.lake)
    assert story.lake.verify(point).damages == ()


def _refused(call: Any, **words: Any) -> tuple[int, str]:
    with pytest.raises(ClientError) as caught:
        call(**words)
    said = caught.value.response
    return said["ResponseMetadata"]["HTTPStatusCode"], said["Error"]["Code"]
