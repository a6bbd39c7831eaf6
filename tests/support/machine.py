"""The base of the stateful test: a mailbox, a model of it, and a comparison of both after each step."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

import pytest
import time_machine
from django.core.management.color import no_style
from django.core.management.sql import sql_flush
from django.db import connection
from django.utils import timezone
from hypothesis.stateful import RuleBasedStateMachine, invariant

from mailbox.access.callers import Caller, Role
from mailbox.life import results
from mailbox.models import Lease
from mailbox.words.envelopes import TaskEnvelope
from mailbox.words.errors import MailboxError
from tests.support import factories, passages, tables
from tests.support.model_rows import Refused, Task
from tests.support.model_talk import TalkingModel
from tests.support.wanted import RECIPIENTS, SENDERS, Pick

START = datetime(2035, 1, 1, tzinfo=UTC)


class Machine(RuleBasedStateMachine):
    reached: ClassVar[Counter[str]]  # the number of tasks that went through each of `passages`, over all runs

    def __init__(self) -> None:
        super().__init__()
        self.travelling = time_machine.travel(START, tick=False)
        self.clock = self.travelling.start()
        self.model = TalkingModel()
        self.cast: dict[str, Caller] = {name: factories.agent(name, "a2a.send.*") for name in SENDERS}
        self.cast |= {name: factories.agent(name, "a2a.respond.*") for name in RECIPIENTS}
        self.mallory = factories.agent("mallory", "a2a.send.*", "a2a.respond.*", "a2a.repair.requeue")
        self.olga, self.ada = factories.person("olga", Role.OPERATOR), factories.person("ada", Role.ADMIN)
        self.envelopes: dict[UUID, TaskEnvelope] = {}
        self.named = 0
        self.attempts: dict[str, UUID] = {}
        self.watch = tables.Watch()

    def teardown(self) -> None:
        for task in self.model.tasks:
            self.reached.update(passages.of(task))
        self.travelling.stop()
        connection.ops.execute_sql_flush(sql_flush(no_style(), connection))

    @invariant()
    def the_tables_agree_and_are_sound(self) -> None:
        rows = tables.Rows()
        tables.assert_same(rows, self.model)
        self.watch.assert_sound(rows)

    def drain_as(self, sender: str, limit: int, *, attempt_id: UUID | None = None, ack: tuple[Task, ...] = ()) -> None:
        expected, drained = self.agree(
            lambda: self.model.drain(sender, limit, timezone.now(), attempt_id=attempt_id, ack=ack),
            lambda: results.drain_results(
                self.cast[sender], limit=limit, attempt_id=attempt_id, ack=[task.id for task in ack]
            ),
        )
        assert [result.task.uuid for result in drained or []] == (expected or [])

    def agree(
        self,
        rules: Callable[[], Any],
        verb: Callable[[], Any],
        *,
        of: tuple[Task, str] | None = None,
        refused: str | None = None,
    ) -> tuple[Any, Any]:
        """Act on the model and on the mailbox: either both succeed, or both refuse with the same code.

        Return both results, None for refusals. ``of`` is the task whose story records a refusal, and the act's name.
        ``refused`` is the kind of the journal row that a refusal must write, None for none.
        """
        before = len(factories.journal(refused)) if refused else 0
        expected, code = self.by_the_model(rules)
        if code is None:
            return expected, verb()
        with pytest.raises(MailboxError) as refusal:
            verb()
        assert refusal.value.code == code
        assert refused is None or len(factories.journal(refused)) == before + 1
        if of is not None:
            task, act = of
            task.story.append(f"{act}-refused:{code}")
        return None, None

    def by_the_model(self, rules: Callable[[], Any]) -> tuple[Any, str | None]:
        try:
            return rules(), None
        except Refused as refusal:
            return None, refusal.code

    def picked(self, pick: Pick) -> Task:
        """Return a task of the sort that ``pick`` wants, or any task if there is none of that sort."""
        which, number = pick
        tasks = self.model.tasks
        found = {
            "any": tasks,
            "running": [task for task in tasks if task.live],
            "interrupted": [task for task in tasks if task.awaits],
            "safe": [task for task in tasks if task.live and task.work],
            "unresolved": self.model.unresolved(),
            "answered": [task for task in tasks if task.answer and not task.dropped],
        }[which]
        return (found or tasks)[number % len(found or tasks)]

    def itself(self, pick: Pick) -> Pick:
        """Return a pick that keeps picking the same task, by its number among all tasks."""
        return "any", self.picked(pick).number

    def lease_id(self, task: Task, guard: str) -> UUID | None:
        """Return the lease id of a request: of a live lease, of an ended (``stale``) lease, or None (``none``).

        Without such a lease it is a random id.
        """
        if guard == "none":
            return None
        ended = guard == "stale"
        known = Lease.objects.filter(task__uuid=task.id, ended_at__isnull=not ended).order_by("-attempt").first()
        return known.lease_id if known else uuid4()

    def attempt_id(self, agent: str, name: str | None) -> UUID | None:
        """Return the id of a receive: None, a ``new`` id, or the ``old`` id that the agent used last."""
        if name == "new" or (name == "old" and agent not in self.attempts):
            self.attempts[agent] = self.new_id()
        return self.attempts[agent] if name else None

    def new_id(self) -> UUID:
        self.named += 1
        return uuid5(NAMESPACE_URL, str(self.named))
