"""The authentication of a request: the caller of its API key, or the agent that signed it."""

import hmac
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from mailbox.access import audit, nonces
from mailbox.access.callers import Caller, Role
from mailbox.access.credentials import last_used
from mailbox.database import managers
from mailbox.journal import access_entries
from mailbox.models import Agent, ApiKey, AuditEvent, CapabilityGrant, SigningKey
from mailbox.words import certificates, tokens
from mailbox.words.errors import BadSignatureError, SignatureFault, UnauthenticatedError
from mailbox.words.signatures import RequestSignature

_NO_DIGEST = "0" * 64
_COLUMNS_OF_GRANT = ("id", "grant_id", "action", "scope", "max_uses", "granted_by")
# The key of an agent, or of a person that is active and has a role.
_IS_ADMITTED = Q(user=None) | Q(user__is_active=True) & (
    Q(user__is_superuser=True) | Q(user__groups__name__in=list(Role))
)
_failures = audit.FailureCounts[str]()  # by reason


def authenticate(key: str | None, *, source: AuditEvent.Source, request_id: str = "", address: str = "") -> Caller:
    """Return the caller that presents ``key`` from the network address ``address``.

    One query reads an agent's key, the agent and its live grants. A person's key needs further queries for the groups.

    Raises `UnauthenticatedError`, with a text for each case: no key (None), a malformed key, and an unknown, expired or
    revoked key. Raises it also for the key of a person without a role. A malformed key costs no query. Failures are
    journalled as ``authentication_failed``, at most one row a minute and reason, with their count
    and the newest address.
    """
    note_failures()
    audit.note_repeated_refusals()
    if key is None:
        raise _failed("missing", UnauthenticatedError.__doc__, address)
    public_id = tokens.public_id(key)
    if public_id is None:
        raise _failed("malformed", "This is not an API key of this hub: its form or checksum is wrong.", address)
    unknown = "The API key is unknown, expired or revoked."
    return _holder(public_id, tokens.digest(key), source, request_id, address, unknown)


def authenticate_certificate(
    fingerprint: str | None, *, source: AuditEvent.Source, request_id: str = "", address: str = ""
) -> Caller:
    """Return the agent to which the public key of a client certificate is bound, as `authenticate` does for API keys.

    A trusted proxy has verified that the client holds the private key. Raises `UnauthenticatedError` for the
    fingerprint None of text that is no certificate, and for an unknown, expired or revoked one.
    """
    note_failures()
    audit.note_repeated_refusals()
    if fingerprint is None:
        raise _failed("malformed", "The client certificate that the proxy passed on cannot be read.", address)
    unknown = "The client certificate is bound to no agent, or its binding has expired or was revoked."
    return _holder(certificates.public_id(fingerprint), fingerprint, source, request_id, address, unknown)


def _holder(
    public_id: str, digest: str, source: AuditEvent.Source, request_id: str, address: str, unknown: str
) -> Caller:
    """Return the caller to whom the live key with this digest belongs; raise `UnauthenticatedError` ``unknown``."""
    now = timezone.now()
    rows = ApiKey.objects.credential_rows(public_id, now=now, unused_since=now - last_used.NOTED_EVERY)
    known = rows[0][1] if rows else _NO_DIGEST
    if not hmac.compare_digest(known, digest):
        raise _failed("unknown", unknown, address)
    key_pk, _, user_pk, use_is_due, agent_pk, display, pubkey, *_ = rows[0]
    if use_is_due:
        last_used.note(ApiKey, key_pk, now)
    if agent_pk is None:
        return _person(user_pk, source, request_id, public_id, address)
    return Caller(
        name=display,
        source=source,
        agent=Agent.from_identity(agent_pk, display, pubkey),
        request_id=request_id,
        grants=tuple(grant_of(row[7:]) for row in rows if row[7] is not None),
        credential=public_id,
        address=address,
    )


def is_live(caller: Caller) -> bool:
    """Whether the key of a caller is still live: its API key, or the key that signed. True for a caller without one.

    The key of a person counts as live while `authenticate` would take it: the person is active and has a role.
    """
    return live_among([caller])(caller)


def live_among(callers: Sequence[Caller]) -> Callable[[Caller], bool]:
    """Return what `is_live` returns for each of the callers, from at most two statements for all of them."""
    signers = {caller.nonce.pubkey for caller in callers if caller.nonce is not None}
    presented = {caller.credential for caller in callers if caller.nonce is None and caller.credential}
    signing = SigningKey.objects.live().filter(pubkey__in=signers).values_list("pubkey", flat=True)
    keys = ApiKey.objects.live(timezone.now()).filter(_IS_ADMITTED, public_id__in=presented)
    ended = (
        signers - set(signing if signers else ()),
        presented - set(keys.values_list("public_id", flat=True) if presented else ()),
    )

    def is_live(caller: Caller) -> bool:
        return caller.credential not in ended[1] if caller.nonce is None else caller.nonce.pubkey not in ended[0]

    return is_live


def require_live(caller: Caller) -> None:
    """Raise `UnauthenticatedError` if the caller's key was revoked or has expired since it was presented."""
    if not is_live(caller):
        raise UnauthenticatedError("The key was revoked or has expired.")


def has_expired(key: str) -> bool:
    """Whether ``key`` is a whole key that was valid until it expired. False for a revoked key."""
    public_id = tokens.public_id(key)
    if public_id is None:
        return False
    expired = ApiKey.objects.expired(timezone.now()).filter(public_id=public_id).first()
    return expired is not None and hmac.compare_digest(expired.digest, tokens.digest(key))


def role_of(user: User) -> Role | None:
    """Return the strongest role of a person's groups; None without one. A superuser is an admin."""
    if user.is_superuser:
        return Role.ADMIN
    groups = {group.name for group in user.groups.all()}  # a list has read the groups of all its people
    return next((role for role in (Role.ADMIN, Role.OPERATOR, Role.VIEWER) if role in groups), None)


def person(username: str, *, source: AuditEvent.Source, request_id: str = "") -> Caller:
    """Return the person of this name as a caller. The role is None for an inactive or unknown person."""
    user = User.objects.filter(username=username, is_active=True).first()
    return Caller(name=f"user:{username}", source=source, role=role_of(user) if user else None, request_id=request_id)


def _person(user_pk: int, source: AuditEvent.Source, request_id: str, public_id: str, address: str) -> Caller:
    user = User.objects.get(pk=user_pk)
    role = role_of(user) if user.is_active else None
    if role is None:
        raise _failed(
            "no role", "The owner of this API key is in none of the groups viewer, operator and admin.", address
        )
    name = f"user:{user.username}"
    return Caller(name=name, source=source, role=role, request_id=request_id, credential=public_id, address=address)


def grant_of(row: tuple[Any, ...]) -> CapabilityGrant:
    """Return the grant in the columns that the look-ups of credentials read."""
    pk, grant_id, *others = row
    if isinstance(grant_id, str):  # SQLite keeps it as hex digits
        grant_id = UUID(grant_id)
    return managers.instance_of(CapabilityGrant, _COLUMNS_OF_GRANT, (pk, grant_id, *others))


def note_failures() -> None:
    """Write a row for the failures counted since the last row of their reason, at most one a minute.

    Each authentication calls this, so the last failures of a storm get their row at the next request. Failures counted
    since the last row are lost when the process ends.
    """
    for reason, count, address in _failures.due() if _failures else ():
        stranger = Caller(name="anonymous", source=AuditEvent.Source.API, address=address)
        audit.note(stranger, access_entries.AuthenticationFailedEntry(reason, count))


def count_failure(reason: str, address: str) -> None:
    """Count a failure for the next row of its reason, and write nothing."""
    _failures.add(reason, address)


def _failed(reason: str, message: str | None, address: str) -> UnauthenticatedError:
    """Return the error, and count it for the next row of its reason, which may be due now."""
    count_failure(reason, address)
    note_failures()
    return UnauthenticatedError(message)


def authenticate_signature(
    signature: RequestSignature, *, source: AuditEvent.Source, request_id: str = "", address: str = ""
) -> Caller:
    """Return the agent whose live key made ``signature``, which the caller of this function has verified.

    One query reads the key, the agent, its live grants and whether the nonce was spent. The caller carries the nonce:
    the first transaction that the request commits spends it. Raises `BadSignatureError` for an unknown, an unproven
    and a retired key, and for a spent nonce.
    """
    note_failures()
    now = timezone.now()
    rows = SigningKey.objects.credential_rows(
        signature.pubkey, signature.nonce, now=now, unused_since=now - last_used.NOTED_EVERY
    )
    if not rows:
        raise _no_key(signature.pubkey)
    key_pk, use_is_due, is_spent, agent_pk, display, pubkey, *_ = rows[0]
    if is_spent:
        raise nonces.replayed()
    if use_is_due:
        last_used.note(SigningKey, key_pk, now)
    return Caller(
        name=display,
        source=source,
        agent=Agent.from_identity(agent_pk, display, pubkey),
        request_id=request_id,
        grants=tuple(grant_of(row[6:]) for row in rows if row[6] is not None),
        address=address,
        nonce=nonces.Nonce(signature.pubkey, signature.nonce, signature.expires_at),
    )


def _no_key(pubkey: str) -> BadSignatureError:
    if SigningKey.objects.filter(pubkey=pubkey).exists():
        return BadSignatureError(SignatureFault.UNKNOWN_KEY, "The key was retired.")
    if Agent.objects.filter(pubkey=pubkey).exists():
        return BadSignatureError(
            SignatureFault.UNPROVEN_KEY, "The key is registered, but its holder has not proved that it has it."
        )
    return BadSignatureError(SignatureFault.UNKNOWN_KEY, "No agent has registered this key.")
