"""The rates of requests: token buckets in the memory of this process, and windows that hold across processes.

A bucket costs no query. Each web process grants its share of a rate, so that all of them together grant the rate.
A limit that must be exact is a window: each key has one row, and is counted under the lock of that row.
"""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.access.limits import own_limits
from mailbox.database import write_turns
from mailbox.models import Agent, ApiKey, RateWindow, SigningKey
from mailbox.words import json_text, tokens
from mailbox.words.envelopes import is_pubkey
from mailbox.words.errors import Allowance, RateLimitedError, UnauthenticatedError

MOST_BUCKETS = 10_000
READ_KEYS_EVERY = 10.0  # seconds
_IPV6_NETWORK = 64  # bits; one host often has a whole network of this size
_IPV6_SITE = 48  # bits; one customer of a provider often has 65,536 such networks
ONCE = "once "
KEPT_FOR = timedelta(days=7)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MOST_MOMENTS = 60  # in a row; above this limit, the requests of a sixtieth of the window are kept as one moment


@dataclass(frozen=True, slots=True)
class Rate:
    """``per_second`` requests a second for long, and ``burst`` requests at once."""

    per_second: float
    burst: int

    @classmethod
    def of_this_process(cls, per_second: int, burst: int) -> Rate | None:
        """Return the share of this web process in the hub's rate; None if ``per_second`` is 0, which means no limit."""
        if not per_second:
            return None
        return cls(per_second / settings.WEB_WORKERS, max(1, burst // settings.WEB_WORKERS))


class Buckets:
    """Token buckets by key, at most `MOST_BUCKETS`. The bucket that was used least recently makes room for a new one.

    A new bucket is full.
    """

    def __init__(self, policy: str) -> None:
        self._policy = policy
        self._lock = threading.Lock()
        self._levels: dict[Hashable, tuple[float, float]] = {}  # tokens, and the time of that level

    def take(self, key: Hashable, rate: Rate) -> Allowance:
        """Take one token; raise `RateLimitedError` if the bucket has none, and then take none."""
        now = time.monotonic()
        with self._lock:
            level = self._level(key, rate, now)
            left = level - 1 if level >= 1 else level
            self._levels.pop(key, None)
            self._levels[key] = left, now
            if len(self._levels) > MOST_BUCKETS:
                del self._levels[next(iter(self._levels))]
        allowance = Allowance(
            policy=self._policy,
            quota=rate.burst,
            window=math.ceil(rate.burst / rate.per_second),
            remaining=max(0, int(left)),
            reset=math.ceil((1 - left if left < 0 else 1 - left % 1) / rate.per_second),
        )
        if level < 1:
            raise RateLimitedError(
                f"More than {rate.burst} requests at once, or {rate.per_second:g} a second. Send fewer.",
                retry_after=allowance.reset,
                allowance=allowance,
            )
        return allowance

    def take_more(self, key: Hashable, rate: Rate, number: int) -> None:
        """Take ``number`` tokens, also tokens that are still to come. Until they have come, `take` raises."""
        now = time.monotonic()
        with self._lock:
            self._levels[key] = self._level(key, rate, now) - number, now

    def is_empty(self, key: Hashable, rate: Rate) -> bool:
        """Whether `take` would raise now."""
        with self._lock:
            return self._level(key, rate, time.monotonic()) < 1

    def clear(self) -> None:
        """Forget all buckets."""
        with self._lock:
            self._levels.clear()

    def __len__(self) -> int:
        return len(self._levels)

    def _level(self, key: Hashable, rate: Rate, now: float) -> float:
        """Return the tokens of the bucket. The caller holds the lock."""
        level, at = self._levels.get(key, (rate.burst, now))
        return min(float(rate.burst), level + (now - at) * rate.per_second)


OF_CALLERS = Buckets("caller")
OF_ADDRESSES = Buckets("address")
OF_OPEN_AGENTS = Buckets("anonymous")


def take(caller: Caller) -> Allowance | None:
    """Count one request of an agent, under all its keys, or of a person; return None without a limit.

    Raises `RateLimitedError`. The rate is the agent's own one, or ``A2A_AGENT_REQUESTS_PER_S``. The burst of an own
    rate is as many times ``A2A_AGENT_REQUESTS_BURST`` as the rate is times that setting.
    """
    rate = _rate_of(caller)
    return OF_CALLERS.take(_bucket_of(caller), rate) if rate else None


def take_for_items(caller: Caller, items: int) -> None:
    """Count the items of a batch beyond the first, which `take` counted with the request. Never raises.

    A batch may hold more items than its caller has requests left. The caller's next requests are then refused, until
    the rate has made up for them.
    """
    if items > 1 and (rate := _rate_of(caller)):
        OF_CALLERS.take_more(_bucket_of(caller), rate, items - 1)


def _rate_of(caller: Caller) -> Rate | None:
    usual, burst = settings.A2A_AGENT_REQUESTS_PER_S, settings.A2A_AGENT_REQUESTS_BURST
    per_second = own_limits.requests_per_s(caller.agent.pk) if caller.agent else usual
    return Rate.of_this_process(per_second, math.ceil(burst * per_second / usual) if usual else burst)


def _bucket_of(caller: Caller) -> Hashable:
    return caller.agent.pk if caller.agent else caller.name


def take_anonymous(address: str) -> Allowance | None:
    """Count one request without a caller, from ``address``; return None without a limit.

    Raises `RateLimitedError`. The rate is ``A2A_ADDRESS_REQUESTS_PER_S``.
    """
    rate = _rate_of_addresses()
    return OF_ADDRESSES.take(network_of(address), rate) if rate else None


def take_open(agent: Agent, address: str) -> Allowance:
    """Count one request from ``address`` without a key, to an agent that is open to anyone.

    Raises `RateLimitedError`. The rate is ``A2A_ANONYMOUS_RATE_LIMIT_PER_MIN`` for each agent and address.
    """
    per_minute: int = settings.A2A_ANONYMOUS_RATE_LIMIT_PER_MIN
    rate = Rate(per_minute / 60 / settings.WEB_WORKERS, max(1, per_minute // settings.WEB_WORKERS))
    return OF_OPEN_AGENTS.take((agent.pk, network_of(address)), rate)


@contextmanager
def of_strangers(address: str, key: str | None) -> Iterator[None]:
    """Authenticate in the block. If it raises `UnauthenticatedError`, one request without a caller is counted.

    Raises `RateLimitedError` before the block if ``address`` has no such request left, unless ``key`` names a live
    key. So a stranger cannot shut out an agent that shares its address. Live keys are read again after
    `READ_KEYS_EVERY`, so a newer key may be refused, too.
    """
    rate, network = _rate_of_addresses(), network_of(address)
    if rate and OF_ADDRESSES.is_empty(network, rate) and not _live_keys.has(key):
        OF_ADDRESSES.take(network, rate)
    try:
        yield
    except UnauthenticatedError:
        with suppress(RateLimitedError):
            take_anonymous(address)
        raise


def _rate_of_addresses() -> Rate | None:
    return Rate.of_this_process(settings.A2A_ADDRESS_REQUESTS_PER_S, settings.A2A_ADDRESS_REQUESTS_BURST)


def network_of(address: str, bits: int = _IPV6_NETWORK) -> str:
    """Return the address, or the network of so many bits of an IPv6 address."""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network((address.partition("%")[0], bits), strict=False))
    except ValueError:
        return address


def site_of(address: str) -> str:
    """Return the address, or the network that one customer has around an IPv6 address.

    The neighbours of an IPv4 address are often other customers, so it stands for itself.
    """
    return network_of(address, _IPV6_SITE)


class _LiveKeys:
    """The public ids of the live API keys and the live signing keys.

    This process read them at most `READ_KEYS_EVERY` seconds ago.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids: frozenset[str] = frozenset()
        self._read_at = -math.inf

    def has(self, key: str | None) -> bool:
        """Whether ``key`` is spelled as a whole key with the public id of a live one, or is a live signing key."""
        name = tokens.public_id(key) or (key if is_pubkey(key) else None) if key else None
        if name is None:
            return False
        with self._lock:
            if time.monotonic() - self._read_at >= READ_KEYS_EVERY:
                of_keys = ApiKey.objects.live(timezone.now()).values_list("public_id", flat=True)
                self._ids = frozenset(of_keys.union(SigningKey.objects.live().values_list("pubkey", flat=True)))
                self._read_at = time.monotonic()
            return name in self._ids

    def clear(self) -> None:
        self._read_at = -math.inf


_live_keys = _LiveKeys()


def forget() -> None:
    """Forget all buckets and keys, as a new process has none."""
    OF_CALLERS.clear()
    OF_ADDRESSES.clear()
    OF_OPEN_AGENTS.clear()
    _live_keys.clear()


@contextmanager
def once(key: str) -> Iterator[bool]:
    """Claim ``key`` for the work of the block; yield whether this is the first claim in a week.

    Exactly one of several simultaneous claims is the first. If the block raises, the claim is released, so that the
    work can be tried again.
    """
    now = timezone.now()
    RateWindow.objects.filter(key__startswith=ONCE, started_at__lt=now - KEPT_FOR).delete()
    claim, is_first = RateWindow.objects.get_or_create(key=f"{ONCE}{key}", defaults={"started_at": now})
    try:
        yield is_first
    except BaseException:
        if is_first:
            claim.delete()
        raise


def take_from_window(key: str, *, limit: int, window: timedelta) -> Allowance:
    """Count a request of ``key``; raise `RateLimitedError` if the last ``window`` has ``limit`` counted requests.

    The name of the limit is the part of ``key`` before its colon.

    No period of that length has more than ``limit`` requests. A refused request is not counted. If ``limit`` exceeds
    `MOST_MOMENTS`, a request may be counted for up to a sixtieth of the window longer. Locks the key's row.
    """
    with write_turns.turn(), transaction.atomic(durable=True):
        row, _ = RateWindow.objects.select_for_update().get_or_create(key=key, defaults={"started_at": timezone.now()})
        now, span = (timezone.now() - EPOCH) // MICROSECOND, window // MICROSECOND  # counted in the order of the lock
        grain = 1 if limit <= MOST_MOMENTS else span // MOST_MOMENTS
        # Moments far ahead were counted before the clock was set back.
        counted = {at: many for at, many in json_text.loads(row.counted) if now - span < at <= now + span}
        if (excess := sum(counted.values()) - limit + 1) > 0:
            left = timedelta(microseconds=_when_gone(counted, excess) + span - now)
            allowance = _allowance(key, limit, window, excess, left)
            raise RateLimitedError(
                f"More than {limit} requests in {window.total_seconds():.0f} s.",
                retry_after=allowance.reset,
                allowance=allowance,
            )
        moment = -(-now // grain) * grain  # rounded up: a moment that is too early would be forgotten too soon
        counted[moment] = counted.get(moment, 0) + 1
        row.counted = json_text.dumps(sorted(counted.items()))
        row.save(update_fields=["counted"])
        return _allowance(key, limit, window, excess, timedelta(microseconds=min(counted) + span - now))


def _allowance(key: str, limit: int, window: timedelta, excess: int, until_more: timedelta) -> Allowance:
    """Return the state of a limit. ``excess`` counts the requests beyond the limit after the one under way."""
    return Allowance(
        policy=key.partition(":")[0],
        quota=limit,
        window=math.ceil(window.total_seconds()),
        remaining=max(0, -excess),
        reset=math.ceil(until_more.total_seconds()),
    )


def _when_gone(counted: Mapping[int, int], excess: int) -> int:
    """Return the moment of the last of the oldest ``excess`` counts."""
    moments = sorted(counted)
    together = accumulate(counted[moment] for moment in moments)
    return next(moment for moment, many in zip(moments, together, strict=True) if many >= excess)
