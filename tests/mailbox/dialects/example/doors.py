from typing import Any
from uuid import UUID

from tests.mailbox.dialects.example.requests import DIALECT
from tests.support.doors import RECIPIENT, TASK, Act, Door, HttpDoor, Request, Seen


class Example(HttpDoor):
    dialect = DIALECT
    does = frozenset(Act) - {Act.OWN, Act.DEFAULT, Act.LEASE, Act.ANSWER, Act.DRAIN, Act.TIMEOUT, Act.COLLECT}
    urlconf = "tests.mailbox.dialects.example.project_urls"
    send_path = "/example/tasks"
    text = ("text",)
    of_tasks = (Request("GET", f"/example/tasks/{TASK}"),)

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        named = {"id": str(name)} if name else {}
        return UUID(self.post(self.send_path, {"to": to, "text": text, **named})["id"])

    def read(self, task_id: UUID) -> Seen:
        task = self.get(f"{self.send_path}/{task_id}")
        return Seen(task["state"], task["text"])

    def refusal(self, body: Any) -> str:
        assert body.keys() == {"problem"}
        return str(body["problem"])


DOORS: list[type[Door]] = [Example]
