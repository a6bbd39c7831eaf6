"""A person's own password, and the bound on checks of passwords.

A check costs a quarter of a second of CPU, and needs no account. The password of the first run is marked by its salt,
until it is changed.
"""

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core import signing
from django.utils.crypto import get_random_string

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.limits.rates import Buckets, Rate, network_of
from mailbox.journal import access_entries
from mailbox.words.errors import RateLimitedError

MOST_AT_ONCE = 4  # in one process
OF_AN_ADDRESS = Rate(0.5, 30)  # failed checks in one process: thirty a minute
OF_A_NAME = Rate(50 / 3600, 50)  # failed checks in one process: fifty an hour
DELAY = 20  # seconds that a browser waits for a check of a name with too many failures
TICKET_LASTS = 120  # seconds, after the delay
_SALT = "a2a hub: delay of a sign-in"

_slots = threading.BoundedSemaphore(MOST_AT_ONCE)
_addresses, _names = Buckets("sign-in by address"), Buckets("sign-in by name")
_FIRST = "firstrun"
_SALT_LENGTH = 22  # of Django's hashers


class NotYetError(Exception):
    """The password was not checked. It can be sent again after ``retry_after`` seconds, with ``ticket``.

    ``is_busy``: the hub has no capacity; otherwise too many checks failed. ``ticket`` is "" unless there is a delay.
    """

    def __init__(self, message: str, *, retry_after: int, is_busy: bool = False, ticket: str = "") -> None:
        self.message = message
        self.retry_after = retry_after
        self.is_busy = is_busy
        self.ticket = ticket
        super().__init__(message)


@contextmanager
def admitted(name: str, address: str, ticket: str = "") -> Iterator[None]:
    """Check a password of ``name`` in the block, sent from ``address``; raise `NotYetError` instead of beginning it.

    Every name is treated alike, whether it has an account or not. At most `MOST_AT_ONCE` blocks run in a process.
    After too many failures of an address no check begins until some time has passed. After too many failures of a name,
    from any addresses, a check begins only with the ``ticket`` of a delay that is over. The delay is this browser's
    own: guesses from elsewhere do not make it longer, so the right password gets in.
    """
    if _addresses.is_empty(network_of(address), OF_AN_ADDRESS):
        retry_after = round(1 / OF_AN_ADDRESS.per_second)
        raise NotYetError("Too many wrong passwords came from this address. Try again soon.", retry_after=retry_after)
    if _names.is_empty(_folded(name), OF_A_NAME) and not _has_waited(ticket, name, address):
        message = f"Too many wrong passwords were tried for this name. Wait {DELAY} seconds, then send it again."
        raise NotYetError(message, retry_after=DELAY, ticket=_ticket(name, address))
    if not _slots.acquire(blocking=False):
        raise NotYetError("The hub is busy with other sign-ins. Try again in a moment.", retry_after=1, is_busy=True)
    try:
        yield
    finally:
        _slots.release()


def failed(name: str, address: str) -> None:
    """Count a failed check of a password of ``name``, sent from ``address``."""
    with suppress(RateLimitedError):
        _addresses.take(network_of(address), OF_AN_ADDRESS)
    with suppress(RateLimitedError):
        _names.take(_folded(name), OF_A_NAME)


def forget() -> None:
    """Forget all failures, as a new process has none."""
    _addresses.clear()
    _names.clear()


def _folded(name: str) -> str:
    return name.casefold()


def _ticket(name: str, address: str) -> str:
    return signing.dumps({"of": _digest(name, address), "from": int(time.time()) + DELAY}, salt=_SALT)


def _has_waited(ticket: str, name: str, address: str) -> bool:
    try:
        claims = signing.loads(ticket, salt=_SALT, max_age=DELAY + TICKET_LASTS)
    except signing.BadSignature:
        return False
    return bool(claims["of"] == _digest(name, address) and claims["from"] <= time.time())


def _digest(name: str, address: str) -> str:
    return hashlib.sha256(f"{_folded(name)}\n{address}".encode()).hexdigest()


def change(caller: Caller, person: User, password: str) -> User:
    """Set the person's password, and return the person as stored. The edge has checked the old password and the new.

    All sessions of the person end, because each is bound to the stored hash; the edge may renew its own. Locks the
    person's row; journals ``person_changed``.
    """
    with audit.decision(caller) as journal:
        stored = _set(person, password)
        journal.beside(access_entries.PersonChangedEntry(stored.username, password=access_entries.CHANGED))
    return stored


def end_other_sessions(caller: Caller, person: User, password: str) -> User:
    """Hash the person's ``password``, which stays the same, with a new salt; return the person as stored.

    All sessions of the person end, because each is bound to the stored hash; the edge may renew its own. Locks the
    person's row; journals ``person_signed_out``.
    """
    with audit.decision(caller) as journal:
        stored = _set(person, password)
        journal.beside(access_entries.PersonSignedOutEntry(stored.username, "everywhere"))
    return stored


def first_hash(password: str) -> str:
    """Return the hash of the password that the first run makes."""
    return make_password(password, salt=_FIRST + get_random_string(_SALT_LENGTH))


def is_first(person: AbstractBaseUser) -> bool:
    """Whether the person still has the password that the first run made."""
    return f"${_FIRST}" in person.password


def _set(person: User, password: str) -> User:
    stored = User.objects.select_for_update().get(pk=person.pk)
    stored.set_password(password)
    stored.save(update_fields=["password"])
    return stored
