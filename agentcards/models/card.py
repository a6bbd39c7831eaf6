from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from mailbox.database.managers import managed_by
from mailbox.models import Agent


class AgentCardQuerySet(models.QuerySet["AgentCard"]):
    def in_order(self) -> AgentCardQuerySet:
        """Sort by registration. A job that replaces its own card keeps its place."""
        return self.order_by("pk")

    def of_agent(self, agent: Agent) -> AgentCardQuerySet:
        """Narrow to the cards of this agent's jobs."""
        return self.filter(registered_by=agent)

    def in_the_way_of(self, job_id: str, name: str) -> AgentCardQuerySet:
        """Return the cards that a registration of ``name`` by ``job_id`` replaces, at most two."""
        return self.filter(Q(job_id=job_id) | Q(name=name))


class AgentCard(models.Model):
    """A card that a running job registered. One per job, one per name. Source: Marianne, AgentCardRegistry."""

    job_id = models.CharField(max_length=200, unique=True)
    name = models.CharField(max_length=200, unique=True)  # belongs to the last job that registered it
    description = models.TextField()
    skills = models.JSONField(default=list)  # [{"id", "description"}], as registered
    registered_at = models.DateTimeField()
    # The agent that owns the job. Only it and operators may replace or remove the card. None: registered by a person
    # or by code in this process.
    registered_by = models.ForeignKey(Agent, models.CASCADE, null=True, blank=True, related_name="+")

    objects: ClassVar[AgentCardQuerySet] = managed_by(AgentCardQuerySet)

    def __str__(self) -> str:
        return f"{self.name} of {self.job_id}"

    def offers(self, skill_id: str) -> bool:
        return any(skill["id"] == skill_id for skill in self.skills)
