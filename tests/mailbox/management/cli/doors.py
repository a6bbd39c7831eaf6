import io
import json
from typing import Any
from uuid import UUID

from django.core.management import call_command
from django.core.management.base import CommandError

from mailbox.access.callers import Caller
from tests.support import factories
from tests.support.doors import PROJECT, RECIPIENT, Act, Door, HubDoor, Seen, refusals


class CommandLine:
    """``manage.py a2a``. It needs no grant: every caller with access to the database is trusted."""

    dialect = "mailbox"
    does = frozenset({Act.SEND, Act.ADDRESS, Act.REPEAT, Act.REMEMBER, Act.LEASE, Act.ANSWER, Act.DRAIN})
    urlconf = PROJECT

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._name = factories.row_of(caller).local

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        named = ("--id", name) if name else ()
        return UUID(_run("send", "--from", self._name, "--to", to, text, *named)["task_id"])

    def lease(self) -> UUID | None:
        task = _run("recv", self._name)["task"]
        return UUID(task["id"]) if task else None

    def answer(self, task_id: UUID, text: str) -> None:
        _run("post-result", task_id, "--status", "ok", "--text", text)

    def drain(self) -> tuple[UUID, str] | None:
        result = _run("drain", self._name)["result"]
        return (UUID(result["task_id"]), result["content"][0]["text"]) if result else None

    def read(self, task_id: UUID) -> Seen:
        return HubDoor(self._caller).read(task_id)


def _run(*words: object) -> Any:
    """Run the command in this process and return the JSON that it printed."""
    printed = io.StringIO()
    with refusals():
        try:
            call_command("a2a", *map(str, words), "--json", stdout=printed)
        except CommandError as error:
            assert printed.getvalue() == ""
            raise error.__cause__ or error from None
    return json.loads(printed.getvalue())


DOORS: list[type[Door]] = [CommandLine]
