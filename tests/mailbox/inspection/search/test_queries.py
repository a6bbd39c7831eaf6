"""The query language: every word of it works or is refused, and a minus finds exactly the others."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from mailbox.inspection.search import keys, queries, terms
from mailbox.inspection.search.terms import Moment, SearchWord, Term, parse
from mailbox.life import results
from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, RepairPlan, ReplayEntry, Result, Task
from mailbox.words.errors import InvalidRequestError
from tests.support import factories
from tests.support.plans import planned

pytestmark = pytest.mark.django_db

ID = str(UUID(int=7))
LISTS = {
    "tasks": (keys.TASK_KEYS, Task.objects.all()),
    "leases": (keys.LEASE_KEYS, Lease.objects.live()),
    "attempts": (keys.LEASE_KEYS, Lease.objects.all()),
    "results": (keys.RESULT_KEYS, Result.objects.all()),
    "agents": (keys.AGENT_KEYS, Agent.objects.all()),
    "events": (keys.EVENT_KEYS, AuditEvent.objects.all()),
    "plans": (keys.PLAN_KEYS, RepairPlan.objects.all()),
    "replay_entries": (keys.REPLAY_KEYS, ReplayEntry.objects.all()),
    "deliveries": (keys.DELIVERY_KEYS, PushDelivery.objects.all()),
}
AGENTS = ["bob", "bob@local", "b*", "nobody@local"]
VALUES = {
    "state": {"agents": ["quiet", "paused"], "plans": ["preview", "done"], "deliveries": ["pending", "disabled"]},
    "awaits": ["input", "authorization"],
    "age": ["<1h", ">1h"],
    "since": ["<1h", ">1h"],
    "hit": ["<1h", ">1h"],
    "finished": ["2020-01-01T00:00.."],
    "posted": ["2020-01-01T00:00.."],
    "at": ["2020-01-01T00:00.."],
    "attempt": [">0", "2"],
    "attempts": [">0", "2"],
    "safety": ["idempotent", "unsafe"],
    "status": ["ok", "error"],
    "delivery": ["pending", "delivered"],
    "verb": ["requeue", "force_error"],
    **{key: [ID, "0000", "0000…0007", "0000...0007"] for key in ("id", "task", "parent")},
    **dict.fromkeys(("agent", "from", "to", "sender", "recipient", "name"), AGENTS),
    "actor": ["bob@local", "nobody@local", "user:*", "user:olga", "olga", "bob", "ol*"],
    "source": {"replay_entries": [ID]},
}


def values_of(name, key):
    found = VALUES.get(key, ["x", "a2a_*"])
    if isinstance(found, dict):
        usual = {"state": ["in_flight", "stale"], "source": ["agent", "api", "cli"]}[key]
        more = ["queued", "waiting", "interrupted", "error", "ok"] if (name, key) == ("tasks", "state") else []
        return found.get(name, usual + more)
    return found


ASKED = [(name, key, value) for name, (keys, _) in LISTS.items() for key in keys for value in values_of(name, key)]


@pytest.fixture
def crowd(alice, bob, olga):
    """Something of everything, much of it without what can be left out."""
    factories.interrupted_task(alice, bob)
    lease = factories.leased_task(alice, bob, callback_url="https://hooks.example.org/x")
    results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))
    lease = factories.leased_task(alice, bob, idempotency=factories.idempotent("x"))
    results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))
    planned(olga, [factories.leased_task(alice, bob)])
    factories.sent_task(alice, bob, parent=UUID(int=7), task_kind="x", context_id="x")
    Agent.objects.filter(pk=bob.agent.pk).update(paused_at=timezone.now())


def at():
    return Moment(now=timezone.now(), stale_after=timedelta(minutes=5))


@pytest.mark.parametrize(("name", "key", "value"), ASKED)
def test_a_minus_finds_exactly_the_other_rows(crowd, name, key, value):
    every = LISTS[name][1].all()

    def found(text):
        return set(getattr(queries, name)(text, at()).values_list("pk", flat=True))

    these, others = found(f"{key}:{value}"), found(f"-{key.upper()}:{value}")

    assert these | others == set(every.values_list("pk", flat=True)) != set()
    assert not these & others


@pytest.mark.parametrize(
    ("value", "fits"), [("b*", True), ("bob@*", True), ("B:*", False), ("al*", False), ("*", True)]
)
@pytest.mark.parametrize(
    ("name", "key"),
    [("tasks", "to"), ("leases", "to"), ("leases", "agent"), ("results", "to"), ("replay_entries", "recipient")],
)
def test_a_star_matches_the_end_of_an_agents_name(crowd, name, key, value, fits):
    found = getattr(queries, name)(f"{key}:{value}", at()).count()

    assert found == (LISTS[name][1].count() if fits else 0)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("TO:bob", Term(key="to", values=("bob",))),
        ('-To:bob,"a b",c', Term(key="to", values=("bob", "a b", "c"), is_negated=True)),
        ("to:bob,eve,bob", Term(key="to", values=("bob", "eve"))),
        ('key:"a,b"', Term(key="key", values=("a,b",))),
        ("key:a:b", Term(key="key", values=("a:b",))),
        ('-"a b"', SearchWord(text="a b", is_negated=True)),
        ("10:30", SearchWord(text="10:30")),
    ],
)
def test_a_query_is_read(text, parts):
    query = parse(text, keys.TASK_KEYS)

    assert (*query.terms, *query.words) == (parts,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("TOO:bob", "Unknown key “TOO”. Available keys: state, awaits, agent, "),
        ("to:", "to: needs a value"),
        ("-To:", "To: needs a value"),
        ("to: bob", "to: needs a value"),
        ('to:""', "to: needs a value"),
        ("to:bob,", "to: needs a value on each side of a comma"),
        ("to:bob,,eve", "to: needs a value on each side of a comma"),
        ('to:"bob', 'Close the quotes in “"bob”.'),
        ('to:"bob"eve', 'Put a comma or a space beside the quotes of “to:"bob"eve”.'),
        ('bo"b', 'Close the quotes in “bo"b”.'),
        ('a"b"', 'Put a comma or a space beside the quotes of “a"b"”.'),
        ('-""', "The quotes are empty."),
        ("to:" + "x" * 500, "The query is longer than 500 characters."),
    ],
)
def test_an_invalid_term_is_refused_and_named(text, said):
    with pytest.raises(InvalidRequestError) as refusal:
        parse(text, keys.TASK_KEYS)

    assert refusal.value.fields["q"].startswith(said)


@pytest.mark.parametrize("value", ["a", "a b", "a,b", "*", "-a", "a:b", "\u202e", "o'brien"])
def test_a_term_keeps_its_spelling(value):
    (term,) = parse(terms.term("key", value), keys.TASK_KEYS).terms

    assert term.values == (value,)


@pytest.mark.parametrize("is_registered", [True, False])
def test_events_of_an_agent_are_found_with_and_without_its_public_key(alice, bob, is_registered):
    name = alice.agent.display if is_registered else "gone@local"
    for key in (alice.agent.pubkey, None) if is_registered else (None,):
        AuditEvent.objects.create(kind="agent_paused", actor=name, actor_pubkey=key, data="{}", at=timezone.now())
    AuditEvent.objects.create(
        kind="agent_paused", actor="bob@local", actor_pubkey=bob.agent.pubkey, data="{}", at=timezone.now()
    )

    found = queries.events(f"actor:{name}", Moment(now=timezone.now(), stale_after=timedelta(minutes=5)))

    kinds = found.filter(kind="agent_paused").values_list("actor", "actor_pubkey")
    assert set(kinds) == ({(name, alice.agent.pubkey), (name, None)} if is_registered else {(name, None)})
