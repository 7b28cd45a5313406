"""A second vault with the same document and the same id (format.md, "A second copy")."""

from bergung.errors import DamageFound, ObjectExists, Refused, StoreError, UsageError
from bergung.stores.base import OpenStore, Store
from bergung.stores.digest import read_verified
from bergung.stores.probe import PROBE, probe
from bergung.vault.documents import versions_of
from bergung.vault.layout import VAULT_DOCUMENT
from bergung.vault.vault import State, Vault, open_vault

ELSEWHERE = "copy to a place where nothing is yet"


def is_there(store: Store) -> bool:
    """False where there is nothing; Refused where there is something that is no vault."""
    if any(versions_of(store, VAULT_DOCUMENT)):
        return True
    first = next((found for found in store.list("") if not found.key.startswith(PROBE)), None)
    # Another copy may have begun meanwhile.
    if first is None or any(versions_of(store, VAULT_DOCUMENT)):
        return first is not None
    raise Refused(f"{store.url} is not empty and no vault: {first.key}", f"name an empty folder, or {ELSEWHERE}")


def open_second(source: Vault, url: str, open_store: OpenStore) -> Vault:
    """The copy that is there; Refused when it is one of another vault."""
    target = open_vault(url, open_store)
    if target.id != source.id:
        fact = f"{url} is another vault: its id is {target.id}, that of {source.url} is {source.id}"
        raise Refused(fact, f"name the copy of this vault, or {ELSEWHERE}")
    return target


def refuse_itself(source: Vault, store: Store) -> None:
    """A copy into itself would say that all is well."""
    if store.url == source.store.url:
        raise UsageError(f"{store.url} is the vault itself", "name another place: bergung vault copy ADDRESS")


def make_second(source: Vault, state: State, store: Store) -> None:
    """The document, where nothing is and a vault can be; the log comes after it."""
    probe(store)
    put_same(store, VAULT_DOCUMENT, _document(source, state))
    store.make_durable([VAULT_DOCUMENT])


def _document(source: Vault, state: State) -> bytes:
    """As slot 0 names it (format.md L1); when that is lost, what every reader takes for it."""
    try:
        return read_verified(source.store, VAULT_DOCUMENT, str(state.chain.entries[0].body.get("vault")))
    except (DamageFound, Refused):
        return oldest(source.store, VAULT_DOCUMENT)


def put_same(store: Store, key: str, content: bytes) -> None:
    """Create-only; what lies there must be the same, also when the store's answer was lost on the way."""
    try:
        store.put_if_absent(key, [content])
    except (ObjectExists, StoreError) as error:
        if not any(versions_of(store, key)):
            raise
        if oldest(store, key) != content:
            fact = f"{key} of {store.url} is not that of the vault that is copied"
            raise Refused(fact, f"somebody else writes there; look who: bergung runs --vault {store.url}") from error


def oldest(store: Store, key: str) -> bytes:
    """The version that counts; nothing where nothing is."""
    version = next(versions_of(store, key), None)
    return b"" if version is None else store.read(key, version=version.version)
