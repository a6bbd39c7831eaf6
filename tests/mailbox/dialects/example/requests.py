from uuid import UUID

from mailbox.dialects.base.bodies import AgentField, Exact, Text
from mailbox.words.envelopes import TaskEnvelope

DIALECT = "example"


class SendBody(Exact):
    """A task. Under an ``id`` of the sender's own it can be sent again."""

    to: AgentField
    text: Text
    id: UUID | None = None

    def envelope(self) -> TaskEnvelope:
        return TaskEnvelope(id=self.id, recipient=self.to, intent_text=self.text, dialect=DIALECT)
