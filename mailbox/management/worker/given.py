"""The input of a program: variables that describe its task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from mailbox.management.worker.leased_task import LeasedTask

TASK_BYTES = 100_000  # Linux starts no program with an environment variable beyond 128 KiB


def environment_of(leased: LeasedTask) -> dict[str, bytes]:
    """Return the variables that describe the task to its program, in UTF-8. The program also gets the text on stdin."""
    return {
        "A2A_TASK": _spelled(leased.task),
        "A2A_TASK_ID": leased.id.encode(),
        "A2A_LEASE_ID": leased.lease_id.encode(),
        "A2A_ATTEMPT": b"%d" % leased.attempt,
    }


def _spelled(task: Mapping[str, Any]) -> bytes:
    """Return the task as JSON of at most `TASK_BYTES`. The key ``left_out`` lists the fields that are left out.

    These are the text if that is enough, else the longest fields. The id always stays.
    """
    if len(spelled := orjson.dumps(task)) <= TASK_BYTES:
        return spelled
    by_length = sorted(task.keys() - {"id"}, key=lambda name: len(orjson.dumps(task[name])), reverse=True)
    for left_out in (["intent_text"], *(by_length[:number] for number in range(1, len(by_length) + 1))):
        kept = {name: value for name, value in task.items() if name not in left_out}
        spelled = orjson.dumps({**kept, "left_out": left_out})
        if len(spelled) <= TASK_BYTES:
            break
    return spelled
