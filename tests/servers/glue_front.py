"""A front before moto that keeps the promises of AWS Glue which moto does not, and fails where a test says so.

It passes requests on; what moto lets pass it refuses as Glue does: a table's version that is not the present one.
Its lists come in pages of two.
"""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.servers.process import HOST

PAGE = 2
_LISTS = {"GetTables": "TableList", "GetDatabases": "DatabaseList", "GetTableVersions": "TableVersions"}


@dataclass
class Plan:
    """What happens to the next requests of one operation, and how often it did."""

    operation: str
    code: str = ""
    """Answered instead of passing the request on; without one, it is passed on and its answer is lost."""
    message: str = ""
    times: int = 1
    before: Callable[[], None] | None = None
    """Called instead, and then the request is passed on."""
    fired: int = 0


@dataclass
class Seen:
    """One request that came."""

    operation: str
    words: dict[str, Any]


@dataclass
class Front:
    """The address to use, the requests that came, and the plans."""

    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)

    def fail(self, operation: str, code: str, message: str = "told", times: int = 1) -> None:
        self.plans.append(Plan(operation, code, message, times))

    def lose_answer(self, operation: str) -> None:
        self.plans.append(Plan(operation))

    def between(self, operation: str, does: Callable[[], None]) -> None:
        self.plans.append(Plan(operation, before=does))

    def count(self, operation: str) -> int:
        return sum(each.operation == operation for each in self.seen)

    def due(self, operation: str) -> Plan | None:
        for plan in self.plans:
            if plan.operation in ("", operation) and plan.fired < plan.times:
                plan.fired += 1
                return plan
        return None


class Refusal(Exception):
    """An error of the service: its code and words."""


@contextmanager
def glue_front(behind: str) -> Iterator[Front]:
    """While inside, it listens; every plan must have fired when it ends."""
    front = Front()
    server = ThreadingHTTPServer((HOST, 0), _handler(behind, front))
    front.url = f"http://{HOST}:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield front
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert [plan for plan in front.plans if plan.fired < plan.times] == []


def _handler(behind: str, front: Front) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            operation = self.headers["X-Amz-Target"].rpartition(".")[2]
            front.seen.append(Seen(operation, json.loads(body)))
            plan = front.due(operation)
            try:
                if plan and plan.before:
                    plan.before()
                if plan and plan.code:
                    raise Refusal(plan.code, plan.message)
                answer = _answer(behind, dict(self.headers), operation, json.loads(body))
            except Refusal as refusal:
                self._send(400, {"__type": refusal.args[0], "message": refusal.args[1]})
                return
            if plan and not plan.before:
                # The request was carried out, and the connection breaks before anyone learns of it.
                self.close_connection = True
                return
            self._send(200, answer)

        def _send(self, status: int, answer: dict[str, Any]) -> None:
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            return

    return Handler


def _answer(behind: str, headers: dict[str, str], operation: str, words: dict[str, Any]) -> dict[str, Any]:
    token = int(words.pop("NextToken", 0))
    if operation == "UpdateTable":
        _check_version(behind, headers, words)
    answer = _passed_on(behind, headers, words)
    if key := _LISTS.get(operation):
        rows = answer[key]
        answer[key] = rows[token : token + PAGE]
        if token + PAGE < len(rows):
            answer["NextToken"] = str(token + PAGE)
    return answer


def _check_version(behind: str, headers: dict[str, str], words: dict[str, Any]) -> None:
    question = {"DatabaseName": words["DatabaseName"], "Name": words["TableInput"]["Name"]}
    there = _passed_on(behind, {**headers, "X-Amz-Target": "AWSGlue.GetTable"}, question)
    if words["VersionId"] != there["Table"]["VersionId"]:
        raise Refusal("ConcurrentModificationException", f"version {words['VersionId']} is not the present one")


def _passed_on(behind: str, headers: dict[str, str], words: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in headers.items() if key.lower() not in ("content-length", "host", "connection")}
    request = urllib.request.Request(behind, json.dumps(words).encode(), kept)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return dict(json.load(response) or {})
    except urllib.error.HTTPError as error:
        told = json.load(error)
        raise Refusal(told["__type"], told.get("message") or told.get("Message", "")) from error
