from django.apps import AppConfig


class MailboxConfig(AppConfig):
    name = "mailbox"
    verbose_name = "Mailbox"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.contrib.auth.models import User
        from django.db.models.signals import m2m_changed

        from mailbox import checks  # noqa: F401 registers itself
        from mailbox.access.people import staff
        from mailbox.dialects.yeoman import wire
        from mailbox.life import outbox

        outbox.BODIES[outbox.OTHERWISE] = wire.record
        m2m_changed.connect(staff.follow_group, sender=User.groups.through, dispatch_uid="staff follows the group")
