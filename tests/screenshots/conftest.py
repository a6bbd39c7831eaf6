from __future__ import annotations

from tests.dashboard.browser import browse, chromium  # noqa: F401 (fixtures)
