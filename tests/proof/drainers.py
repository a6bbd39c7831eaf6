"""Drainers: senders that receive the results of their tasks and acknowledge them."""

from __future__ import annotations

from typing import Any

from tests.proof.actors import Actor
from tests.proof.world import Drainage, World

IDLE = 0.05


class Drainer(Actor):
    """Drains the results of one sender until the world's work is done. Several drainers may share a sender."""

    def __init__(self, world: World, number: int, drainage: Drainage) -> None:
        super().__init__(world, f"d{number}", drainage.party.key, drainage.party.display)
        self.drainage = drainage
        self.unacked: list[str] = []
        self.is_unsure = False
        self.attempt = self.new_id()  # stays until it has brought a result

    def act(self) -> None:
        while self.world.working.is_set():
            if self.drainage.questions:
                self._answer()
            received = self._drain()
            if received is not None:
                self.unacked.append(received)
            elif self.world.mix.looks and (self.is_unsure or self.random.random() < 0.2):
                self.look()
            most = 1 if received is None else self.random.choice([1, 1, 1, 4])
            if len(self.unacked) >= most and self.random.random() < 0.5:
                self._ack()
            if received is None:
                self.pause(IDLE)
        self.finish()

    def finish(self) -> None:
        """Acknowledge the results that are left."""
        if self.unacked:
            self._ack()

    def look(self) -> None:
        """Learn of the results that were delivered without an answer that any thread got."""
        looked = self.do("look", "GET", "/a2a/results/delivered?limit=1000")
        self.is_unsure = False
        if looked.is_acknowledged:
            listed = [result["task_id"] for result in looked.answer["results"]]
            looked.facts["adopted"] = self.drainage.orphans(listed)
            self.unacked += looked.facts["adopted"]
            self.is_unsure = bool(set(listed) - self.drainage.received)

    def _drain(self) -> str | None:
        """Receive the oldest result, in one of the forms of the route; return its task. It may acknowledge another."""
        fields: dict[str, Any] = {}
        if self.world.mix.names_attempts:
            fields["attempt_id"] = self.attempt
        if self.random.random() < self.world.mix.waits:
            fields["wait_ms"] = self.random.choice([100, 400, 1500])
        acked = []
        if self.world.mix.acknowledges and self.unacked and self.random.random() < 0.6:
            acked = [self.unacked.pop()]
            fields["ack"] = acked[0]
        request_id = self.request_id()
        with self.drainage.lock:
            self.drainage.receiving.add(request_id)
        try:
            facts = {"request_id": request_id, "attempt_id": fields.get("attempt_id", ""), "acked": acked}
            if self.random.random() < 0.5:
                query = "&".join(f"{name}={value}" for name, value in fields.items())
                drained = self.do("drain", "GET", f"/a2a/results/next?{query}".rstrip("?"), **facts)
            else:
                drained = self.do("drain", "POST", "/a2a/results/next", fields, **facts)
            result = drained.answer["result"] if drained.is_acknowledged else None
            if result or (drained.is_acknowledged and drained.answer.get("attempt_spent")):
                self.attempt = self.new_id()
            if result:
                with self.drainage.lock:
                    self.drainage.received.add(result["task_id"])
        finally:
            with self.drainage.lock:
                self.drainage.receiving.discard(request_id)
        self.is_unsure = self.is_unsure or bool(drained.faults) or len(drained.tries) > 1
        return result["task_id"] if result else None

    def _answer(self) -> None:
        """Answer the oldest question of the sender's agents."""
        try:
            task_id = self.drainage.questions.popleft()
        except IndexError:  # another thread took it
            return
        body = {"content": f"this one, says {self.name}", "attempt_id": self.new_id()}
        self.do("say", "POST", f"/a2a/tasks/{task_id}/messages", body, task_id=task_id)

    def _ack(self) -> None:
        if not self.world.mix.acknowledges:
            self.unacked.clear()
            return
        acked, self.unacked = self.unacked, []
        self.do("ack", "POST", "/a2a/results/ack", {"task_ids": acked}, acked=acked)
