from __future__ import annotations

from django.apps import AppConfig


class MailboxConfig(AppConfig):
    name = "mailbox"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from mailbox import checks  # noqa: F401 registers itself
        from mailbox.dialects.yeoman import records
        from mailbox.verbs.life import callbacks

        callbacks.BODIES[callbacks.OTHERWISE] = records.record
