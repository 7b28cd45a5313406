"""When an earlier point already holds a table just as it is."""

from bergung.backup.entry import COMPLETE
from bergung.backup.known import Predecessor
from bergung.backup.locating import Located
from bergung.stores.digest import digest_of


def is_unchanged(located: Located, before: Predecessor | None) -> bool:
    """The same metadata bytes, and that point lost nothing."""
    if before is None or before.entry.status != COMPLETE:
        return False
    return before.entry.metadata_file.digest == digest_of(located.data)
