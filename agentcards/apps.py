from django.apps import AppConfig


class AgentCardsConfig(AppConfig):
    name = "agentcards"
    verbose_name = "Agent cards"
    default_auto_field = "django.db.models.BigAutoField"
