"""Django's admin: searches and exports of the hub's rows, and the rights of people, keys and agents."""

from dashboard.admin import access, rows

__all__ = ["access", "rows"]
