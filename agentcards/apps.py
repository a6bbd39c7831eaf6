from __future__ import annotations

from django.apps import AppConfig


class AgentCardsConfig(AppConfig):
    name = "agentcards"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agentcards import checks  # noqa: F401 (registers them; needs the apps)
