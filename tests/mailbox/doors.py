from uuid import UUID

from mailbox import Mailbox
from mailbox.access.callers import Caller
from mailbox.words.envelopes import AgentRef, ResultEnvelope, ResultStatus, TaskEnvelope
from tests.support import factories
from tests.support.doors import PROJECT, RECIPIENT, Act, Door, HubDoor, Seen, refusals


class InProcess:
    """`mailbox.Mailbox`, on local trust."""

    dialect = "mailbox"
    does = frozenset({Act.SEND, Act.ADDRESS, Act.REPEAT, Act.REMEMBER, Act.LEASE, Act.ANSWER, Act.DRAIN})
    urlconf = PROJECT

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._agent = factories.row_of(caller)
        self._mailbox = Mailbox()

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        with refusals():
            sender = AgentRef(self._agent.display)
            return self._mailbox.send_task(
                TaskEnvelope(id=name, sender=sender, recipient=AgentRef.parse(to), intent_text=text)
            ).uuid

    def lease(self) -> UUID | None:
        lease = self._mailbox.try_recv_task_for(self._agent)
        return lease.task.uuid if lease else None

    def answer(self, task_id: UUID, text: str) -> None:
        content = [{"type": "text", "text": text}]
        with refusals():
            self._mailbox.send_result(ResultEnvelope(task_id=task_id, status=ResultStatus.OK, content=content))

    def drain(self) -> tuple[UUID, str] | None:
        result = self._mailbox.try_recv_result_for(self._agent)
        return (result.task.uuid, result.blocks[0]["text"]) if result else None

    def read(self, task_id: UUID) -> Seen:
        return HubDoor(self._caller).read(task_id)


DOORS: list[type[Door]] = [InProcess]
