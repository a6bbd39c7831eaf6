import pytest

from mailbox.access import audit
from mailbox.access.people import sign_ins
from mailbox.access.people.sign_ins import Cause
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def clock(monkeypatch):
    """The monotonic clock of the module, in a list."""
    now = [1000.0]
    monkeypatch.setattr("mailbox.access.audit.time.monotonic", lambda: now[0])
    return now


def failures():
    return [row.fields["count"] for row in factories.journal(Kind.PERSON_SIGN_IN_FAILED)]


def test_a_guesser_writes_one_row_a_minute_with_the_count(clock):
    factories.person("ana", None)

    for _ in range(100):
        sign_ins.refused("ana", Cause.PASSWORD, "192.0.2.7")
    clock[0] += audit.MINUTE
    sign_ins.refused("ana", Cause.PASSWORD, "192.0.2.8")

    assert sorted(failures()) == [1, 100]
    assert {row.address for row in factories.journal(Kind.PERSON_SIGN_IN_FAILED)} == {"192.0.2.7", "192.0.2.8"}


def test_many_invented_names_share_one_row(clock):
    for number in range(50):
        sign_ins.refused(f"guess {number}", Cause.PASSWORD, "192.0.2.7")

    assert failures() == [1]
    assert len(sign_ins._failures) == 1


def test_the_last_failures_of_a_storm_are_written_at_the_next_sign_in(clock):
    factories.person("ana", None)
    for _ in range(3):
        sign_ins.refused("ana", Cause.LOCKED, "192.0.2.7")
    clock[0] += audit.MINUTE

    sign_ins.signed_in("ana", "192.0.2.9")

    locked = factories.journal(Kind.PERSON_LOCKED_OUT)
    assert sorted(row.fields["count"] for row in locked) == [1, 2]
