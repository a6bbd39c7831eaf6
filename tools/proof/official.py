"""Clients of the official protocol: they send under keys, wait, cancel, and follow tasks by streams of events."""

import http.client
import itertools
import json
import queue
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from tools.proof.actors import PATIENCE, Actor
from tools.proof.history import Operation, Try
from tools.proof.senders import REMEMBERED, Sender
from tools.proof.wire import route_of
from tools.proof.world import Drainage, Followed, World

DIALECT = "official"
FIRST = "1"  # the id of the first event of each task, which is its send
ENDED = ("TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED")
MOST_FOLLOWED = 3  # tasks that wait for a follower
FOLLOWED_FOR = 20.0  # seconds, after which a task that no worker ends waits behind the others
SILENCE = 15.0  # seconds without a sign of life, after which a stream is given up
CUT = "stream"  # the fault of a stream that its client cuts
GONE = 404  # the task was compacted

Event = tuple[str, dict[str, Any]]  # its id, and its JSON


class OfficialSender(Sender):
    """Sends by SendMessage, each message under a key of its own. Some sends wait for the outcome."""

    def __init__(self, world: World, number: int, drainage: Drainage) -> None:
        super().__init__(world, number, drainage)
        self.drainage = drainage
        self.made: deque[tuple[str, str, str, dict[str, Any]]] = deque(maxlen=REMEMBERED)

    def act(self) -> None:
        while self.world.may_send():
            self._send()
            if self.made and self.random.random() < 2 * self.world.mix.cancels:
                self._call(self.made[-1], ":cancel", "cancel")
            if self.made and self.random.random() < self.world.mix.reads:
                self._call(self.random.choice(self.made), "", "read")
            if self.made and self.random.random() < 2 * self.world.mix.repeats:
                self._send_again()
            self.pause(0.1)

    def _send(self) -> None:
        recipient, key = self._recipient(), self.new_id()
        configuration: dict[str, Any] = {"returnImmediately": self.random.random() < 0.6}
        is_followed = self.world.followed.qsize() < MOST_FOLLOWED
        hook = f"/{key}" if is_followed and self.world.stage.services == "all" else ""
        if hook:
            configuration["taskPushNotificationConfig"] = {"url": f"{self.world.hook}{hook}"}
        message = {"messageId": key, "role": "ROLE_USER", "parts": [{"text": f"work {key[:8]}"}]}
        body = {"message": message, "configuration": configuration}
        sent = self._say(recipient, key, body, hook=hook)
        if sent.is_acknowledged:
            (task_id,) = sent.facts["task_ids"]
            self.made.append((task_id, recipient, key, body))
            if is_followed:
                self.world.followed.put(Followed(task_id, recipient, self.agent, self.drainage.party.key))

    def _send_again(self) -> None:
        """Send an earlier message under its key, as a client does that has lost its notes. It is the same task."""
        task_id, recipient, key, body = self.random.choice(self.made)
        self._say(recipient, key, body, task={"id": task_id})

    def _say(self, recipient: str, key: str, body: dict[str, Any], **facts: Any) -> Operation:
        headers = {"A2A-Version": "1.0", "Idempotency-Key": key}
        path = f"/agents/{recipient}/rest/message:send"
        sent = self.do("send", "POST", path, body, dialect=DIALECT, headers=headers, **facts)
        if sent.is_acknowledged:
            sent.facts["task_ids"] = [sent.answer["task"]["id"]]
        return sent

    def _call(self, made: tuple[str, str, str, dict[str, Any]], action: str, verb: str) -> None:
        task_id, recipient, *_ = made
        path = f"/agents/{recipient}/rest/tasks/{task_id}{action}"
        body: dict[str, Any] | None = {} if action else None
        self.do(
            verb,
            "POST" if action else "GET",
            path,
            body,
            dialect=DIALECT,
            headers={"A2A-Version": "1.0"},
            task_id=task_id,
        )


class Follower(Actor):
    """Follows tasks by streams of events, one after the other. It cuts some streams, and goes on after the last event.

    Its connections lead straight to the hub, because the proxy passes on whole answers.
    """

    def __init__(self, world: World, number: int) -> None:
        super().__init__(world, f"f{number}", "", "follower")

    def act(self) -> None:
        while True:
            try:
                followed = self.world.followed.get(timeout=0.2)
            except queue.Empty:
                if not self.world.working.is_set():
                    return
            else:
                self.follow(followed)

    def follow(self, followed: Followed) -> None:
        """Follow a task to its end, and then read all its events once more by one stream.

        A task that no worker ends in time waits behind the others, and is then taken up after its last event.
        """
        operation = followed.operation or self._begin(followed)
        operation.facts["events"] = self._read(operation, followed, operation.facts["events"], FOLLOWED_FOR, cuts=True)
        if not _is_over(operation, operation.facts["events"]) and self.world.working.is_set():
            self.world.followed.put(followed._replace(operation=operation))
            return
        operation.facts["again"] = self._read(operation, followed, [], PATIENCE, cuts=False)
        self.world.history.end(operation)

    def _begin(self, followed: Followed) -> Operation:
        return self.world.history.begin(
            Operation(
                verb="follow",
                actor=followed.sender,
                request_id=self.request_id(),
                route=route_of("POST", _path(followed)),
                dialect=DIALECT,
                facts={"task_id": followed.task_id, "events": []},
            )
        )

    def _read(
        self, operation: Operation, followed: Followed, seen: list[Event], seconds: float, *, cuts: bool
    ) -> list[Event]:
        """Return the events ``seen`` and those that follow, until the task ends or the time is over."""
        give_up_at = time.monotonic() + seconds
        while time.monotonic() < give_up_at:
            most = self.random.choice([1, 1, 2, 4]) if cuts and self.random.random() < 0.6 else None
            last = seen[-1][0] if seen else FIRST
            # The row of an event such as 8.1 is brought whole again, so that what came of it is dropped.
            row = last.partition(".")
            seen = [one for one in seen if one[0].partition(".")[0] != row[0]] if row[1] else seen
            operation.tries.append(self._connect(operation, followed, last, most, seen))
            if _is_over(operation, seen):
                break
            self.pause(0.3)
        return seen

    def _connect(self, operation: Operation, followed: Followed, last: str, most: int | None, seen: list[Event]) -> Try:
        """Add the events of one connection to ``seen``; cut it after so many events."""
        began_at, status, problem = self.world.history.now(), None, ""
        headers = {
            "Authorization": f"Bearer {followed.key}",
            "A2A-Version": "1.0",
            "Last-Event-ID": last,
            "X-Request-Id": operation.request_id,
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.world.stage.port, timeout=SILENCE)
        try:
            connection.request("POST", _path(followed), headers=headers)
            answer = connection.getresponse()
            status = answer.status
            if status == http.HTTPStatus.OK:
                new = itertools.islice(events_of(answer), 1, None)  # the first is the task as it was at `last`
                seen.extend(itertools.islice(new, most))
                if most is not None and not (seen and is_last(seen[-1][1])):
                    operation.faults.append(CUT)
        except (OSError, http.client.HTTPException) as error:
            problem = type(error).__name__
        finally:
            connection.close()
        return Try(began_at=began_at, ended_at=self.world.history.now(), status=status, problem=problem)


def _path(followed: Followed) -> str:
    return f"/agents/{followed.recipient}/rest/tasks/{followed.task_id}:subscribe"


def _is_over(operation: Operation, seen: Sequence[Event]) -> bool:
    """Whether the last event of the task came, or the task was compacted."""
    return operation.tries[-1].status == GONE or bool(seen and is_last(seen[-1][1]))


def events_of(answer: http.client.HTTPResponse) -> Iterator[Event]:
    """Yield each event of a stream, as far as it came. An error without an id ends the stream, and is no event."""
    event_id = ""
    while line := answer.readline():
        name, _, value = line.decode().strip().partition(": ")
        if name == "id":
            event_id = value
        elif name == "data":
            try:
                event = json.loads(value)
            except ValueError:  # the connection ended within it
                continue
            if "error" not in event:
                yield event_id, event


def is_last(event: dict[str, Any]) -> bool:
    """Whether the event ends its task."""
    update = event.get("statusUpdate") or {}
    return update.get("status", {}).get("state") in ENDED
