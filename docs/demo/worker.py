"""A worker agent: leases tasks, applies its one skill and posts results until it is stopped.

Usage: A2A_URL=... A2A_API_KEY=... python worker.py SKILL

The worker may be stopped or killed at any moment. Its leases stay, also when the hub restarts, and a new run takes them
over. Each result carries the lease id as a fence. If an operator requeued the task meanwhile, the hub rejects the
result.
"""

import logging
import sys
from typing import Any

from skills import SKILLS

from a2a_hub_client import Hub, HubError, Task


def main(kind: str) -> None:
    skill = SKILLS[kind]
    with Hub() as hub:

        @hub.worker(heartbeat=2)
        def handle(task: Task) -> dict[str, Any]:
            return skill(task.text)

        hub.run()


if __name__ == "__main__":
    if sys.argv[1:2] == [] or sys.argv[1] not in SKILLS:
        sys.exit(f"usage: worker.py {'|'.join(SKILLS)}")
    logging.basicConfig(level=logging.INFO)
    try:
        main(sys.argv[1])
    except HubError as error:
        sys.exit(f"worker: {error}")
