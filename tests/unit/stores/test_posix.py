"""What the operating system says, in this house's words."""

import errno
import os
from pathlib import Path

import pytest

from bergung.errors import (
    BergungError,
    MissingObject,
    NotAllowed,
    ObjectExists,
    Refused,
    StoreError,
    StoreFull,
)
from bergung.stores.disk.posix import own_words, start_writing_out, sync_folder


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOENT, MissingObject),
        (errno.ENOTDIR, MissingObject),
        (errno.ELOOP, MissingObject),
        (errno.EEXIST, ObjectExists),
        (errno.EACCES, NotAllowed),
        (errno.EPERM, NotAllowed),
        (errno.EROFS, NotAllowed),
        (errno.ENOSPC, StoreFull),
        (errno.EDQUOT, StoreFull),
        (errno.EFBIG, StoreFull),
        (errno.ENAMETOOLONG, Refused),
        (errno.EIO, StoreError),
        (errno.ESTALE, StoreError),
        (errno.EMFILE, StoreError),
    ],
)
def test_every_error_becomes_one_of_ours_with_its_path_and_its_cause(number: int, kind: type[BergungError]) -> None:
    said = OSError(number, os.strerror(number))
    with pytest.raises(BergungError) as caught, own_words("/a b/c"):
        raise said
    assert type(caught.value) is kind and caught.value.__cause__ is said
    message = caught.value.message
    assert message.endswith(": /a b/c") and message[0].islower() and not message.endswith(".")


def test_a_path_in_a_hint_can_be_pasted() -> None:
    with pytest.raises(NotAllowed) as caught, own_words("/a b/it's"):
        raise PermissionError(errno.EACCES, "Permission denied")
    assert "'/a b/it'\"'\"'s'" in caught.value.hint


def test_errors_that_are_not_the_systems_pass() -> None:
    with pytest.raises(ZeroDivisionError), own_words("/a"):
        raise ZeroDivisionError


def test_a_folder_of_a_file_system_that_syncs_no_folders_is_let_be() -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        os.fsync(os.open("/proc", os.O_RDONLY))
    sync_folder("/proc")


def test_the_hint_to_write_out_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 5_000_000)
    with path.open("r+b") as file:
        start_writing_out(file.fileno(), 0, 5_000_000)
    assert path.read_bytes() == b"x" * 5_000_000
