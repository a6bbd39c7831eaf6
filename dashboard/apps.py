from django.apps import AppConfig


class DashboardConfig(AppConfig):
    """The pages under ``/ops/``, where people inspect the hub, decide and repair."""

    name = "dashboard"
    label = "dashboard"

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_in

        from dashboard.base import sessions

        user_logged_in.connect(sessions.begin, dispatch_uid="the session's times")
