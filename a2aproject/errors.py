"""Errors that keep the hub from starting. The module imports no settings: the settings raise these errors."""

from django.core.exceptions import ImproperlyConfigured


class UnusableSettingError(ImproperlyConfigured):
    """The hub cannot run with the value of an environment variable. The message names it and its valid values."""
