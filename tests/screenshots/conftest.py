from __future__ import annotations

from tests.support.browser import browse, chromium  # noqa: F401 (fixtures)
