from __future__ import annotations

from django.apps import AppConfig


class AgentCardsConfig(AppConfig):
    name = "agentcards"
    default_auto_field = "django.db.models.BigAutoField"
