from __future__ import annotations

from django.apps import AppConfig


class A2AProjectConfig(AppConfig):
    """The deployment: system checks and the `serve` command."""

    name = "a2aproject"
    label = "a2aproject"

    def ready(self) -> None:
        from a2aproject import checks

        checks.register_all()
