from __future__ import annotations

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    """The pages under ``/ops/``, where people inspect the hub, decide and repair."""

    name = "dashboard"
    label = "dashboard"
