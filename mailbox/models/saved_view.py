from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from mailbox.database.managers import managed_by


class SavedViewQuerySet(models.QuerySet["SavedView"]):
    def visible_to(self, person: int) -> SavedViewQuerySet:
        """Narrow to the person's own views and those that others share; ``person`` is the key of a person."""
        return self.filter(Q(person=person) | Q(is_shared=True))

    def by_name(self) -> SavedViewQuerySet:
        return self.select_related("person").order_by("page", "name", "pk")


class SavedView(models.Model):
    """A query of one page of the dashboard, to which a person gave a name."""

    class Page(models.TextChoices):
        """The pages with a query. Each value is the name of the page's route."""

        TASKS = "tasks"
        LEASES = "leases"
        RESULTS = "results"
        FAILURES = "failures"
        AUDIT = "audit"
        DELIVERIES = "deliveries"
        AGENTS = "agents"
        TREES = "trees"
        CHARTS = "charts"
        IDEMPOTENCY = "idempotency"
        REPAIRS = "repairs"
        PLANS = "plans", "Bulk repairs"
        SCHEDULER = "scheduler"

    LONGEST_NAME: ClassVar = 60  # characters

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    page = models.CharField(max_length=20, choices=Page)
    name = models.CharField(max_length=LONGEST_NAME)
    query = models.TextField(blank=True)  # of the page's address, without "?"
    is_shared = models.BooleanField(default=False, db_default=False)  # with all people of the hub
    made_at = models.DateTimeField()

    objects: ClassVar[SavedViewQuerySet] = managed_by(SavedViewQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "page", "name"], name="saved_view_unique"),
        ]
        indexes = [
            models.Index(fields=["page", "name"], condition=Q(is_shared=True), name="saved_view_shared"),
        ]

    def __str__(self) -> str:
        return f"{self.get_page_display()}: {self.name}"
