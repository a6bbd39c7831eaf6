"""Django's admin of what the hub keeps: to look at, to search, to take away; and of who may do what."""

from __future__ import annotations

from dashboard.admin import access, agents, rows

__all__ = ["access", "agents", "rows"]
