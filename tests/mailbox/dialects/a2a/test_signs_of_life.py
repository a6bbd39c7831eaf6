"""Signs of life of idle streams. They come together, so that a process with hundreds of streams wakes less often."""

from __future__ import annotations

import pytest

from mailbox.dialects.a2a import streaming

pytestmark = pytest.mark.one_database


def test_signs_that_are_due_together_are_sent_at_one_moment(settings):
    settings.A2A_KEEPALIVE_MS = 2000
    moments = [streaming.seconds_to_sign(1000 + late) + late for late in (0.001, 0.02, 0.049)]

    assert moments == pytest.approx([2.0] * 3)
    assert streaming.seconds_to_sign(1000.051) + 0.051 == pytest.approx(2.05)


@pytest.mark.parametrize("interval_ms", [10, 30, 50, 2000])
def test_a_sign_comes_within_its_interval_and_never_at_once(settings, interval_ms):
    settings.A2A_KEEPALIVE_MS = interval_ms
    pauses = [1000 * streaming.seconds_to_sign(1000 + step / 1000) for step in range(200)]

    assert all(max(interval_ms / 2, interval_ms - 50) <= pause + 1e-6 and pause <= interval_ms for pause in pauses)
