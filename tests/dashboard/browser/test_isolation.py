"""The session's browser does not affect tests that use no browser."""

import asyncio
import os

import pytest

pytestmark = pytest.mark.one_database


def test_a_test_that_opens_no_page_has_no_event_loop(launched):
    assert asyncio.run(asyncio.sleep(0, "ran")) == "ran"
    assert "DJANGO_ALLOW_ASYNC_UNSAFE" not in os.environ
