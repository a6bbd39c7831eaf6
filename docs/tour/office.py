"""The office of the travel agency: its agents and people, and the verbs of the day's steps."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from random import Random
from typing import Any
from uuid import UUID, uuid4

import agency
from agency import AGENCY, Values, filled
from django.contrib.auth.models import Group, User
from django.utils import timezone

from agentcards import profiles
from mailbox.access.agents import grants, registration
from mailbox.access.callers import Caller, Role
from mailbox.background import jobs
from mailbox.life import conversation, leasing, outbox, results, sending, updates
from mailbox.life.outbox import DeliveryOutcome
from mailbox.models import Agent, ApiKey, AuditEvent, Lease, PushDelivery, RepairPlan, Task
from mailbox.repairs import auto_retry, plan_execution, plans, repair
from mailbox.words import errors
from mailbox.words.conversation import ArtifactUpdate, Update, UpdateStatus, Words
from mailbox.words.envelopes import AgentRef, DuplicateSafety, Idempotency, ResultEnvelope, ResultStatus, TaskEnvelope

API, DASHBOARD = AuditEvent.Source.API, AuditEvent.Source.DASHBOARD
LOOK = 4.0  # seconds until a sender looks again for the results that it waits for
PAUSE = 30.0  # seconds until an agent looks whether its pause is over
SHORT, LONG = 15.0, 300.0  # seconds between two looks at the callbacks, with some to come and without

Story = Iterator[float]  # acts at the hub, and yields the seconds until it acts again
Fields = dict[str, Any]
Scope = dict[str, Any]  # the tasks and values of a story, by their names


class Office:
    """A new office registers its agents and people. ``keys`` holds the API key of each agent."""

    def __init__(self) -> None:
        self.keys: dict[str, str] = {}
        self._callers: dict[str, Caller] = {}
        self._last_calls: dict[str, datetime] = {}
        owner, agents, people = Caller.command_line(), AGENCY["agents"], AGENCY["people"]
        for name, agent in agents.items():
            made = registration.register_agent(owner, name)
            profiles.update_profile(owner, made.agent, {"name": name.capitalize(), "description": agent["description"]})
            self.keys[name] = made.api_key
            self._callers[name] = Caller(
                name=made.agent.display, source=API, agent=made.agent, address=agent["address"]
            )
        for name, agent in agents.items():
            for recipient in agent["sends_to"]:
                grants.grant(owner, Agent.objects.get(local=name), f"a2a.send.{recipient}@local")
                grants.grant(owner, Agent.objects.get(local=recipient), f"a2a.respond.{name}@local")
        for name, address in people.items():
            User.objects.create_user(name).groups.add(Group.objects.get(name=Role.OPERATOR))
            self._callers[name] = Caller(name=f"user:{name}", source=DASHBOARD, role=Role.OPERATOR, address=address)

    def caller(self, name: str) -> Caller:
        """Return the agent or person as the caller of a new request. It shows as the last call of an agent's key."""
        self._last_calls[name] = timezone.now()
        return replace(self._callers[name], request_id=uuid4().hex)

    def note_last_calls(self) -> None:
        """Store when each agent called last, as requests over HTTP do."""
        for name, moment in self._last_calls.items():
            ApiKey.objects.filter(agent__local=name).update(last_used_at=moment)


class Verbs:
    """The verbs of the steps of stories. Each public method is a verb, and its parameters are the fields of the step.

    The player gives ``scope``, and the task whose name stands in a field ``task`` or ``parent``.
    """

    def __init__(
        self,
        office: Office,
        chance: Random,
        receivers: Values,
        *,
        tell: Callable[..., Story],
        start: Callable[..., None],
    ) -> None:
        self._chance, self._receivers, self._tell, self._start = chance, receivers, tell, start
        self._caller = office.caller
        self._leases: dict[int, UUID] = {}
        self._replies: dict[int, Fields] = {}  # of tasks whose sender's step names the answer

    def begin(self, scope: Scope, *, story: str, **named: Any) -> None:
        """Begin a story beside this one."""
        self._start(self._tell(story, scope | agency.values(named)))

    def run(self, scope: Scope, *, story: str, **named: Any) -> Story:
        """Go through a story before the next step."""
        return self._tell(story, scope | agency.values(named))

    def wait(self, scope: Scope, *, tasks: Sequence[str]) -> Story:
        """Wait for the ends of tasks. The value ``failed`` is the number of errors."""
        awaited = Task.objects.filter(pk__in=[scope[name].pk for name in tasks])
        while awaited.unresolved().exists():
            yield LOOK
        scope["failed"] = awaited.filter(outcome="error").count()

    def send(
        self, scope: Scope, *, who: str, kind: str, name: str = "task", answer: str | None = None, **fields: Any
    ) -> None:
        """Send a task of this kind. Its ``answer`` is drawn now, and posted later."""
        scope[name] = task = sending.send_task(self._caller(who), _envelope(kind, scope, **fields))
        if answer:
            self._replies[task.pk] = agency.reply(answer, scope, self._chance)

    def lease(self, *, task: Task) -> None:
        self._leases[task.pk] = leasing.lease_task(self._caller(task.recipient.local), task.uuid).lease_id

    def work(self, scope: Scope, *, task: Task, takes: float, answer: str | None = None) -> Story:
        """Let the recipient do a task, after its pause if it is paused. Work that is cached needs no worker."""
        open_task = Task.objects.unresolved().filter(pk=task.pk)
        if not open_task.filter(waits_on=None).exists():
            return
        yield spread(2, self._chance)
        while Agent.objects.paused().filter(pk=task.recipient_id).exists():
            yield PAUSE
        if open_task.exists():
            self.lease(task=task)
            yield spread(takes, self._chance)
            self.answer(scope, task=task, answer=answer)

    def beat(self, *, task: Task) -> None:
        leasing.heartbeat(self._caller(task.recipient.local), task.uuid, lease_id=self._leases[task.pk])

    def progress(self, *, task: Task, fraction: float, text: str) -> None:
        self._post(task, Update(progress=fraction, note=text))

    def ask(self, *, task: Task, text: str, status: str = UpdateStatus.INPUT_REQUIRED) -> None:
        self._post(task, Update(message=_blocks(text), status=UpdateStatus(status)))

    def reply(self, *, task: Task, text: str) -> None:
        conversation.say(self._caller(task.sender.local), task.uuid, Words(content=_blocks(text)))

    def page(self, *, task: Task, text: str, title: str | None = None, last: bool = False) -> None:
        """Bring a page of an itinerary. The first one has the title."""
        page = ArtifactUpdate(
            content=_blocks(text), artifact_id="itinerary", name=title, append=title is None, last_chunk=last
        )
        self._post(task, page)

    def answer(self, scope: Scope, *, task: Task, answer: str | None = None) -> None:
        """Post a result: this answer. Without one, the step that sent the task names it."""
        reply = agency.reply(answer, scope, self._chance) if answer else self._replies[task.pk]
        status, lease = ResultStatus(reply.pop("status")), self._leases[task.pk]
        result = ResultEnvelope(task_id=task.uuid, lease_id=lease, status=status, **reply)
        results.post_result(self._caller(task.recipient.local), result)

    def collect(self, *, task: Task, times: int = 1) -> None:
        """Let the sender of the task receive so many results, one by one, and acknowledge them."""
        sender = task.sender.local
        for _ in range(times):
            for result in results.drain_results(self._caller(sender)):
                results.ack_results(self._caller(sender), [result.task.uuid])

    def cancel(self, *, task: Task, reason: str) -> None:
        sending.cancel(self._caller(task.sender.local), task.uuid, reason=reason)

    def pause(self, *, who: str, agent: str, reason: str) -> None:
        registration.pause_agent(self._caller(who), Agent.objects.get(local=agent), reason=reason)

    def resume(self, *, who: str, agent: str, reason: str) -> None:
        registration.resume_agent(self._caller(who), Agent.objects.get(local=agent), reason=reason)

    def requeue(self, *, who: str, task: Task, risk: str, reason: str) -> None:
        lease, accepted = self._leases[task.pk], repair.DuplicateRisk(risk)
        repair.requeue(self._caller(who), task.uuid, reason=reason, duplicate_risk=accepted, lease_id=lease)

    def fail(self, *, who: str, task: Task, reason: str, message: str) -> None:
        lease = self._leases[task.pk]
        repair.force_error(self._caller(who), task.uuid, reason=reason, message=message, lease_id=lease)

    def retry(self, *, who: str, reason: str) -> None:
        """Run the automatic retry once."""
        auto_retry.run_once(self._caller(who), reason=reason, worded=errors.text_for_program)

    def plan(self, scope: Scope, *, who: str, key: str, query: str) -> None:
        """Plan the requeue of the leased tasks whose keys end with ``key``."""
        held, verb = Lease.objects.live().filter(task__idempotency_key__endswith=key), RepairPlan.Verb.REQUEUE
        scope["plan"] = plans.make(self._caller(who), verb, held, token=uuid4(), max_attempts=3, query=query)

    def apply(self, scope: Scope, *, who: str, reason: str) -> None:
        """Carry out the plan of the story."""
        plan_execution.work(plans.apply(self._caller(who), scope["plan"].pk, reason=reason), seconds=30)

    def sweep(self) -> None:
        jobs.sweep_pass()

    def deliver(self) -> None:
        """Attempt each callback that is due."""
        for delivery in outbox.claim(outbox.due(limit=20).callbacks):
            outbox.report(delivery, self._outcome(delivery.url))

    def keep_delivering(self) -> Story:
        while True:
            self.deliver()
            yield SHORT if PushDelivery.objects.pending().exists() else LONG

    def _outcome(self, url: str) -> DeliveryOutcome:
        if url == self._receivers["gone"]:
            return DeliveryOutcome(status=410, problem="the receiver answered 410 Gone")
        if self._chance.random() < self._receivers["fails"] and timezone.now() < self._receivers["until"]:
            return DeliveryOutcome(status=502, problem="the receiver answered 502 Bad Gateway")
        return DeliveryOutcome(status=200)

    def _post(self, task: Task, update: Update | ArtifactUpdate) -> None:
        lease = self._leases[task.pk]
        updates.post_updates(self._caller(task.recipient.local), task.uuid, (update,), lease_id=lease)


def spread(seconds: float, chance: Random) -> float:
    """Return about so many seconds: mostly fewer, and now and then far more."""
    return min(seconds * chance.lognormvariate(-0.15, 0.55), seconds * 5)


def _envelope(
    kind: str, values: Values, *, text: str | None = None, key: str | None = None, lasts: int | None = None, **rest: Any
) -> TaskEnvelope:
    """Return a task. Work with a key is idempotent. A task that ``lasts`` so many seconds has a deadline."""
    work, parent, callback = AGENCY["kinds"][kind], rest.pop("parent", None), rest.pop("callback", None)
    return TaskEnvelope(
        recipient=AgentRef(f"{work['to']}@local"),
        intent_text=text or filled(work["text"], values),
        task_kind=kind,
        parent=parent and parent.uuid,
        idempotency=Idempotency(duplicate_safety=DuplicateSafety.IDEMPOTENT, key=key) if key else None,
        deadline_ms=round((timezone.now().timestamp() + lasts) * 1000) if lasts else None,
        callback_url=callback or None,
        **rest,
    )


def _blocks(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]
