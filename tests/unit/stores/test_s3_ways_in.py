"""Which of several accesses a bucket and its keys are asked with."""

from bergung.clock import SystemClock
from bergung.stores.access import Access
from bergung.stores.s3.bucket import Bucket

PLACE = Access("s3://", endpoint="http://127.0.0.1:1")
FOLDER = Access("s3a://lake/orders/", endpoint="http://127.0.0.1:1", key_id="lent")
ELSEWHERE = Access("s3://lakes/orders", key_id="of another bucket")


def test_a_bucket_is_asked_by_whoever_may_do_something_in_it() -> None:
    bucket = Bucket("lake", (PLACE, ELSEWHERE, FOLDER), SystemClock())
    assert bucket.access(None) == FOLDER
    assert bucket.access("orders/1") == FOLDER
    assert bucket.access("items/1") == PLACE
    assert Bucket("lake", (PLACE, ELSEWHERE), SystemClock()).access(None) == PLACE


def test_who_is_named_for_all_of_it_asks_for_it() -> None:
    own = Access("s3://lake", profile="mine")
    assert Bucket("lake", (FOLDER, own, PLACE), SystemClock()).access(None) == own
    nobody = Access("s3://", anonymous=True)
    assert Bucket("lake", (FOLDER, nobody), SystemClock()).access(None) == nobody
