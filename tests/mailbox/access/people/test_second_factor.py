import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from mailbox.access.callers import Caller, Role
from mailbox.access.people import second_factor
from mailbox.access.people.second_factor import Check
from mailbox.models import AuditEvent, SecondFactor
from mailbox.words import secret_box
from mailbox.words.errors import CapabilityMissingError, InvalidRequestError
from mailbox.words.kinds import Kind
from mailbox.words.secret_box import UnreadableSecretError
from tests.support import factories
from tests.support.codes import STEP, code_of

pytestmark = pytest.mark.django_db

ANA = Caller(name="user:ana", source=AuditEvent.Source.DASHBOARD, role=Role.OPERATOR)
RIGHT, WRONG = Check(is_right=True), Check(is_right=False)


@pytest.fixture
def ana():
    factories.person("ana", Role.OPERATOR)
    return User.objects.get(username="ana")


@pytest.fixture
def clock():
    with time_machine.travel("2026-01-01T12:00:05Z", tick=False) as clock:
        yield clock


@pytest.fixture
def codes(ana, clock):
    """The recovery codes of ana, who has confirmed a second factor a minute ago."""
    made = enrol(ana)
    clock.shift(timedelta(minutes=1))
    return made


def enrol(person):
    pending = second_factor.start(ANA, person)
    codes = second_factor.confirm(ANA, person, code_of(pending), ending=[])
    assert not isinstance(codes, Check)
    return codes


def device_of(person):
    device = second_factor.of_person(person)
    assert device is not None
    return device


def test_a_second_factor_counts_after_its_first_code(ana, clock):
    pending = second_factor.start(ANA, ana)
    before = second_factor.of_person(ana)
    refused = second_factor.confirm(ANA, ana, "000000", ending=[])
    clock.shift(timedelta(seconds=2))
    codes = second_factor.confirm(ANA, ana, f" {code_of(pending)[:3]} {code_of(pending)[3:]}", ending=[])

    assert (before, refused) == (None, WRONG)
    assert not isinstance(codes, Check)
    assert len({*codes}) == second_factor.codes_left(ana) == 10
    assert device_of(ana).pk == pending.pk
    (row,) = factories.journal(Kind.SECOND_FACTOR_ADDED)
    assert row.fields == {"username": "ana"}


def test_the_stored_key_is_sealed_and_the_stored_codes_are_digests(ana, codes, settings):
    device = device_of(ana)
    stored = TOTPDevice.objects.get(pk=device.pk)
    kept = {*StaticToken.objects.values_list("token", flat=True)}

    assert len(device.bin_key) == 20
    assert device.bin_key not in stored.bin_key
    assert stored.key not in second_factor.typed_key(device)
    assert not kept & {code.replace("-", "")[:16] for code in codes}
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another"
    assert secret_box.unseal_key(stored.key) == device.bin_key
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(UnreadableSecretError):
        secret_box.unseal_key(stored.key)


def test_a_code_works_once_and_for_a_short_time(ana, codes, clock):
    device = device_of(ana)
    code, old = code_of(device), code_of(device, steps=-3)

    assert second_factor.check(ANA, ana, old) == WRONG
    clock.shift(timedelta(seconds=2))
    assert second_factor.check(ANA, ana, code) == RIGHT
    assert second_factor.check(ANA, ana, code) == WRONG


def test_failures_double_the_wait_before_the_next_check(ana, codes, clock):
    for wait in (1, 2, 4, 8):
        assert second_factor.check(ANA, ana, "000000") == WRONG
        right = code_of(device_of(ana))
        assert second_factor.check(ANA, ana, right) == Check(is_right=False, wait=wait)
        clock.shift(timedelta(seconds=wait))

    assert second_factor.check(ANA, ana, code_of(device_of(ana))) == RIGHT


def test_a_recovery_code_works_once_whatever_its_spelling(ana, codes):
    typed = codes[3].upper().replace("-", " ")

    assert second_factor.check(ANA, ana, typed) == RIGHT
    assert second_factor.check(ANA, ana, typed) == WRONG
    assert second_factor.codes_left(ana) == 9
    (row,) = factories.journal(Kind.RECOVERY_CODE_USED)
    assert row.fields == {"username": "ana", "left": 9}


def test_recovery_codes_count_after_the_secret_key_was_lost(ana, codes, settings):
    code = code_of(device_of(ana))
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another", []

    assert second_factor.check(ANA, ana, code) == WRONG
    assert second_factor.check(ANA, ana, codes[0]) == RIGHT


def test_codes_of_another_person_do_not_count(ana, codes):
    factories.person("ben", Role.OPERATOR)
    ben = User.objects.get(username="ben")
    enrol(ben)

    assert second_factor.check(ANA, ben, codes[0]) == WRONG
    assert second_factor.check(ANA, ben, code_of(device_of(ana))) == WRONG


def test_a_person_without_a_second_factor_has_no_codes(ana):
    assert second_factor.check(ANA, ana, "000000") == WRONG
    assert second_factor.check(ANA, ana, "abcd-efgh") == WRONG
    assert second_factor.confirm(ANA, ana, "000000", ending=[]) == WRONG


def test_new_recovery_codes_replace_the_old_ones(ana, codes, clock):
    renewed = second_factor.renew_codes(ANA, ana)

    assert not {*renewed} & {*codes}
    assert second_factor.check(ANA, ana, codes[0]) == WRONG
    clock.shift(timedelta(seconds=2))
    assert second_factor.check(ANA, ana, renewed[0]) == RIGHT
    assert factories.journal(Kind.RECOVERY_CODES_RENEWED)


def test_a_second_start_is_refused_and_changes_nothing(ana, codes):
    with pytest.raises(InvalidRequestError, match="remove it first"):
        second_factor.start(ANA, ana)

    assert second_factor.of_person(ana) is not None
    assert second_factor.pending_of(ana) is None


def test_a_removed_second_factor_leaves_nothing(ana, codes):
    assert second_factor.remove(ANA, ana) is True
    assert second_factor.remove(ANA, ana) is False

    assert not SecondFactor.objects.exists()
    assert not StaticToken.objects.exists()
    assert len(factories.journal(Kind.SECOND_FACTOR_REMOVED)) == 1
    with pytest.raises(InvalidRequestError):
        second_factor.renew_codes(ANA, ana)


def test_only_admins_and_the_command_line_reset_a_second_factor(ana, codes):
    admin = Caller(name="user:ada", source=AuditEvent.Source.DASHBOARD, role=Role.ADMIN)

    with pytest.raises(CapabilityMissingError):
        second_factor.reset(ANA, "ana")
    with pytest.raises(InvalidRequestError, match="no such person"):
        second_factor.reset(admin, "nobody")
    assert second_factor.reset(admin, "ana") is True
    assert second_factor.reset(Caller.command_line(), "ana") is False

    (row,) = factories.journal(Kind.SECOND_FACTOR_REMOVED)
    assert (row.actor, row.fields) == ("user:ada", {"username": "ana"})


@pytest.mark.django_db(transaction=True)
def test_one_code_sent_sixteen_times_at_once_counts_once(ana):
    enrol(ana)
    code = code_of(device_of(ana), steps=1)
    together = threading.Barrier(16)

    def send(_):
        together.wait()
        try:
            return second_factor.check(ANA, ana, code)
        finally:
            connection.close()

    with ThreadPoolExecutor(16) as threads:
        answers = [*threads.map(send, range(16))]

    assert sum(answer.is_right for answer in answers) == 1
    assert device_of(ana).step == STEP
