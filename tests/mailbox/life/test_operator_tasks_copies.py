from uuid import UUID

import pytest

from mailbox.life import operator_tasks
from mailbox.models import Task

COPY = UUID("5e1fc0de-0000-4000-8000-000000000000")


@pytest.mark.parametrize(
    ("cached", "own", "copied"),
    [
        (["ok"], None, "inv-7"),
        (["ok", "error"], None, "inv-7-again"),
        (["ok"], COPY, "inv-7-copy-5e1fc0de"),
        (["ok", "error"], COPY, "inv-7-copy-5e1fc0de"),
    ],
)
def test_a_copy_has_a_key_of_its_own_and_a_copy_of_a_plan_keeps_the_key(settings, cached, own, copied):
    settings.A2A_REPLAY_STATUSES = cached

    assert operator_tasks.key_of_copy(Task(idempotency_key="inv-7"), own=own) == copied
    assert operator_tasks.key_of_copy(Task(idempotency_key=None), own=own) is None


@pytest.mark.parametrize("own", [None, COPY])
def test_long_keys_that_differ_at_their_end_stay_apart(settings, own):
    settings.A2A_REPLAY_STATUSES = ["ok", "error"]

    keys = {operator_tasks.key_of_copy(Task(idempotency_key="k" * 499 + end), own=own) for end in "ab"}

    assert len(keys) == 2
    assert all(key and len(key) <= 500 for key in keys)
