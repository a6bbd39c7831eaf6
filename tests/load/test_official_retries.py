"""The retry gate at a served hub: a worker is killed, and an open stream shows how a second one completes its task."""

import signal
from uuid import uuid4

import pytest

from mailbox.access.callers import Role
from mailbox.models import Lease
from mailbox.words.envelopes import A2A
from tests.load.cast import Pair, Party
from tests.load.official import Caller
from tests.support import factories
from tests.support.a2a import short, state
from tests.support.own_client import client_of
from tests.support.workers import Desk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people():
    """Return a sender, its worker and an operator. Their names are new, since the served hub remembers agents."""
    name = uuid4().hex[:12]
    sender = factories.agent(f"sender-{name}", "a2a.send.*")
    return sender, factories.agent(f"worker-{name}", "a2a.respond.*"), factories.person("olga", Role.OPERATOR)


@pytest.fixture
def caller(people, served_hub):
    sender, worker, _ = people
    parties = [Party(one.agent.display, factories.key_of(one)) for one in (sender, worker)]
    return Caller(served_hub, Pair(*parties))


def words_of(events):
    return [" ".join(short(result)) for _, result in events]


def test_the_gate_requeues_the_task_of_a_killed_worker_while_its_stream_is_open(people, caller, served_hub, tmp_path):
    sender, worker, olga = people
    opening = {"context_id": "c", "metadata": {"message": {"message_id": "m"}}, "reads_result": True}
    repeatable = factories.sent_task(sender, worker, dialect=A2A, idempotency=factories.idempotent(), **opening)
    task, name = {"id": str(repeatable.uuid)}, worker.agent.display
    desk = Desk(url=served_hub.url, key=caller.pair.worker.key, var=tmp_path)
    with (
        caller.stream("SubscribeToTask", task) as stream,
        client_of(served_hub.url, factories.key_of(olga)) as operator,
    ):
        seen = stream.take(1)
        with desk.process("sh", "-c", "echo begun; sleep 600", name=name) as first:
            seen += stream.take(2)
            first.process.send_signal(signal.SIGKILL)
            assert first.code() == -signal.SIGKILL
        now = state(caller.rpc("GetTask", task))
        dry, report = (operator.retry_stale(enabled=enabled, min_lease_age=0) for enabled in (False, True))
        with desk.process("echo", "done", name=name):
            seen += list(stream)

    assert (now, [len(dry.would_requeue), len(dry.requeued)]) == ("WORKING", [1, 0])
    assert [(one.task_id, one.attempt) for one in report.requeued] == [(repeatable.uuid, 1)]
    assert [lease.end for lease in Lease.objects.order_by("pk")] == ["auto_requeue", "result"]
    assert words_of(seen)[:5] == ["Task SUBMITTED", "WORKING", "WORKING begun", "SUBMITTED", "WORKING"]
    assert words_of(seen)[-1] == "COMPLETED"
    assert caller.rpc("GetTask", task)["metadata"]["a2a-hub"] == {"attempt": 2}
