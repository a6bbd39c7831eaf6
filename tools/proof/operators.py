"""Operators: they repair the leases of workers that died, compact, and run passes of the retry gate."""

import queue
from typing import Any

from tools.proof.actors import Actor
from tools.proof.world import Case, World

REASON = "the worker is gone"


class Operator(Actor):
    """Repairs the leases that workers gave up, until the world's work is done."""

    def __init__(self, world: World, number: int) -> None:
        super().__init__(world, f"o{number}", world.operator_key, "operator")

    def act(self) -> None:
        while self.world.working.is_set():
            try:
                case = self.world.cases.get(timeout=0.2)
            except queue.Empty:
                continue
            self.pause(0.1)
            self._repair(case)
            if case.is_late:
                case.crew.late.append(case.held)

    def _repair(self, case: Case) -> None:
        command: dict[str, Any] = {"action": "force_error", "message": REASON}
        if self.random.random() < 0.6:
            risk = "operator_accepted" if self.random.random() < 0.8 else "idempotent"
            command = {"action": "requeue", "duplicate_risk": risk}
        if self.random.random() < 0.6:
            command["lease_id"] = case.held.lease_id
        body = {"task_id": case.held.task_id, "command": command, "reason": REASON}
        # A requeue that names no lease may meet the next lease when it is delivered twice.
        is_fenced = "lease_id" in command or command["action"] == "force_error"
        facts: dict[str, Any] = {"task_id": case.held.task_id, "command": command, "repeatable": is_fenced}
        done = self.do("repair", "POST", "/a2a/repair", body, **facts)
        if done.status == 409 and command.get("duplicate_risk") == "idempotent":
            command["duplicate_risk"] = "operator_accepted"
            self.do("repair", "POST", "/a2a/repair", body, **facts)


class Keeper(Actor):
    """Compacts finished tasks and requeues stale idempotent tasks, while tasks are sent. The last tasks stay."""

    def __init__(self, world: World) -> None:
        super().__init__(world, "k", world.operator_key, "operator")

    def act(self) -> None:
        policy = {"enabled": True, "min_lease_age_ms": 700, "max_attempts": 50, "max_requeues": 20, "scan_limit": 100}
        while self.world.sending.is_set():
            if self.world.mix.compacts:
                self.do("compact", "POST", "/a2a/compact", {})
            if self.world.mix.retries:
                self.do("retry", "POST", "/a2a/retry-stale", policy)
            self.pause(0.6)
