from http import HTTPStatus
from typing import Any
from uuid import UUID

from mailbox.access.callers import Caller
from mailbox.dialects.marianne import A2AInbox
from tests.support import factories
from tests.support.doors import (
    PROJECT,
    RECIPIENT,
    TASK,
    Act,
    Door,
    HttpDoor,
    HubDoor,
    Listing,
    Refused,
    Request,
    Seen,
    refusals,
)

STATES = {"pending": "open", "accepted": "open", "completed": "done", "failed": "failed"}


OF_TASK = f"/a2a/inboxes/{RECIPIENT}/tasks/{TASK}"


class InboxRoutes(HttpDoor):
    dialect = "marianne"
    does = frozenset(Act) - {Act.OWN, Act.DEFAULT, Act.DRAIN, Act.COLLECT}
    send_path = f"/a2a/inboxes/{RECIPIENT}/tasks"
    text = ("description",)
    of_tasks = (
        Request("GET", f"{OF_TASK}"),
        *(Request("POST", f"{OF_TASK}/{step}", {}) for step in ("accept", "complete")),
        Request("POST", f"{OF_TASK}/fail", {"reason": "r"}),
    )
    other_lists = ("/a2a/inboxes/{agent}/export",)
    lists = (Listing(f"/a2a/inboxes/{RECIPIENT}/tasks", "tasks"), Listing("/a2a/registry", "cards"))

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        named = {"task_id": str(name)} if name else {}
        sent = self.post(f"/a2a/inboxes/{to}/tasks", {"description": text, "source_job_id": "job-a", **named})
        return UUID(sent["task"]["task_id"])

    def lease(self) -> UUID | None:
        pending = self.get(f"/a2a/inboxes/{self.name}/tasks", status="pending")["tasks"]
        if not pending:
            return None
        task_id = pending[0]["task_id"]
        try:
            self.post(f"/a2a/inboxes/{self.name}/tasks/{task_id}/accept")
        except Refused as refused:
            if refused.status != HTTPStatus.CONFLICT:
                raise
            return None
        return UUID(task_id)

    def answer(self, task_id: UUID, text: str) -> None:
        self.post(f"/a2a/inboxes/{self.name}/tasks/{task_id}/complete", {"artifacts": {"text": text}})

    def read(self, task_id: UUID) -> Seen:
        task = self.get(f"{self.send_path}/{task_id}")["task"]
        return Seen(STATES[task["status"]], task["failure_reason"] or task["artifacts"].get("text"))

    def refusal(self, body: Any) -> str:
        return HubDoor.refusal(self, body)  # type: ignore[arg-type]


class Inbox:
    """`A2AInbox` in this process. Each name that it meets becomes an agent of the hub."""

    dialect = "marianne"
    does = frozenset({Act.SEND, Act.LEASE, Act.ANSWER, Act.READ})
    urlconf = PROJECT

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._name = factories.row_of(caller).local
        self._own = A2AInbox("job-own", self._name)

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        with refusals():
            return UUID(A2AInbox("job-b", to).submit_task("job-a", self._name, text).task_id)

    def lease(self) -> UUID | None:
        pending = self._own.get_pending_tasks()
        return UUID(pending[0].task_id) if pending and self._own.mark_accepted(pending[0].task_id) else None

    def answer(self, task_id: UUID, text: str) -> None:
        with refusals():
            if not self._own.complete_task(str(task_id), {"text": text}):
                raise Refused(HTTPStatus.NOT_FOUND, "it completes nothing")

    def drain(self) -> tuple[UUID, str] | None:
        return HubDoor(self._caller).drain()

    def read(self, task_id: UUID) -> Seen:
        task = A2AInbox("job-b", RECIPIENT).get_task(str(task_id))
        if task is None:
            raise Refused(HTTPStatus.NOT_FOUND, "the inbox has no such task")
        return Seen(STATES[task.status], task.failure_reason or task.artifacts.get("text"))


DOORS: list[type[Door]] = [InboxRoutes, Inbox]
