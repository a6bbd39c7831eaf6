"""Simultaneous replays of one signed request: exactly one takes effect."""

import pytest

from mailbox.models import SpentNonce, Task
from tests.support import factories
from tests.support.api import task_to
from tests.support.races import ROUNDS, answers
from tests.support.signing import Signer

SEND = "/a2a/tasks"


@pytest.fixture
def signer(alice):
    return Signer(alice)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("round_", ROUNDS)
def test_of_simultaneous_replays_exactly_one_takes_effect(signer, bob, round_):
    body = {name: value for name, value in task_to(bob).items() if name != "id"}  # each send would make a task
    request = signer.request("POST", SEND, body)

    statuses = [answer.status_code for answer in answers(*[request.send] * 16)]

    assert sorted(statuses) == [200, *[401] * 15]
    assert Task.objects.count() == SpentNonce.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_simultaneous_replays_of_a_receive_one_leases(signer, alice, bob):
    factories.grant(bob, "a2a.send.*")
    for _ in range(8):
        factories.sent_task(bob, alice)
    request = signer.request("GET", "/a2a/tasks/next?wait_ms=500")

    statuses = [answer.status_code for answer in answers(*[request.send] * 8)]

    assert sorted(statuses) == [200, *[401] * 7]
    assert Task.objects.filter(state=Task.State.IN_FLIGHT).count() == 1
