from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

from django.apps import apps
from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Lower

from mailbox.database.counted import Counted
from mailbox.words.envelopes import AgentRef
from mailbox.words.errors import UnknownAgentError

QUIET_AFTER = timedelta(minutes=5)  # a poll waits a minute at most, and is noted a minute later at most
COUNTED_TO = 1_000  # of what waits for one agent; beyond, it is "1 000+"


class AgentQuerySet(models.QuerySet["Agent"]):
    def fitting(self, ref: AgentRef) -> list[Agent]:
        """Return the agents that ``ref`` may mean: none, one, or for a bare local part the first two."""
        if ref.pubkey is not None:
            return list(self.filter(pubkey=ref.pubkey))
        if ref.display is not None and "@" not in ref.display:
            return list(self.filter(local=ref.display)[:2])
        return list(self.filter(display=ref.display))

    def named(self, ref: AgentRef) -> Agent:
        """Return the agent that ``ref`` means; raise `UnknownAgentError`.

        A public key decides alone. A bare local part must fit exactly one agent.
        """
        found = self.fitting(ref)
        if len(found) != 1:
            raise UnknownAgentError(
                f'"{ref}" fits more than one agent; say which host'
                if found
                else f'no agent "{ref}" is registered here',
                agent=ref,
            )
        return found[0]

    def spelled_like(self, display: str) -> Agent | None:
        """Return the agent of this display whatever its case; None when there is none."""
        return self.annotate(folded=Lower("display")).filter(folded=display.lower()).first()

    def with_backlog(self) -> AgentQuerySet:
        """Add ``queued``, how many tasks wait for the agent, and ``leased``, how many it holds.

        Both are counted no further than one more than `COUNTED_TO`.
        """
        to_it = _rows("Task").filter(recipient=OuterRef("pk"), state="queued")
        # Two counts, each of which an index has: the tasks to lease, and those that wait for a twin.
        queued = [Counted.up_to(COUNTED_TO, to_it.filter(waits_on__isnull=waits)) for waits in (True, False)]
        leased = Counted.up_to(COUNTED_TO, _rows("Lease").filter(holder=OuterRef("pk"), ended_at=None))
        return self.annotate(queued=queued[0] + queued[1], leased=leased)

    def with_oldest(self) -> AgentQuerySet:
        """Add ``waits_since``, since when the oldest task that it could lease is queued; None when there is none."""
        return self.annotate(waits_since=_oldest_waiting())

    def oldest_waiting(self) -> models.QuerySet[Agent, dict[str, Any]]:
        """Return since when the oldest task of any of these agents is queued, as a query for one value.

        Agent by agent, so that it walks the index by which they lease.
        """
        found = self.annotate(since=_oldest_waiting())
        return found.order_by(F("since").asc(nulls_last=True)).values("since")[:1]

    def oldest_owed(self) -> models.QuerySet[Agent, dict[str, Any]]:
        """Return since when the oldest result waits for any of these agents, as a query for one value."""
        owed = _rows("Result").filter(sender=OuterRef("pk"), delivery="pending").order_by("posted_at")
        found = self.annotate(since=Subquery(owed.values("posted_at")[:1]))
        return found.order_by(F("since").asc(nulls_last=True)).values("since")[:1]

    def with_signs(self, quiet_before: datetime) -> AgentQuerySet:
        """Add ``key_used_at`` and ``route_used_at``, when it last called, None for never, and ``is_quiet``.

        Every authenticated call notes the use of its key at most once a minute, a poll like any other, so these are a
        minute late at most and cost the hot verbs nothing.
        """
        keys, routes = (_rows(model).filter(agent=OuterRef("pk")) for model in ("ApiKey", "PublicRoute"))
        latest = F("last_used_at").desc(nulls_last=True)
        return self.annotate(
            key_used_at=Subquery(keys.order_by(latest).values("last_used_at")[:1]),
            route_used_at=Subquery(routes.order_by(latest).values("last_used_at")[:1]),
            is_quiet=Case(When(_is_quiet(quiet_before), then=Value(True)), default=Value(False)),
        )

    def with_stale(self, before: datetime) -> AgentQuerySet:
        """Add ``holds_stale``, whether it holds a lease that began at ``before`` or earlier."""
        held = _rows("Lease").filter(holder=OuterRef("pk"), ended_at=None, leased_at__lte=before)
        return self.annotate(holds_stale=Exists(held))

    def quiet(self, before: datetime) -> AgentQuerySet:
        """Narrow to agents that have a key and work to do, and have not called since ``before``.

        A paused one is not expected to call; nor is one without a key, which the hub or code in its process works for.
        """
        return self.filter(_is_quiet(before))

    def paused(self) -> AgentQuerySet:
        return self.filter(paused_at__isnull=False)

    def paused_with_work(self) -> AgentQuerySet:
        """Narrow to paused agents for which tasks are queued."""
        to_it = _rows("Task").filter(recipient=OuterRef("pk"), state="queued")
        # Two questions, each of which an index answers: the tasks to lease, and those that wait for a twin.
        queued = Q(Exists(to_it.filter(waits_on=None))) | Q(Exists(to_it.filter(waits_on__isnull=False)))
        return self.paused().filter(queued)

    def first_of_each(self, most: int, *groups: AgentQuerySet) -> AgentQuerySet:
        """Narrow to the ``most`` busiest agents of each of these groups, all of them read by one query."""
        any_of = Q()
        for group in groups:
            any_of |= Q(pk__in=group.with_backlog().busiest_first().values("pk")[:most])
        return self.filter(any_of)

    def busiest_first(self) -> AgentQuerySet:
        """Order agents with their backlog."""
        return self.order_by("-queued", "-leased", "display")

    def with_total(self, most: int) -> AgentQuerySet:
        """Add ``total``, the same for each: how many of these agents there are, counted no further than to ``most``."""
        return self.annotate(total=Counted.up_to(most, self))


def _rows(model: str) -> models.QuerySet[Any]:
    rows: models.QuerySet[Any] = apps.get_model("mailbox", model)._default_manager.all()
    return rows


def _oldest_waiting() -> Subquery:
    waiting = _rows("Task").filter(recipient=OuterRef("pk"), state="queued", waits_on=None).order_by("queued_at")
    return Subquery(waiting.values("queued_at")[:1])


def _is_quiet(before: datetime) -> Q:
    keys, routes = (_rows(model).filter(agent=OuterRef("pk")) for model in ("ApiKey", "PublicRoute"))
    could_call = Q(Exists(keys.filter(revoked_at=None, created_at__lt=before)))
    called = Q(Exists(keys.filter(last_used_at__gte=before))) | Q(Exists(routes.filter(last_used_at__gte=before)))
    waiting = Q(Exists(_rows("Task").filter(recipient=OuterRef("pk"), state="queued", waits_on=None)))
    held = Q(Exists(_rows("Lease").filter(holder=OuterRef("pk"), ended_at=None)))
    return Q(paused_at=None) & could_call & ~called & (waiting | held)


class Agent(models.Model):
    """A party that sends or receives tasks. Source: Covenant A2A, AgentId.

    Identity is the public key; the display is its name, unique ignoring case, compared exactly.
    """

    # The task row is locked per task; an agent row is never locked by a verb of the task's life.
    display = models.CharField(max_length=200)  # local@host, set once at registration
    local = models.CharField(max_length=200, db_index=True)  # the part of display before the @
    pubkey = models.CharField(max_length=64, unique=True)  # base58 of the 32 bytes of an Ed25519 key
    created_at = models.DateTimeField()
    paused_at = models.DateTimeField(null=True, blank=True)  # None: leasing; set: its tasks wait
    paused_reason = models.TextField(blank=True)  # why an operator paused it; blank when not paused

    objects: ClassVar[AgentQuerySet] = AgentQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["display"], name="agent_display_unique"),
            models.UniqueConstraint(Lower("display"), name="agent_display_unique_ignoring_case"),
        ]

    def __str__(self) -> str:
        return self.display

    @classmethod
    def from_identity(cls, pk: int, display: str, pubkey: str) -> Self:
        """Return an instance that knows only who it is, as the credential look-up read it."""
        return cls.from_db(None, ["id", "display", "pubkey"], [pk, display, pubkey])

    def last_called_at(self) -> datetime | None:
        """When it last called, on a row from `AgentQuerySet.with_signs`."""
        signs: list[datetime | None] = [getattr(self, name) for name in ("key_used_at", "route_used_at")]
        return max((sign for sign in signs if sign is not None), default=None)

    @property
    def forms(self) -> tuple[str, str]:
        """The two spellings by which capabilities may name this agent."""
        return self.display, self.pubkey
