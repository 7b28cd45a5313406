"""A catalog around a real one whose changes fail where a plan says so."""

from bergung.catalogs.base import Catalog, Namespace, Pointer
from bergung.model.names import TableName
from bergung.stores.access import Access
from tests.faults.faulty_store import FaultPlan


class FaultyCatalog:
    """Does what the inner catalog does, except where the plan strikes; its changes are effects like those of stores."""

    def __init__(self, inner: Catalog, plan: FaultPlan) -> None:
        self.name = inner.name
        self._inner = inner
        self._plan = plan

    def namespaces(self) -> list[Namespace]:
        return self._inner.namespaces()

    def tables(self) -> list[TableName]:
        return self._inner.tables()

    def views(self) -> list[TableName]:
        return self._inner.views()

    def access(self, table: TableName) -> tuple[Access, ...]:
        return self._inner.access(table)

    def home(self, table: TableName) -> str | None:
        return self._inner.home(table)

    def locate(self, table: TableName) -> Pointer:
        return self._inner.locate(table)

    def locate_all(self, tables: list[TableName]) -> dict[TableName, Pointer]:
        return self._inner.locate_all(tables)

    def register(self, table: TableName, metadata_location: str) -> None:
        struck = self._plan.begin("register", str(table))
        self._inner.register(table, metadata_location)
        struck.fire("after")

    def replace(self, table: TableName, metadata_location: str, *, expected: str) -> None:
        struck = self._plan.begin("replace", str(table))
        self._inner.replace(table, metadata_location, expected=expected)
        struck.fire("after")

    def create_namespace(self, namespace: Namespace) -> None:
        struck = self._plan.begin("create_namespace", ".".join(namespace.levels))
        self._inner.create_namespace(namespace)
        struck.fire("after")
