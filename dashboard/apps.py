from __future__ import annotations

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    """The pages under ``/ops/`` by which people see, decide and repair."""

    name = "dashboard"
    label = "dashboard"
