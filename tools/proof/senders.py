"""Senders: they send tasks of many kinds in every dialect, cancel some, and send some again."""

import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from tools.proof.actors import Actor
from tools.proof.history import Operation
from tools.proof.mix import chosen
from tools.proof.world import Drainage, World

REMEMBERED = 40


class Sender(Actor):
    """Sends until the world's sends are used up."""

    def __init__(self, world: World, number: int, drainage: Drainage) -> None:
        super().__init__(world, f"s{number}", drainage.party.key, drainage.party.display)
        self.sent: deque[tuple[str, dict[str, Any]]] = deque(maxlen=REMEMBERED)
        self.known: deque[str] = deque(maxlen=REMEMBERED)  # tasks of every dialect
        self.keys = 0
        self.last = ""  # the newest task, for its children

    def act(self) -> None:
        while self.world.may_send():
            getattr(self, f"_send_{chosen(self.random, self.world.mix.sends)}")()
            if self.sent and self.random.random() < self.world.mix.cancels:
                self._cancel()
            if self.sent and self.random.random() < self.world.mix.repeats:
                self._repeat()
            if self.known and self.random.random() < self.world.mix.reads:
                self._read()
            self.pause(0.02)

    def _recipient(self) -> str:
        return self.random.choice(self.world.crews).party.display

    def _mailbox(self, **fields: Any) -> Operation:
        task = {"recipient": self._recipient(), "intent_text": f"work {self.new_id()[:8]}", **fields}
        if self.world.mix.names_tasks:
            task["id"] = self.new_id()
        operation = self.do("send", "POST", "/a2a/tasks", task, task=task)
        if operation.is_acknowledged:
            self.last = operation.facts["task_id"] = operation.answer["task_id"]
            self.sent.append((self.last, task))
            self.known.append(self.last)
        return operation

    def _send_unsafe(self) -> None:
        self._mailbox()

    def _send_unique(self) -> None:
        self._mailbox(idempotency={"duplicate_safety": "idempotent", "key": self.new_id()})

    def _send_duplicate(self) -> None:
        """Send a task whose key a few others have, so that one of them is worked on. Other senders use the key, too."""
        self.keys += 1
        recipient = self.world.crews[self.keys // 6 % len(self.world.crews)].party.display
        key = {"duplicate_safety": "idempotent", "key": f"copy {self.keys // 6}"}
        self._mailbox(recipient=recipient, task_kind="copy", idempotency=key)

    def _send_deadline(self) -> None:
        self._mailbox(deadline_ms=int(time.time() * 1000) + self.random.choice([1, 150, 600, 2500]))

    def _send_callback(self) -> None:
        self._mailbox(callback_url=f"{self.world.hook}/{self.new_id()}", callback_secret="s" * 24)

    def _send_child(self) -> None:
        self._mailbox(**({"parent": self.last} if self.last else {}))

    def _other(self, dialect: str, path: str, body: Mapping[str, Any], **how: Any) -> Operation:
        """Send in another dialect; note the ids that its answer names."""
        operation = self.do("send", "POST", path, body, dialect=dialect, **how)
        if operation.is_acknowledged:
            answer = operation.answer
            ids = answer.get("task_ids") or [
                answer.get("id") if dialect == "corvid" else (answer.get("task") or answer)["task_id"]
            ]
            operation.facts["task_ids"] = ids
            self.known.extend(ids)
        return operation

    def _send_batch(self) -> None:
        """Send several tasks in one request, each under an id of its own."""
        texts = [f"work {self.new_id()[:8]}" for _ in range(self.random.choice([1, 2, 4]))]
        tasks = [{"id": self.new_id(), "recipient": self._recipient(), "intent_text": text} for text in texts]
        sent = self.do("send", "POST", "/a2a/tasks/batch", {"tasks": tasks}, tasks=tasks, decisions=len(tasks))
        if sent.is_acknowledged:
            sent.facts["task_ids"] = sent.answer["posted"]
            self.known.extend(sent.answer["posted"])

    def _send_corvid(self) -> None:
        """Send a task without an id of the client's: this dialect has none, so a repeat makes a second task."""
        timeout = self.random.choice([1_000, 60_000, 600_000])
        body = {"message": f"work {self.new_id()[:8]}", "timeoutMs": timeout}
        self._other("corvid", "/a2a/tasks/send", body, repeatable=False)

    def _send_marianne(self) -> None:
        body = {"description": f"work {self.new_id()[:8]}", "task_id": self.new_id()}
        self._other("marianne", f"/a2a/inboxes/{self._recipient()}/tasks", body)

    def _send_delegate(self) -> None:
        """Send a YEOMAN message with one task, or with several."""
        several = [{"task": f"work {self.new_id()[:8]}"} for _ in range(self.random.choice([1, 1, 2, 3]))]
        is_batch = len(several) > 1
        message = {
            "id": self.new_id(),
            "type": "a2a:delegate_batch" if is_batch else "a2a:delegate",
            "fromPeerId": self.agent,
            "toPeerId": self._recipient(),
            "payload": {"tasks": several} if is_batch else several[0],
            "timestamp": int(time.time() * 1000),
        }
        self._other("yeoman", "/api/v1/a2a/receive", message, decisions=len(several))

    def _send_submit(self) -> None:
        body = {"title": "work", "description": f"work {self.new_id()[:8]}"}
        path = self.random.choice(["/api/tasks", "/api/v1/tasks"])
        self._other("yeoman", path, body, headers={"Idempotency-Key": self.new_id()})

    def _send_workflow(self) -> None:
        body = {"task": f"work {self.new_id()[:8]}"}
        self._other("yeoman", "/api/v1/a2a/tasks", body, headers={"Idempotency-Key": self.new_id()})

    def _cancel(self) -> None:
        task_id, _ = self.sent[-1] if self.random.random() < 0.6 else self.random.choice(self.sent)
        if self.random.random() < 0.2:
            self.do("cancel", "DELETE", f"/api/tasks/{task_id}", dialect="yeoman", task_id=task_id)
        else:
            self.do("cancel", "POST", f"/a2a/tasks/{task_id}/cancel", {"reason": "enough"}, task_id=task_id)

    def _read(self) -> None:
        """Read a task in any dialect, also in another than its own."""
        task_id = self.random.choice(self.known)
        dialect, path = self.random.choice(
            [
                ("mailbox", f"/a2a/tasks/{task_id}/entry"),
                ("corvid", f"/a2a/tasks/{task_id}"),
                ("yeoman", f"/api/tasks/{task_id}"),
            ]
        )
        self.do("read", "GET", path, dialect=dialect, task_id=task_id)

    def _repeat(self) -> None:
        """Send an earlier task again, as a client does that has lost its notes."""
        task_id, task = self.random.choice(self.sent)
        if "id" in task:
            self.do("resend", "POST", "/a2a/tasks", task, task_id=task_id, task=task)
