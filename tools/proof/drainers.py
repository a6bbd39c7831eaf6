"""Drainers: senders that receive the results of their tasks and acknowledge them."""

from collections import deque
from collections.abc import Mapping
from typing import Any

from tools.proof.actors import Actor
from tools.proof.world import Drainage, World, results_of

IDLE = 0.05
LOOKS = 0.05  # as of workers
ATTEMPT = "A2A-Receive-Attempt-Id"


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
            if received:
                self.unacked += received
            elif self.world.mix.looks and (self.is_unsure or self.random.random() < LOOKS):
                self.look()
            most = self.random.choice([1, 1, 1, 4]) if received else 1
            if len(self.unacked) >= most and self.random.random() < 0.5:
                self._ack()
            if not received:
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

    def _drain(self) -> list[str]:
        """Receive the oldest result, in one of the forms of the route; return its task. It may acknowledge another."""
        fields, acked = self._fields(), list[str]()
        if self.world.mix.acknowledges and self.unacked and self.random.random() < 0.6:
            acked = [self.unacked.pop()]
            fields["ack"] = acked[0]
        attempt = fields.get("attempt_id", "")
        if self.random.random() < 0.5:
            query = "&".join(f"{name}={value}" for name, value in fields.items())
            return self._received("GET", f"/a2a/results/next?{query}".rstrip("?"), attempt_id=attempt, acked=acked)
        return self._received("POST", "/a2a/results/next", fields, attempt_id=attempt, acked=acked)

    def _fields(self) -> dict[str, Any]:
        """Return the fields of any drain. An attempt id stays until it has brought a result."""
        fields: dict[str, Any] = {}
        if self.world.mix.names_attempts:
            fields["attempt_id"] = self.attempt
        if self.random.random() < self.world.mix.waits:
            fields["wait_ms"] = self.random.choice([100, 400, 1500])
        return fields

    def _received(self, method: str, path: str, body: Mapping[str, Any] | None = None, **facts: Any) -> list[str]:
        """Drain; return the tasks of the results, whom the sender knows from then on."""
        request_id = self.request_id()
        with self.drainage.lock:
            self.drainage.receiving.add(request_id)
        try:
            drained = self.do("drain", method, path, body, request_id=request_id, **facts)
            found = results_of(drained.answer) if drained.is_acknowledged else []
            if found or (drained.is_acknowledged and drained.answer.get("attempt_spent")):
                self.attempt = self.new_id()
            received = [result["task_id"] for result in found]
            with self.drainage.lock:
                self.drainage.received.update(received)
        finally:
            with self.drainage.lock:
                self.drainage.receiving.discard(request_id)
        self.is_unsure = self.is_unsure or bool(drained.faults) or len(drained.tries) > 1
        return received

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


class BatchDrainer(Drainer):
    """Drains several results at once, and acknowledges most of the last results by the same request."""

    def __init__(self, world: World, number: int, drainage: Drainage) -> None:
        super().__init__(world, number, drainage)
        self.acked: deque[str] = deque(maxlen=20)

    def _drain(self) -> list[str]:
        """Receive the oldest results. It may acknowledge a result a second time."""
        fields, most, acked = self._fields(), self.random.choice([1, 2, 3, 5, 10]), list[str]()
        if self.world.mix.acknowledges and self.random.random() < 0.7:
            acked, self.unacked = self.unacked, []
            self.acked.extend(acked)
            if self.acked and self.random.random() < 0.1:
                acked = list(dict.fromkeys([*acked, self.random.choice(self.acked)]))
        facts = {"attempt_id": fields.get("attempt_id", ""), "acked": acked, "most": most, "decisions": most}
        headers = {}
        if "attempt_id" in fields and self.random.random() < 0.3:
            headers[ATTEMPT] = fields.pop("attempt_id")
        body = {**fields, "max": most, "ack": acked}
        return self._received("POST", "/a2a/results/drain", body, headers=headers, **facts)
