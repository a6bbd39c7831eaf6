"""The rules of the stateful test for results of every kind, and for batches of sends and drains."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import rule

from mailbox.life import batches, results
from mailbox.models import Task
from mailbox.words.envelopes import TaskEnvelope
from mailbox.words.errors import MailboxError
from tests.support import factories, model_rows
from tests.support.model_answers import Given
from tests.support.talk import Talk
from tests.support.wanted import SENDERS, WANTED, Pick, Wanted, picks

GUARDS = st.sampled_from(["none", "live", "live", "stale"])
Again = tuple[Pick, bool]  # an earlier task, and whether it is sent as it was


class Answering(Talk):
    def post(self, pick: Pick, given: Given, guard: str, act: str) -> None:
        """Post a result. ``act`` names the act in the story of a task that refuses it."""
        task = self.picked(pick)
        envelope = factories.result_envelope(task.id, **given.fields, lease_id=self.lease_id(task, guard))

        self.agree(
            lambda: self.model.post(task, given, guard, timezone.now()),
            lambda: results.post_result(self.cast[task.recipient], envelope),
            of=(task, act),
        )

    @rule(
        pick=picks("running"),
        text=st.sampled_from([None, "a"]),
        reason=st.sampled_from([*["not mine"] * 4, " ", None]),
        guard=GUARDS,
    )
    def reject(self, pick: Pick, text: str | None, reason: str | None, guard: str) -> None:
        self.post(pick, Given("rejected", text, reason), guard, "reject")

    @rule(
        pick=picks("running"),
        status=st.sampled_from([*["ok"] * 5, "error"]),
        text=st.sampled_from(["a", "a", "b", None]),
        guard=GUARDS,
    )
    def answer_directly(self, pick: Pick, status: str, text: str | None, guard: str) -> None:
        self.post(pick, Given(status, text, direct=True), guard, "direct")

    @rule(
        sender=st.sampled_from(SENDERS),
        wanted=st.lists(WANTED, min_size=1, max_size=4),
        again=st.lists(st.tuples(picks("any"), st.booleans()), max_size=2),
    )
    def send_in_a_batch(self, sender: str, wanted: Sequence[Wanted], again: Sequence[Again]) -> None:
        """Send new tasks, and between them earlier tasks of any sender: as they were, or with another text."""
        earlier = [(self.picked(pick), is_same) for pick, is_same in again]
        envelopes, expected = list[TaskEnvelope](), list[model_rows.Task | str]()
        for number, one in enumerate(wanted):
            if number < len(earlier):
                self._repeat(sender, *earlier[number], envelopes, expected)
            given = one._replace(sender=sender)
            task = given.task(self.new_id(), number=len(self.model.tasks), now=timezone.now())
            self.envelopes[task.id] = given.envelope(task, factories.ref(self.cast[task.recipient]))
            envelopes.append(self.envelopes[task.id])
            expected.append(self.model.send(task))
            task.story.append("sent-in-a-batch")

        outcomes = batches.send_tasks(self.cast[sender], envelopes)

        assert [_outcome(one) for one in outcomes.of_each] == [
            one if isinstance(one, str) else (one.id, one.state, one.outcome) for one in expected
        ]

    def _repeat(
        self,
        sender: str,
        task: model_rows.Task,
        is_same: bool,
        envelopes: list[TaskEnvelope],
        expected: list[model_rows.Task | str],
    ) -> None:
        """Add an earlier task to a batch, with the outcome by the model."""
        same = self.envelopes[task.id]
        envelopes.append(same if is_same else replace(same, intent_text="other"))
        if not is_same or task.sender != sender:
            task.story.append("send-refused:task_conflict")
            expected.append("task_conflict")
            return
        if not task.dropped:
            self.model.expire_due([task], timezone.now())
        task.story.append("sent-again")
        expected.append(task)

    @rule(
        sender=st.sampled_from(SENDERS),
        limit=st.integers(1, 4),
        name=st.sampled_from([None, "new", "old", "old"]),
        acks=st.lists(picks("answered"), max_size=3),
    )
    def drain_in_a_batch(self, sender: str, limit: int, name: str | None, acks: Sequence[Pick]) -> None:
        """Acknowledge tasks of any sender, and drain the next results."""
        named = list(dict.fromkeys(self.picked(pick) for pick in acks))
        attempt_id, ids = self.attempt_id(sender, name), [task.id for task in named]
        expected, unknown, is_spent = self.model.drain_several(
            sender, limit, timezone.now(), attempt_id=attempt_id, ack=named
        )

        drained = batches.drain_results(self.cast[sender], most=limit, attempt_id=attempt_id, ack=ids)

        assert [result.task.uuid for result in drained.results] == expected
        assert list(drained.acks.unknown) == unknown
        assert list(drained.acks.acked) == [task_id for task_id in ids if task_id not in unknown]
        assert drained.is_spent == is_spent

    @rule(pick=picks("answered"), limit=st.integers(1, 4))
    def a_result_goes_its_way_in_batches(self, pick: Pick, limit: int) -> None:
        """Drain by one attempt, repeat the drain, acknowledge what it brought, and repeat all of it."""
        task, sender = self.picked(pick), self.picked(pick).sender
        self.drain_in_a_batch(sender, limit, "new", [])
        self.drain_in_a_batch(sender, limit, "old", [])
        brought = [("any", one.number) for one in self.model.tasks if self._came_by(one, self.attempts[sender])]
        self.drain_in_a_batch(sender, limit, "old", [*brought, ("any", task.number)])
        self.drain_in_a_batch(sender, limit, "new", brought)

    @staticmethod
    def _came_by(task: model_rows.Task, attempt_id: UUID) -> bool:
        return task.answer is not None and task.answer.attempt_id == attempt_id and not task.dropped


def _outcome(one: Task | MailboxError) -> str | tuple[UUID, str, str | None]:
    return one.code if isinstance(one, MailboxError) else (one.uuid, one.state, one.outcome)
