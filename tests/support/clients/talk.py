"""Talks of the official clients with an agent of a hub, the same for every SDK, binding and version."""

import contextlib
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.clients import readings
from tests.support.clients.driven import Driven, Operation, running
from tests.support.clients.environments import javascript_driver, python_driver
from tests.support.clients.readings import Event, Json, Words, Work

RPC, REST = "JSONRPC", "HTTP+JSON"


@dataclass(frozen=True, slots=True)
class Client:
    """An official client: its SDK, version and binding."""

    sdk: str
    version: str
    binding: str = RPC

    def __str__(self) -> str:
        return f"{self.sdk}-{self.version}-{'rest' if self.binding == REST else 'rpc'}"

    @property
    def is_old(self) -> bool:
        return self.version == "0.3"

    @property
    def needs(self) -> Sequence[str]:
        """The needs of a test that has this client as its parameter."""
        return ("node", "javascript_clients") if self.sdk == "js" else ()

    def command(self) -> list[str]:
        if self.sdk == "js":
            return javascript_driver("js_0_3" if self.is_old else "js_1")
        if self.is_old:
            return python_driver("python_0_3")
        return python_driver("python_1")


NEW = (Client("python", "1"), Client("python", "1", REST), Client("js", "1"), Client("js", "1", REST))
OLD = (Client("python", "0.3"), Client("js", "0.3"))
EVERY = (*NEW, *OLD)
# The client of the Python SDK 0.3 has neither a list nor a delete of webhooks.
LISTING_WEBHOOKS = (*NEW, Client("js", "0.3"))


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of a client. ``begun`` is the operation behind it."""

    begun: Operation

    def next(self) -> Event:
        return readings.event(self.begun.event())

    def rest(self) -> list[Event]:
        """Return the events until the stream ends."""
        return [readings.event(raw) for raw in self.begun.events()]

    def until(self, state: str) -> list[Event]:
        """Return the events up to the first that shows this state."""
        found = [self.next()]
        while getattr(found[-1], "state", None) != state:
            found.append(self.next())
        return found

    def drop(self) -> None:
        self.begun.drop()


class Talk:
    """A running client. ``driven`` takes the JSON of its own version."""

    def __init__(self, client: Client, driven: Driven) -> None:
        self.client = client
        self.driven = driven

    def send(self, text: str = "", **wanted: Any) -> Work | Words:
        """Send a message and wait. ``wanted`` is as in `params`; ``headers`` are of this request."""
        return readings.answer(self.begin_send(text, **wanted).result())

    def task(self, text: str = "", **wanted: Any) -> Work:
        """Send a message whose answer is a task."""
        found = self.send(text, **wanted)
        assert isinstance(found, Work), found
        return found

    def begin_send(self, text: str = "", *, headers: dict[str, str] | None = None, **wanted: Any) -> Operation:
        return self.driven.begin("send", self.params(text, **wanted), **(headers or {}))

    def stream(self, text: str = "", *, headers: dict[str, str] | None = None, **wanted: Any) -> Stream:
        return Stream(self.driven.begin("stream", self.params(text, **wanted), **(headers or {})))

    def subscribe(self, task_id: str, **headers: str) -> Stream:
        return Stream(self.driven.begin("subscribe", {"id": task_id}, **headers))

    def get(self, task_id: str, **fields: Any) -> Work:
        return readings.work(self.driven.do("get", {"id": task_id, **fields}))

    def cancel(self, task_id: str) -> Work:
        return readings.work(self.driven.do("cancel", {"id": task_id}))

    def params(
        self,
        text: str = "",
        *,
        parts: Sequence[Json] | None = None,
        of: Work | None = None,
        context: str | None = None,
        at_once: bool = False,
        history: int | None = None,
        webhook: Json | None = None,
        **message: Any,
    ) -> Json:
        """Return the parameters of a message. ``of`` is the task that it continues, ``webhook`` an inline config."""
        said = {
            "messageId": str(uuid.uuid4()),
            "role": self._role(),
            "parts": parts or [self.text_part(text)],
            **message,
        }
        said |= {"taskId": of.id, "contextId": of.context} if of else {}
        said |= {"contextId": context} if context else {}
        configuration: Json = {} if history is None else {"historyLength": history}
        if self.client.is_old:
            said["kind"] = "message"
            configuration |= {"blocking": not at_once}
            configuration |= {"pushNotificationConfig": webhook} if webhook else {}
        else:
            configuration |= {"returnImmediately": True} if at_once else {}
            configuration |= {"taskPushNotificationConfig": webhook} if webhook else {}
        return {"message": said} | ({"configuration": configuration} if configuration else {})

    def text_part(self, text: str) -> Json:
        return {"kind": "text", "text": text} if self.client.is_old else {"text": text}

    def _role(self) -> str:
        return "user" if self.client.is_old else "ROLE_USER"

    def create_config(self, task_id: str, config: Json) -> Json:
        """Create a webhook; return it flat in both versions."""
        if not self.client.is_old:
            return dict(self.driven.do("config_create", {"taskId": task_id, **config}))
        made = self.driven.do("config_create", {"taskId": task_id, "pushNotificationConfig": config})
        return {"taskId": made["taskId"], **made["pushNotificationConfig"]}

    def config(self, task_id: str, config_id: str) -> Json:
        if not self.client.is_old:
            return dict(self.driven.do("config_get", {"taskId": task_id, "id": config_id}))
        found = self.driven.do("config_get", {"id": task_id, "pushNotificationConfigId": config_id})
        return {"taskId": found["taskId"], **found["pushNotificationConfig"]}

    def configs(self, task_id: str) -> list[str]:
        """Return the ids of the task's webhooks."""
        if not self.client.is_old:
            return [each["id"] for each in self.driven.do("config_list", {"taskId": task_id}).get("configs") or []]
        return [each["pushNotificationConfig"]["id"] for each in self.driven.do("config_list", {"id": task_id})]

    def delete_config(self, task_id: str, config_id: str) -> None:
        name = "pushNotificationConfigId" if self.client.is_old else "id"
        task = "id" if self.client.is_old else "taskId"
        self.driven.do("config_delete", {task: task_id, name: config_id})


@contextlib.contextmanager
def talking(client: Client, base_url: str, key: str = "") -> Iterator[Talk]:
    """Run the client against the agent at ``base_url`` until the block ends."""
    arguments = [] if client.is_old else [client.binding]
    with running(client.command(), base_url, *arguments, key=key) as driven:
        yield Talk(client, driven)
