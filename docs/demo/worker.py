"""A worker agent: leases tasks, applies its one skill and posts results until it is stopped.

Usage: A2A_URL=... A2A_API_KEY=... python worker.py SKILL

The worker may be stopped or killed at any moment. Its leases stay, also when the hub restarts, so a new run begins with
them. Each result carries the lease id as a fence. If an operator requeued the task meanwhile, the hub rejects the
result.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import Any

from hub_client import HubClient, RefusedError
from skills import SKILLS

NO_LONGER_MINE = ("lease_mismatch", "already_resolved", "result_conflict")


def main(skill: Callable[[str], dict[str, Any]]) -> None:
    with HubClient.from_environment() as hub:
        for held in hub.get("/a2a/leases", limit=1000)["leases"]:
            answer(hub, held["task"], held["lease_id"], skill)
        while True:
            if (leased := hub.next_task()) is not None:
                answer(hub, *leased, skill)


def answer(hub: HubClient, task: dict[str, Any], lease_id: str, skill: Callable[[str], dict[str, Any]]) -> None:
    """Do the work and post the result. Work that fails has a result too."""
    try:
        outcome = {"status": "ok", "content": [{"type": "json", "value": skill(task["intent_text"])}]}
    except ValueError as error:
        outcome = {"status": "error", "error_message": str(error)}
    try:
        hub.post("/a2a/results", task_id=task["id"], lease_id=lease_id, **outcome)
    except RefusedError as refusal:
        if refusal.code not in NO_LONGER_MINE:
            raise


if __name__ == "__main__":
    if sys.argv[1:2] == [] or sys.argv[1] not in SKILLS:
        sys.exit(f"usage: worker.py {'|'.join(SKILLS)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        main(SKILLS[sys.argv[1]])
    except KeyboardInterrupt:
        sys.exit(0)
