"""What a server lists, page by page."""

from collections.abc import Iterator

import msgspec

from bergung.catalogs.rest.http import Answer
from bergung.catalogs.rest.server import Server
from bergung.errors import BergungError
from bergung.model.names import join_levels


class _Identifier(msgspec.Struct):
    name: str


class _Page(msgspec.Struct, rename="kebab"):
    namespaces: list[list[str]] = []
    identifiers: list[_Identifier] = []
    next_page_token: str | None = None


class _Namespace(msgspec.Struct):
    properties: dict[str, str] | None = None


class Listing:
    """Of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def children(self, levels: tuple[str, ...]) -> list[tuple[str, ...]]:
        """The namespaces just below; those on top for no levels. None when it went away meanwhile."""
        pages = self._pages(self._server.namespaces(), self._server.parent(levels), levels)
        found = {tuple(each) for page in pages for each in page.namespaces}
        # A server without nested namespaces may answer with all of them, whatever it is asked for.
        return [each for each in sorted(found) if each[:-1] == levels]

    def tables(self, levels: tuple[str, ...]) -> list[str]:
        """The names in one namespace."""
        return self._names(levels, "tables")

    def views(self, levels: tuple[str, ...]) -> list[str]:
        """The names in one namespace."""
        return self._names(levels, "views")

    def has_table(self, levels: tuple[str, ...], name: str) -> bool:
        """By the list: to ask for the table itself would mean to have it loaded."""
        return name in self.tables(levels)

    def has_view(self, levels: tuple[str, ...], name: str) -> bool:
        """By the list."""
        return name in self.views(levels)

    def exists(self, levels: tuple[str, ...]) -> bool:
        """The namespace is there."""
        answer = self._server.connection.get(self._server.namespace(levels))
        if not answer.is_done and answer.status != 404:
            raise self._server.connection.error(answer, f", asked for the namespace {join_levels(levels)},")
        return answer.is_done

    def properties(self, levels: tuple[str, ...]) -> dict[str, str]:
        """Its own, and those that the server makes up for it; none when it went away meanwhile."""
        answer = self._server.connection.get(self._server.namespace(levels))
        if answer.status == 404:
            return {}
        own = self._server.read(answer, _Namespace, f"the namespace {join_levels(levels)}").properties
        return {name: value for name, value in (own or {}).items() if name != "exists"}

    def create(self, levels: tuple[str, ...], properties: dict[str, str]) -> None:
        """A namespace; nothing happens when somebody else was faster."""
        body = msgspec.json.encode({"namespace": levels, "properties": properties})
        answer = self._server.connection.post(self._server.namespaces(), body)
        if not answer.is_done and answer.status != 409:
            raise self._server.connection.error(answer, f", asked to make the namespace {join_levels(levels)},")

    def _names(self, levels: tuple[str, ...], kind: str) -> list[str]:
        pages = self._pages(self._server.namespace(levels, kind), {}, levels)
        return [each.name for page in pages for each in page.identifiers]

    def _pages(self, url: str, params: dict[str, str], levels: tuple[str, ...]) -> Iterator[_Page]:
        # An empty token says that we can take pages; without it a server has to send everything at once.
        seen, token = set[str](), ""
        size = self._server.properties.get("rest-page-size", "")
        asked = params | ({"pageSize": size} if size else {})
        while token not in seen:
            seen.add(token)
            answer = self._server.connection.get(url, {**asked, "pageToken": token})
            if levels and (answer.status == 404 or ("parent" in params and _knows_no_levels(answer))):
                return
            page = self._server.read(answer, _Page, f"a list in {join_levels(levels)}" if levels else "the list of namespaces")
            yield page
            if not page.next_page_token:
                return
            token = page.next_page_token
        raise BergungError("the catalog's server sends the same page again and again", "look into the server's log")


def _knows_no_levels(answer: Answer) -> bool:
    """A server of one level may refuse the question what is below a namespace."""
    words = (answer.reason.message or "").lower()
    return answer.status in (405, 406, 501) or (answer.status == 400 and ("nest" in words or "parent" in words))
