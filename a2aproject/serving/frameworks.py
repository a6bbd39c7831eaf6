"""The import of Django REST framework, which would load each optional package that is installed."""

from __future__ import annotations

import importlib
import sys

UNUSED = ("requests", "pygments", "django.contrib.postgres")  # 11 MB of each web process, with what they load in turn


def load() -> None:
    """Import the framework's module of optional packages as if the unused packages were missing.

    Others may import them afterwards. Call this before the framework is imported.
    """
    hidden = [name for name in UNUSED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None: the import of this name fails
    try:
        importlib.import_module("rest_framework.compat")
    finally:
        for name in hidden:
            del sys.modules[name]
