"""Doors: the ways of an agent into the mailbox, one or more per dialect, with the same methods for each.

The conformance suite runs its tests over all doors.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from mailbox.access.callers import Caller
from mailbox.dialects.base.http_errors import STATUS
from mailbox.words.errors import MailboxError
from mailbox.words.times import LONGEST_MS
from tests.support import factories
from tests.support.api import Api

PROJECT = "a2aproject.urls"
REQUEUE = {"action": "requeue", "duplicate_risk": "operator_accepted"}
RECIPIENT = "bob"  # also the default agent, for a send that names no recipient


class Act(StrEnum):
    """An act that a door does itself. The suite checks each act over all doors that do it."""

    SEND = "send"
    ADDRESS = "address"  # a send names its recipient
    DEFAULT = "default"  # a send without a recipient goes to the default agent
    REPEAT = "repeat"  # a send under a name of the sender's own can be repeated
    REMEMBER = "remember"  # a repeat is answered also after its task was deleted
    LEASE = "lease"
    ANSWER = "answer"
    DRAIN = "drain"
    COLLECT = "collect"  # the result of a send is read by its task, and comes by no drain
    READ = "read"
    OWN = "own"  # a read shows the tasks of its own dialect alone
    AUTHENTICATE = "authenticate"  # a request needs an API key
    AUTHORISE = "authorise"  # a send needs a grant, and a task is shown to its parties alone
    PARSE = "parse"  # a send is the JSON body of an HTTP request
    TIMEOUT = "timeout"  # a send can set a work timeout


TASK, CONTEXT = "<task>", "<context>"  # stand in a request for the id of a task and for that of its context
RECEIVER = "mine"  # the id of the webhook that each such task has


Place = tuple[str | int, ...]  # the keys that lead to a value in JSON


class Request(NamedTuple):
    """A request of a dialect that names a task, or the context of one."""

    method: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = MappingProxyType({})


class Listing(NamedTuple):
    """A list with pages. ``name`` is its path, its operation or its tool; ``reader`` sees all that the suite stores."""

    name: str
    items: str
    reader: str = "ada"
    limit: str = "limit"
    cursor: str = "cursor"
    following: str = "next_cursor"
    most: int = 1000


class Refused(Exception):  # noqa: N818 it is an answer
    """The door refused. ``status`` is the HTTP status, or the status that HTTP has for the same error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message


class Seen(NamedTuple):
    """A task as its sender sees it. ``state`` is open, done or failed; ``text`` is the answer or the error."""

    state: str
    text: str | None


class Door(Protocol):
    """One agent at one dialect. A method that the dialect refuses raises `Refused`.

    ``dialect`` is the dialect that the hub stores with tasks sent here. ``urlconf`` names the URL configuration that
    serves the dialect.
    """

    dialect: str
    does: frozenset[Act]
    urlconf: str

    def __init__(self, caller: Caller) -> None: ...

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        """Send a task and return its id. ``name`` is the sender's own name for this send, if the dialect has one."""

    def lease(self) -> UUID | None:
        """Lease the oldest task and return its id; None when no task waits."""

    def answer(self, task_id: UUID, text: str) -> None:
        """Post an ok result of a task."""

    def drain(self) -> tuple[UUID, str] | None:
        """Take the oldest result of the caller's tasks, as (task id, text); None when no result waits."""

    def read(self, task_id: UUID) -> Seen:
        """Return one task as it stands now."""


def fields_read_by(door: type[Door]) -> dict[str, str]:
    """Return the fields of a task that the door shows. A door shows all dialects, or its own alone."""
    return {"dialect": door.dialect, "context_id": "talk"} if Act.OWN in door.does else {}


class HttpDoor(ABC):
    """A door of HTTP routes. For acts that its dialect lacks, it uses the hub's own routes, Covenant's."""

    dialect: str
    does: frozenset[Act]
    urlconf: str = PROJECT
    send_path: str
    text: Place  # of the text in the body of a send
    timeout: Place = ("work_timeout_ms",)  # of the work timeout in the body of a send
    longest_ms: int = LONGEST_MS  # the longest work timeout that a send takes
    of_tasks: tuple[Request, ...] = ()
    lists: tuple[Listing, ...] = ()
    other_lists: tuple[str, ...] = ()  # routes whose pages have a form of their own, which the dialect tests itself
    response: Any  # the last answer
    headers: Mapping[str, str] = MappingProxyType({})  # of each request, beside the key
    serves: str = ""  # matches the paths of the dialect's routes whose errors have the shape of this door
    wrong_media_type: HTTPStatus = HTTPStatus.UNSUPPORTED_MEDIA_TYPE  # what a body of another media type gets
    wrong_key: HTTPStatus = HTTPStatus.UNAUTHORIZED  # what a key that the hub does not know gets
    conflict: HTTPStatus = HTTPStatus.CONFLICT  # what another task under a used name gets
    lacking: HTTPStatus = HTTPStatus.METHOD_NOT_ALLOWED  # what a method that the route lacks gets

    def __init__(self, caller: Caller | None) -> None:
        """Without a ``caller``, requests carry no key."""
        self.caller = caller
        self.api = self.client()

    def client(self) -> Api:
        return Api(self.caller, headers=dict(self.headers))

    @abstractmethod
    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID: ...

    @abstractmethod
    def refusal(self, body: Any) -> str:
        """Return the message of a refusal, after checking that ``body`` has the dialect's shape."""

    def lease(self) -> UUID | None:
        return HubDoor(self.caller).lease()

    def answer(self, task_id: UUID, text: str) -> None:
        HubDoor(self.caller).answer(task_id, text)

    def drain(self) -> tuple[UUID, str] | None:
        return HubDoor(self.caller).drain()

    def read(self, task_id: UUID) -> Seen:
        return HubDoor(self.caller).read(task_id)

    def page(self, listing: Listing, **query: Any) -> Any:
        """Return one page of a list of `lists`."""
        return self.get(listing.name, **query)

    def get(self, path: str, **query: Any) -> Any:
        return self.call("GET", path, query=query)

    def post(self, path: str, body: Any = None, **how: Any) -> Any:
        return self.call("POST", path, body, **how)

    def call(self, method: str, path: str, body: Any = None, **how: Any) -> Any:
        """Return the JSON of an answer; raise `Refused` for a status of 400 or more."""
        self.response = response = self.api.call(method, path, body, **how)
        assert response["Content-Type"] == "application/json", (method, path, response.status_code)
        if response.status_code < HTTPStatus.BAD_REQUEST:
            return response.json()
        message = self.refusal(response.json())
        assert message
        raise Refused(response.status_code, message)

    @property
    def name(self) -> str:
        assert self.caller is not None
        return factories.row_of(self.caller).local


OF_TASK = f"/a2a/tasks/{TASK}"


class HubDoor(HttpDoor):
    """The mailbox's own routes."""

    dialect = "mailbox"
    does = frozenset(Act) - {Act.DEFAULT, Act.OWN, Act.COLLECT}
    send_path = "/a2a/tasks"
    text = ("intent_text",)
    of_tasks = (
        *(Request("GET", f"{OF_TASK}/{what}") for what in ("entry", "result", "tree", "timeline")),
        *(Request("GET", f"{OF_TASK}/{what}") for what in ("messages", "artifacts", "result?wait_ms=1")),
        *(Request("POST", f"{OF_TASK}/{what}", {}) for what in ("lease", "heartbeat", "cancel")),
        Request("POST", f"{OF_TASK}/release", {"reason": "r"}),
        Request("POST", f"{OF_TASK}/messages", {"content": "more"}),
        Request("POST", f"{OF_TASK}/updates", {"updates": [{"message": "half way"}]}),
        Request("POST", "/a2a/results", {"task_id": TASK, "status": "ok"}),
        Request("POST", "/a2a/results/ack", {"task_ids": [TASK]}),
        Request("POST", "/a2a/results/next", {"ack": TASK}),
        Request("POST", "/a2a/repair", {"task_id": TASK, "command": REQUEUE, "reason": "r"}),
    )
    lists = (
        *(Listing(f"/a2a/{name}", "tasks") for name in ("queue", "tasks/recent")),
        *(Listing(f"/a2a/results/{name}", "results") for name in ("recent", "delivered")),
        Listing("/a2a/tasks", "entries"),
        *(Listing(f"/a2a/{name}", name) for name in ("leases", "agents", "deliveries", "peers")),
        *(Listing(f"/a2a/{name}", name) for name in ("keys", "people", "routes")),
        Listing("/a2a/replay-entries", "entries"),
        Listing("/audit/recent", "events"),
        Listing("/capabilities/recent", "capabilities"),
        Listing(f"{OF_TASK}/timeline", "events"),
    )
    other_lists = ("/a2a/tasks/{task_id}/artifacts", "/a2a/tasks/{task_id}/tree", "/a2a/status")

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        named = {"id": str(name)} if name else {}
        return UUID(self.post(self.send_path, {"recipient": to, "intent_text": text, **named})["task_id"])

    def lease(self) -> UUID | None:
        task = self.post("/a2a/tasks/next")["task"]
        return UUID(task["id"]) if task else None

    def answer(self, task_id: UUID, text: str) -> None:
        content = [{"type": "text", "text": text}]
        self.post("/a2a/results", {"task_id": str(task_id), "status": "ok", "content": content})

    def drain(self) -> tuple[UUID, str] | None:
        result = self.post("/a2a/results/next")["result"]
        return (UUID(result["task_id"]), result["content"][0]["text"]) if result else None

    def read(self, task_id: UUID) -> Seen:
        outcome = self.get(f"/a2a/tasks/{task_id}/entry")["entry"]["outcome"]
        if outcome is None:
            return Seen("open", None)
        result = self.get(f"/a2a/tasks/{task_id}/result")["result"]
        return (
            Seen("done", result["content"][0]["text"]) if outcome == "ok" else Seen("failed", result["error_message"])
        )

    def refusal(self, body: Any) -> str:
        assert body["kind"] == "error"
        assert body["code"]
        return str(body["message"])


def with_value(door: HttpDoor, place: Place, value: object) -> HttpDoor:
    """Put a value at a place in the bodies of the door's requests."""
    call = door.call

    def changed(method: str, path: str, body: Any = None, **how: Any) -> Any:
        within = body
        for key in place[:-1]:
            within = within[key] if isinstance(key, int) else within.setdefault(key, {})
        within[place[-1]] = value
        return call(method, path, body, **how)

    door.call = changed  # type: ignore[method-assign]
    return door


@contextmanager
def refusals() -> Iterator[None]:
    """Turn an error that a verb raised in this process into `Refused`."""
    try:
        yield
    except MailboxError as error:
        raise Refused(STATUS[type(error)], error.message) from error
