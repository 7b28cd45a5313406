"""The metastore's lock on one table, as all engines take it before they move a pointer."""

import getpass
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from hive_metastore.ttypes import CheckLockRequest, LockComponent, LockLevel, LockRequest, LockState, LockType, UnlockRequest
from thrift.Thrift import TException

from bergung.clock import Clock
from bergung.errors import Busy
from bergung.model.names import TableName

LOOK_SECONDS = 0.1


@contextmanager
def locked(client: Any, table: TableName, clock: Clock, wait_seconds: float) -> Iterator[None]:
    """While inside, nobody else who asks for the lock has it; Busy when it is not granted in time."""
    part = LockComponent(
        type=LockType.EXCLUSIVE, level=LockLevel.TABLE, dbname=table.namespace[0], tablename=table.name, isTransactional=True
    )
    answer = client.lock(LockRequest(component=[part], user=getpass.getuser(), hostname=socket.gethostname()))
    try:
        end = clock.monotonic() + wait_seconds
        while answer.state == LockState.WAITING and clock.monotonic() < end:
            time.sleep(LOOK_SECONDS)
            answer = client.check_lock(CheckLockRequest(lockid=answer.lockid))
        if answer.state != LockState.ACQUIRED:
            raise Busy(f"the metastore's lock on {table} is held by another program", "try again; SHOW LOCKS in Hive names it")
        yield
    finally:
        # One that cannot be given back ends by itself after some minutes.
        with suppress(TException):
            client.unlock(UnlockRequest(lockid=answer.lockid))
