"""The session's browser leaves the tests that run beside it as they are without one."""

from __future__ import annotations

import asyncio
import os

import pytest

pytestmark = pytest.mark.one_database


def test_a_test_without_a_page_has_no_event_loop(launched):
    assert asyncio.run(asyncio.sleep(0, "ran")) == "ran"
    assert "DJANGO_ALLOW_ASYNC_UNSAFE" not in os.environ
