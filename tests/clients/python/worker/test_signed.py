"""A worker signs its requests by the agent's private key, and needs no API key."""

from uuid import uuid4

import pytest

from a2a_hub_client import Hub
from a2a_hub_client.refusals import ForbiddenError
from a2a_hub_client.worker.client import WorkerClient
from a2a_hub_client.worker.job import TaskResult
from mailbox.models import ApiKey, SigningKey, SpentNonce, Task
from mailbox.words import ed25519
from tests.support import factories
from tests.support.signing import Signer
from tests.support.workers import result_of, text_of

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]


def test_a_worker_leases_and_answers_by_signed_requests(desk, alice, bob):
    signer, task = Signer(bob), factories.sent_task(alice, bob)
    ApiKey.objects.all().delete()

    with Hub(desk.url, signing_key=signer.key) as line:
        hub = WorkerClient(line)
        (leased,) = hub.receive(uuid4(), most=1, wait=1)
        assert leased is not None
        hub.heartbeat(leased)
        hub.update(leased, [{"message": "half"}], uuid4())
        hub.answer(leased, TaskResult(text="done"), lambda: None)

        assert Task.objects.get(pk=task.pk).state == Task.State.RESOLVED
        assert SpentNonce.objects.count() == 4
        SigningKey.objects.all().delete()
        with pytest.raises(ForbiddenError, match="unknown key"):
            hub.receive(uuid4(), most=1, wait=0)


def test_the_command_signs_with_the_key_in_a_file(desk, alice, bob, tmp_path):
    file = tmp_path / "key"
    file.write_text(ed25519.seed_of(Signer(bob).key))
    task = factories.sent_task(alice, bob)
    ApiKey.objects.all().delete()

    with desk.process("echo", "done", options=("--signing-key-file", str(file), "--once")) as worker:
        assert worker.code() == 0

    assert text_of(result_of(task)) == "done"
