"""The second factor of a person: an authenticator app, and ten recovery codes for the day on which it is lost.

API keys need no second factor.
"""

import base64
import hashlib
import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticToken

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.requests import Request
from mailbox.journal import access_entries
from mailbox.models import RecoveryCodes, SecondFactor
from mailbox.words import secret_box
from mailbox.words.errors import InvalidRequestError

KEY_BYTES = 20
CODES = 10
CODE_BYTES = 10  # 80 bits, so that a digest without a key tells nothing
PENDING_FOR = timedelta(minutes=15)
APP, RECOVERY = "authenticator app", "recovery codes"
_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The answer to a typed code. ``wait`` is the number of seconds in which no code is checked; 0 for none."""

    is_right: bool
    wait: int = 0


def of_person(person: User) -> SecondFactor | None:
    """Return the confirmed second factor of the person; None without one."""
    return SecondFactor.objects.filter(user=person, confirmed=True).first()


def pending_of(person: User) -> SecondFactor | None:
    """Return the second factor that waits for its first code; None without one, or if its key cannot be read.

    It waits for `PENDING_FOR`. After that, an open browser would show its key without a recent proof of the person.
    """
    since = timezone.now() - PENDING_FOR
    pending = SecondFactor.objects.filter(user=person, confirmed=False, created_at__gt=since).first()
    return pending if pending and pending.is_readable else None


def codes_left(person: User) -> int:
    """Return the number of recovery codes that the person has not used."""
    return int(StaticToken.objects.filter(device__user=person).count())


def start(caller: Caller, person: User) -> SecondFactor:
    """Make a second factor that waits for its first code, instead of an earlier one, and return it.

    Raises `InvalidRequestError` if the person has a confirmed one. Locks the person's row; journals nothing.
    """
    with audit.decision(caller):
        _lock(person)
        if of_person(person) is not None:
            raise InvalidRequestError({"second_factor": "there is one already; remove it first"})
        SecondFactor.objects.filter(user=person).delete()
        key = secret_box.seal_key(secrets.token_bytes(KEY_BYTES))
        return SecondFactor.objects.create(user=person, name=APP, key=key, confirmed=False)


def confirm(caller: Caller, person: User, typed: str, *, ending: Sequence[str]) -> Sequence[str] | Check:
    """Confirm the pending second factor with its first code, and return the recovery codes.

    A wrong code, and a code while none is checked, return a `Check`. The sessions with the keys ``ending``
    end: the person's other sessions began without a code. Locks the person's row; journals
    ``second_factor_added``.
    """
    with audit.decision(caller) as journal:
        _lock(person)
        pending = pending_of(person)
        if pending is None:
            return Check(is_right=False)
        if not (check := _check(pending, _squeezed(typed), journal.now)).is_right:
            return check
        SecondFactor.objects.filter(pk=pending.pk).update(confirmed=True)
        codes = _new_codes(person)
        Session.objects.filter(session_key__in=ending).delete()
        journal.beside(access_entries.SecondFactorAddedEntry(person.username))
        return codes


def check(caller: Caller, person: User, typed: str) -> Check:
    """Check a code of the app, or else a recovery code. Each works once.

    Failures slow down further checks: the wait doubles with each failure. The app and the recovery codes wait apart.
    Locks the person's row; journals ``recovery_code_used``.
    """
    with audit.decision(caller) as journal:
        _lock(person)
        code = _squeezed(typed)
        if code.isdecimal() and len(code) == _DIGITS:
            device = of_person(person)
            return _check(device, code, journal.now) if device else Check(is_right=False)
        box = RecoveryCodes.objects.filter(user=person, confirmed=True).first()
        if box is None:
            return Check(is_right=False)
        outcome = _check(box, _digest(code), journal.now)
        if outcome.is_right:
            journal.beside(access_entries.RecoveryCodeUsedEntry(person.username, codes_left(person)))
        return outcome


def renew_codes(caller: Caller, person: User) -> Sequence[str]:
    """Replace the person's recovery codes, and return the new codes.

    Raises `InvalidRequestError` without a confirmed second factor. Locks the person's row; journals
    ``recovery_codes_renewed``.
    """
    with audit.decision(caller) as journal:
        _lock(person)
        if of_person(person) is None:
            raise InvalidRequestError({"second_factor": "there is none"})
        journal.beside(access_entries.RecoveryCodesRenewedEntry(person.username))
        return _new_codes(person)


def remove(caller: Caller, person: User) -> bool:
    """Remove the person's own second factor and recovery codes; return whether there was one.

    Locks the person's row; journals ``second_factor_removed``.
    """
    with audit.decision(caller) as journal:
        return _remove(person, journal)


def reset(caller: Caller, username: str) -> bool:
    """Remove the second factor of another person, who lost it; return whether there was one.

    Needs ``a2a.capabilities.grant``. Raises `InvalidRequestError` for an unknown name, and `CapabilityMissingError`.
    Locks the person's row; journals ``second_factor_removed``.
    """
    with audit.decision(caller) as journal:
        journal.admit(Request.to_manage_person(username))
        person = User.objects.filter(username=username).first()
        if person is None:
            raise InvalidRequestError({"username": "no such person"})
        return _remove(person, journal)


def typed_key(device: SecondFactor) -> str:
    """Return the key as a person types it into an app: in groups of four letters."""
    text = base64.b32encode(device.bin_key).decode()
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def _remove(person: User, journal: audit.Journal) -> bool:
    _lock(person)
    existed = of_person(person) is not None
    SecondFactor.objects.filter(user=person).delete()
    RecoveryCodes.objects.filter(user=person).delete()
    if existed:
        journal.beside(access_entries.SecondFactorRemovedEntry(person.username))
    return existed


def _lock(person: User) -> None:
    User.objects.select_for_update().get(pk=person.pk)


def _check(device: SecondFactor | RecoveryCodes, code: str, now: datetime) -> Check:
    """Check a code of the device, and count a failure. The caller holds the lock of the person's row."""
    is_allowed, refusal = device.verify_is_allowed()
    if not is_allowed:
        return Check(is_right=False, wait=max(1, math.ceil((refusal["locked_until"] - now).total_seconds())))
    if isinstance(device, SecondFactor) and not device.is_readable:
        return Check(is_right=False)
    return Check(is_right=bool(device.verify_token(code)))


def _new_codes(person: User) -> list[str]:
    RecoveryCodes.objects.filter(user=person).delete()
    box = RecoveryCodes.objects.create(user=person, name=RECOVERY)
    codes = [base64.b32encode(secrets.token_bytes(CODE_BYTES)).decode().lower() for _ in range(CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=box, token=_digest(code)) for code in codes)
    return ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in codes]


def _squeezed(typed: str) -> str:
    return "".join(character for character in typed.lower() if character.isalnum())


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()[:16]
