"""Why the hub does not start; importable before its settings are."""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured


class UnusableSettingError(ImproperlyConfigured):
    """A variable has a value the hub cannot run with. The message names it, and what it may be."""
