"""A hub with one row of each kind, and every kind of caller that may send it a request."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from agentcards.models import AgentCard
from agentcards.registry import CardRegistry
from mailbox.access.agents import grants
from mailbox.access.callers import Caller, Role
from mailbox.access.credentials import keys as keys_module
from mailbox.access.people import saved_views
from mailbox.background import jobs
from mailbox.database import timetable
from mailbox.life import leasing, operator_tasks, push_configs, results, updates
from mailbox.models import AuditEvent, CapabilityGrant, Failure, Lease, PublicRoute, PushDelivery, ReplayEntry, Task
from mailbox.repairs import auto_retry
from mailbox.upkeep import failure_filing
from mailbox.words import errors, tokens
from mailbox.words.conversation import ArtifactUpdate, Update
from mailbox.words.envelopes import ResultStatus
from mailbox.words.push import PushTarget
from tests.support import factories, media
from tests.support.client_certificates import certificate, pem
from tests.support.plans import planned
from tests.support.signing import Signer

CANARY = "the text between alice and bob"
CERTIFICATE = "X-Client-Cert"  # the header of the proxy that `behind_a_proxy` trusts
PASSWORD = "correct horse battery"
_BACKEND = "django.contrib.auth.backends.ModelBackend"


@dataclass
class Principal:
    """A caller of one column of the table, with its headers and its cookies."""

    name: str
    column: str
    headers: dict[str, str] = field(default_factory=dict)
    user: User | None = None
    prefix: str = ""  # of all paths: the address of a public route
    signer: Signer | None = None  # signs each request; None for callers that do not sign

    def client(self) -> Client:
        client = Client(headers=self.headers, raise_request_exception=False)
        if self.user is not None:
            client.force_login(self.user, backend=_BACKEND)
        return client


class World:
    """Tasks between alice and bob in each state, and what belongs to them."""

    def __init__(self) -> None:
        self.alice = factories.agent("alice", "a2a.send.*")
        self.bob = factories.agent("bob", "a2a.respond.*")
        self.olga = factories.person("olga", Role.OPERATOR)
        factories.profile(self.bob, default_project="books")
        grants.open_to_anyone(Caller.command_line(), factories.row_of(factories.agent("open")))
        self.delivered = self.resolved()
        results.drain_results(self.alice)
        self.pending = self.resolved()
        self.leased = self._leased()
        half = [{"type": "text", "text": "half of it"}]
        artifact = ArtifactUpdate(content=[*half, media.picture()])
        posted = updates.post_updates(self.bob, self.leased.task.uuid, [Update(message=half), artifact])
        self.artifact = posted.seq  # the number of its row
        self.queued = self._sent()
        self.by_hand = self._sent_by_hand()
        self.official = self._sent(dialect="a2a", context_id="talk", converses=True, reads_result=True)
        receiver = PushTarget(url="https://receiver.example/hook", config_id="receiver")
        push_configs.set_config(self.alice, self.official.uuid, receiver, recipient=factories.row_of(self.bob))
        self.failure = self._failed()
        self.entry = ReplayEntry.objects.all()[0]
        self.delivery = factories.PushDeliveryFactory.create(
            sender=factories.row_of(self.alice), task_uuid=self.delivered.uuid, state=PushDelivery.State.DISABLED
        )
        self.card: AgentCard = CardRegistry(self.bob).register("job-1", AgentCard(name="books", description=CANARY))
        self.plan = planned(self.olga, [self.leased])
        self.scan = auto_retry.run_once(self.olga, reason="a test", worded=errors.text_for_person)
        self.view = saved_views.save(
            self.olga, User.objects.get(username="olga"), page="tasks", name="team", query="q=", is_shared=True
        )
        jobs.register()
        for minutes, error in ((2, None), (4, "no space left")):
            for turn in timetable.take_due(timezone.now() + timedelta(minutes=minutes), ()):
                timetable.record(turn, started=timezone.now(), error=error)
        self.event = AuditEvent.objects.of_task(self.queued.uuid)[0]
        self.grant = CapabilityGrant.objects.filter(subject=self.bob.agent)[0]
        self.key_of_bob = factories.key_of(self.bob)  # his only one, because an agent has two at most
        self.token = factories.route(self.alice, rate_limit=1_000_000)
        self.route_id = tokens.public_id(self.token.removeprefix("/p/"), tokens.ROUTE) or ""
        self.ended_token = factories.route(self.alice)
        PublicRoute.objects.filter(
            public_id=tokens.public_id(self.ended_token.removeprefix("/p/"), tokens.ROUTE)
        ).update(revoked_at=timezone.now())

    def _sent(self, **fields: Any) -> Task:
        return factories.sent_task(self.alice, self.bob, intent_text=CANARY, **fields)

    def _leased(self) -> Lease:
        return leasing.lease_task(self.bob, self._sent().uuid)

    def resolved(self) -> Task:
        """Send a task, and post its result."""
        task = self._sent(idempotency=factories.idempotent())
        lease = leasing.lease_task(self.bob, task.uuid)
        text = [{"type": "text", "text": CANARY}]
        return results.post_result(
            self.bob, factories.result_envelope(task, lease_id=lease.lease_id, content=text)
        ).task

    def _failed(self) -> Failure:
        """Send a task, and post an error."""
        task = self._sent()
        lease = leasing.lease_task(self.bob, task.uuid)
        error = {"status": ResultStatus.ERROR, "error_message": "no", "content": []}
        results.post_result(self.bob, factories.result_envelope(task, lease_id=lease.lease_id, **error))
        failure_filing.file_failures()
        return Failure.objects.get(task=task)

    def _sent_by_hand(self) -> Task:
        task = operator_tasks.send_task(self.olga, factories.task_envelope(self.bob))
        lease = leasing.lease_task(self.bob, task.uuid)
        return results.post_result(self.bob, factories.result_envelope(task, lease_id=lease.lease_id)).task


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _person(name: str, role: Role | None, **fields: Any) -> User:
    factories.person(name, role)
    user = User.objects.get(username=name)
    for field_name, value in fields.items():
        setattr(user, field_name, value)
    user.set_password(PASSWORD)
    user.save()
    return user


def callers_of_the_api(world: World) -> Iterator[Principal]:
    """Yield the callers of the API. Sessions do not count there, so their column is ``none``."""
    yield from _without_a_valid_key(world)
    agents = {
        "stranger": (),
        "wildcard": ("a2a.send.*", "a2a.respond.*"),
        "registrar": ("a2a.agents.register",),
        "repairer": ("a2a.repair.requeue", "a2a.repair.force_error", "a2a.compact"),
    }
    callers = {name: factories.agent(name, *actions) for name, actions in agents.items()}
    callers |= {"sender": world.alice, "recipient": world.bob}
    bound, unknown = certificate(), certificate()
    keys_module.bind_certificate(Caller.command_line(), factories.row_of(world.alice), pem(bound))
    callers["hub"] = factories.caller_of(factories.AgentFactory.create(display="janitor@hub"))
    callers |= {role.value: factories.person(f"key-{role}", role) for role in Role}
    key_of_alice = factories.key_of(world.alice)  # the only one beside her certificate, because an agent has two
    for name, caller in callers.items():
        own = {"sender": key_of_alice, "recipient": world.key_of_bob}
        yield Principal(name, name, _bearer(own.get(name) or factories.key_of(caller)))
    yield Principal("sender, by X-API-Key", "sender", {"X-API-Key": key_of_alice})
    yield Principal("sender, by signature", "signed", signer=Signer(world.alice))
    yield Principal("sender, by certificate", "signed", {CERTIFICATE: quote(pem(bound))})
    yield Principal("certificate of no agent", "none", {CERTIFICATE: quote(pem(unknown))})
    yield Principal("malformed certificate", "none", {CERTIFICATE: "nothing"})


def _without_a_valid_key(world: World) -> Iterator[Principal]:
    now = timezone.now()
    revoked = factories.key_of(world.bob, revoked_at=now - timedelta(hours=1))
    expired = factories.key_of(world.bob, expires_at=now - timedelta(seconds=1))
    groupless = factories.key_of(factories.person("groupless", None))
    retired: Caller = factories.person("retired", Role.ADMIN)
    of_inactive = factories.key_of(retired)
    User.objects.filter(username="retired").update(is_active=False)
    keys = {
        "malformed key": "a2a_" + "x" * 40,
        "unknown key": tokens.mint().key,
        "revoked key": revoked,
        "key of a person without a role": groupless,
        "key of an inactive admin": of_inactive,
        "token of a public route": world.token.removeprefix("/p/"),
    }
    yield Principal("anonymous", "none")
    yield Principal("empty key", "none", _bearer(""))
    yield Principal("expired key", "expired", _bearer(expired))
    for name, key in keys.items():
        yield Principal(name, "bad-key", _bearer(key))
    for role in Role:
        yield Principal(f"session of a {role}", "none", user=_person(f"session-{role}", role))


def _without_a_session(world: World) -> Iterator[Principal]:
    yield Principal("anonymous", "none")
    yield Principal("forged session", "none", {"Cookie": f"sessionid={'x' * 32}"})
    yield Principal("key of an agent", "none", _bearer(factories.key_of(world.alice)))
    yield Principal("key of an admin", "none", _bearer(factories.key_of(factories.person("key-admin", Role.ADMIN))))
    retired = _person("retired", Role.ADMIN, is_staff=True)
    User.objects.filter(pk=retired.pk).update(is_active=False)
    yield Principal("session of an inactive admin", "none", user=retired)


def callers_of_the_pages(world: World) -> Iterator[Principal]:
    """Yield the callers of the pages for people. Keys do not count there, so their column is ``none``."""
    yield from _without_a_session(world)
    yield Principal("person without a role", "groupless", user=_person("groupless", None))
    for role in Role:
        yield Principal(role, role, user=_person(role, role))


def callers_of_the_admin(world: World) -> Iterator[Principal]:
    """Yield the callers of Django's admin, which opens to staff with a role."""
    yield from _without_a_session(world)
    yield Principal("admin who is no staff", "no-staff", user=_person("ordinary", Role.ADMIN, is_staff=False))
    yield Principal("staff without a role", "groupless", user=_person("groupless", None, is_staff=True))
    for role in Role:
        yield Principal(f"{role} who is staff", role, user=_person(role, role, is_staff=True))
    yield Principal("superuser", "superuser", user=_person("root", None, is_staff=True, is_superuser=True))


def callers_of_the_public(world: World) -> Iterator[Principal]:
    """Yield one caller of each way to sign in, for what is open to all."""
    yield Principal("anonymous", "anyone")
    yield Principal("revoked key", "anyone", _bearer(factories.key_of(world.bob, revoked_at=timezone.now())))
    yield Principal("agent", "anyone", _bearer(factories.key_of(factories.agent("stranger"))))
    yield Principal("session of an admin", "anyone", user=_person("admin", Role.ADMIN))


def callers_by_token(world: World) -> Iterator[Principal]:
    """Yield the callers by ``/p/<token>``. A key beside the token does not count."""
    admin = factories.key_of(factories.person("key-admin", Role.ADMIN))
    yield Principal("live token", "live", prefix=world.token)
    yield Principal("live token with the key of an admin", "live", _bearer(admin), prefix=world.token)
    yield Principal("revoked token", "ended", prefix=world.ended_token)
    yield Principal("unknown token", "ended", _bearer(admin), prefix=f"/p/{tokens.mint(tokens.ROUTE).key}")
    yield Principal("malformed token", "ended", prefix="/p/nothing")
