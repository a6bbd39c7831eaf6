from __future__ import annotations

from typing import ClassVar

from django.core.validators import MaxLengthValidator
from django.db import models

from agentcards.models.validation import LONGEST_NAME, LONGEST_TEXT, validate_names, validate_storable
from mailbox.database.managers import managed_by


class ToolQuerySet(models.QuerySet["Tool"]):
    def default(self) -> ToolQuerySet:
        return self.filter(is_default=True)

    def in_order(self) -> ToolQuerySet:
        """Sort by registration, the order of skills in a card."""
        return self.order_by("pk")


class Tool(models.Model):
    """An MCP tool that agents may use. It is a skill in the cards of these agents. Source: corvid-agent."""

    # The id of the skill, for example corvid_web_search.
    name = models.CharField(max_length=LONGEST_NAME, unique=True, validators=[validate_storable])
    # Blank: cards show "Tool: <name>".
    description = models.TextField(blank=True, validators=[MaxLengthValidator(LONGEST_TEXT), validate_storable])
    tags = models.JSONField(default=list, blank=True, validators=[validate_names])  # empty: ["general"]
    is_default = models.BooleanField(default=False)  # for agents whose profile lists no permissions

    objects: ClassVar[ToolQuerySet] = managed_by(ToolQuerySet)

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        self.tags = self.tags or []
