"""Waits of many rings in one seat, and the rounds of the carrier's programs."""

import math
import threading
from dataclasses import replace
from uuid import uuid4

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from mailbox.access.limits import own_limits, waits
from mailbox.database import waiting
from mailbox.database.bell import ringing, topics, waiters
from mailbox.models import ApiKey
from mailbox.words import tokens
from mailbox.words.errors import QuotaExceededError, UnauthenticatedError
from tests.support import factories
from tests.support.pauses import Patience

pytestmark = pytest.mark.django_db
TOPIC = topics.task(uuid4())


@pytest.fixture(autouse=True)
def _limits_are_read_anew():
    own_limits.forget()
    yield
    own_limits.forget()


def test_rings_since_the_beginning_call_for_a_look_and_silence_does_not(alice):
    with waits.vigil(alice, [TOPIC]) as vigil:
        assert vigil is not None
        ringing.ring([TOPIC])
        assert vigil.wait(math.inf)
        assert vigil.look(lambda: "seen") == "seen"
        assert not vigil.wait(0)


def test_topics_can_be_named_later(alice):
    with waits.vigil(alice, []) as vigil:
        assert vigil is not None
        vigil.wait_for([TOPIC])
        vigil.look(lambda: None)
        ringing.ring([TOPIC])
        assert vigil.wait(math.inf)


def test_a_vigil_holds_a_seat_of_its_agent_and_of_the_process(alice, settings):
    settings.A2A_QUOTA_WAITS = 1
    with waits.vigil(alice, [TOPIC]):
        assert (waits.live(alice.agent.pk), waiting.seats.taken) == (1, 1)
        with pytest.raises(QuotaExceededError), waits.vigil(alice, [TOPIC]):
            pass
    assert (waits.live(alice.agent.pk), waiting.seats.taken) == (0, 0)


def test_without_a_free_seat_of_the_process_there_is_no_vigil(alice, settings):
    settings.WEB_THREADS = 1
    with waits.vigil(alice, [TOPIC]) as vigil:
        assert vigil is None


def test_a_look_after_the_end_of_the_key_is_refused(bob):
    factories.grant(bob, "a2a.send.*")
    keyed = replace(bob, credential=tokens.public_id(factories.key_of(bob)))
    with waits.vigil(keyed, [TOPIC]) as vigil:
        assert vigil is not None
        ApiKey.objects.filter(public_id=keyed.credential).update(revoked_at=timezone.now())
        waits.end_without_key()
        assert vigil.wait(math.inf)
        with pytest.raises(UnauthenticatedError):
            vigil.look(lambda: "unseen")


@pytest.mark.django_db(transaction=True)
def test_rounds_keep_their_connection_to_the_database():
    stop, used = threading.Event(), []

    def look():
        connection.ensure_connection()
        used.append(connection.connection)
        if len(used) == 3:
            stop.set()

    waiting.run_rounds(stop, topics=list, look=look, pause=lambda: 0.0, share_ring=lambda _: None)

    assert used == used[:1] * 3


@pytest.mark.django_db(transaction=True)
def test_rounds_without_a_database_pause_although_they_are_rung_and_log_one_line(caplog):
    stop = Patience(ends_after=4)

    def fail():
        waiters.wake_all()
        raise OperationalError("the server is gone")

    waiting.run_rounds(stop, topics=fail, look=list, pause=lambda: 0.0, share_ring=lambda _: None)

    assert stop.pauses == [waiting.WITHOUT_DATABASE] * 4
    assert caplog.messages == ["the database failed: the server is gone"]
