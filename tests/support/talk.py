"""The rules of the stateful test for conversations and batches. Each acts through a verb, and on the model."""

import itertools
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import rule

from mailbox.life import batches, conversation, leasing, updates
from mailbox.words.conversation import ArtifactUpdate, Update, UpdateStatus, Words
from mailbox.words.errors import MailboxError
from tests.support import factories
from tests.support.machine import Machine
from tests.support.model_answers import Given
from tests.support.model_talk import ASKS, Said
from tests.support.wanted import RECIPIENTS, Pick, picks

AT_ONCE = timedelta(0)
TEXTS = st.sampled_from("xyz")
GIVEN = st.sampled_from(
    [
        *[Given("ok", "a"), Given("ok", "b")] * 2,
        *(Given("rejected", None, "not mine"), Given("rejected", "a"), Given("ok", "a", direct=True)),
    ]
)
PARTS = st.builds(Said, st.sampled_from(["note", "place", "place", "add"]), TEXTS, st.sampled_from(["result", "log"]))


class Talk(Machine):
    @rule(pick=picks("running"), status=st.sampled_from(list(ASKS)), text=TEXTS, repeats=st.booleans())
    def ask(self, pick: Pick, status: str, text: str, repeats: bool) -> None:
        """Put a question to the sender. ``repeats``: the holder repeats the call, which must change nothing."""
        self.update(pick, [Said(status, text)], "none", repeats)

    @rule(
        pick=picks("running"),
        said=st.lists(PARTS, min_size=1, max_size=3),
        guard=st.sampled_from(["none", "live", "live", "stale"]),
        repeats=st.booleans(),
    )
    def update(self, pick: Pick, said: list[Said], guard: str, repeats: bool) -> None:
        task, attempt = self.picked(pick), self.new_id()
        lease_id = self.lease_id(task, guard)

        def post() -> object:
            return updates.post_updates(
                self.cast[task.recipient],
                task.id,
                [_update(one) for one in said],
                lease_id=lease_id,
                attempt_id=attempt,
            )

        _, posted = self.agree(lambda: self.model.update(task, said, guard, timezone.now()), post, of=(task, "update"))
        assert posted is None or not repeats or post() == posted

    @rule(pick=picks("interrupted"), text=TEXTS, repeats=st.booleans())
    def say(self, pick: Pick, text: str, repeats: bool) -> None:
        task, attempt, words = self.picked(pick), self.new_id(), Words(content=factories.text(text))

        def say() -> conversation.Sent:
            return conversation.say(self.cast[task.sender], task.id, words, attempt_id=attempt)

        _, sent = self.agree(lambda: self.model.say(task, text, timezone.now()), say, of=(task, "say"))
        assert sent is None or not repeats or (say().message, say().turn) == (sent.message, sent.turn)

    @rule(pick=picks("interrupted"))
    def lease_out_of_turn(self, pick: Pick) -> None:
        task = self.picked(pick)
        self.agree(
            lambda: self.model.lease_one(task, timezone.now()),
            lambda: leasing.lease_task(self.cast[task.recipient], task.id),
            of=(task, "lease"),
        )

    @rule(pick=picks("running"), status=st.sampled_from(list(ASKS)), end=st.sampled_from(["cancel", "force", "say"]))
    def a_question_meets(self, pick: Pick, status: str, end: str) -> None:
        """Ask, and then end or answer the interrupted task; each later act must agree with the model, too."""
        this, task = self.itself(pick), self.picked(pick)
        self.ask(this, status, "x", repeats=False)
        match end:
            case "cancel":
                self.cancel(this)  # type: ignore[attr-defined]
            case "force":
                self.force_error(this, "none")  # type: ignore[attr-defined]
            case "say":
                self.say(this, "y", repeats=True)
                self.lease_out_of_turn(this)
        self.ask(this, status, "z", repeats=True)
        self.say(this, "y", repeats=False)
        assert task.turn == len([role for role, _ in task.spoken if role == "user"]) + 1

    @rule(recipient=st.sampled_from(RECIPIENTS), limit=st.integers(1, 4), given=st.lists(GIVEN, min_size=1, max_size=3))
    def work_in_batches(self, recipient: str, limit: int, given: Sequence[Given]) -> None:
        """Answer all held tasks of an agent by the results ``given``, in turns, and lease the next, in one call."""
        held = [task for task in self.model.tasks if task.recipient == recipient and task.live]
        both = list(zip(held, itertools.cycle(given), strict=False))
        answers = [factories.result_envelope(task.id, **result.fields) for task, result in both]
        expected = [
            self.by_the_model(partial(self.model.post, task, result, "none", timezone.now()))[1]
            for task, result in both
        ]
        leases = self.model.lease(recipient, limit, timezone.now(), attempt_id=None)

        answered = batches.next_tasks(self.cast[recipient], most=limit, answers=answers, wait=AT_ONCE)

        codes = [one.code if isinstance(one, MailboxError) else None for one in answered.results.of_each]
        assert codes == expected
        assert [(lease.task.uuid, lease.attempt) for lease in answered.leases] == leases


def _update(said: Said) -> Update | ArtifactUpdate:
    content = factories.text(said.text)
    if said.what in ("place", "add"):
        return ArtifactUpdate(content=content, artifact_id=said.artifact, append=said.what == "add")
    return Update(message=content, status=UpdateStatus(said.what) if said.what in ASKS else None)
