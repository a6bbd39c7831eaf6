"""Workers: they lease tasks in two dialects and end their leases in many ways. Some die with a lease."""

import time
from typing import Any

from tools.proof.actors import Actor
from tools.proof.history import Operation
from tools.proof.mix import chosen
from tools.proof.world import Case, Crew, Held, World, leases_of
from tools.proof.world import held as held_task

IDLE = 0.05
LOOKS = 0.05  # share of empty receives after which a list is read, although no answer was lost: a list costs much
MOST_LOOKS = 10
LEFT_ALONE = 0.5  # share of deaths that no operator hears of
LOST = ("late", "die")  # ways that leave the lease to an operator
TALKS = ("artifact", "question")


class Worker(Actor):
    """Works until the world's work is done. Several workers may share an agent, and so its leases."""

    def __init__(self, world: World, number: int, crew: Crew) -> None:
        super().__init__(world, f"w{number}", crew.party.key, crew.party.display)
        self.crew = crew
        self.is_unsure = False  # an answer may have been lost since the last look at the leases
        self.attempt = self.new_id()

    def act(self) -> None:
        while self.world.working.is_set():
            if self.crew.late and self.random.random() < 0.5:
                self._post_late()
            taken = held = self._accept() if self.random.random() < self.world.mix.accepts else self._receive()
            if not taken and self.world.mix.looks and (self.is_unsure or self.random.random() < LOOKS):
                held = self._look()
            for one in held:
                self._work(one)
            if not taken:
                self.pause(IDLE)

    def _receive(self) -> list[Held]:
        """Lease the oldest task, in one of the forms of the route. An attempt id stays until it has brought a task."""
        attempt = self.attempt if self.world.mix.names_attempts else ""
        waits = self.random.choice([100, 400, 1500]) if self.random.random() < self.world.mix.waits else 0
        query = f"?wait_ms={waits}" if waits else ""
        if self.random.random() < 0.5:
            how: dict[str, Any] = {"headers": {"A2A-Receive-Attempt-Id": attempt}} if attempt else {}
            return self._leased("GET", f"/a2a/tasks/next{query}", None, attempt, **how)
        body = {"attempt_id": attempt} if attempt else {}
        return self._leased("POST", f"/a2a/tasks/next{query}", body, attempt)

    def _leased(self, method: str, path: str, body: dict[str, Any] | None, attempt: str, **how: Any) -> list[Held]:
        """Lease; return the leases, whom the crew knows from then on."""
        request_id = self.request_id()
        with self.crew.lock:
            self.crew.receiving.add(request_id)
        try:
            received = self.do("lease", method, path, body, request_id=request_id, attempt_id=attempt, **how)
            found = [held for held, _ in leases_of(received.answer)] if received.is_acknowledged else []
            for held in found:
                self.crew.learn(held.lease_id)
            if found or (received.is_acknowledged and received.answer.get("attempt_spent")):
                self.attempt = self.new_id()
        finally:
            with self.crew.lock:
                self.crew.receiving.discard(request_id)
        self.is_unsure = self.is_unsure or bool(received.faults) or len(received.tries) > 1
        return found

    def _look(self) -> list[Held]:
        """Return the leases of the crew that no worker knows of."""
        looked = self.do("look", "GET", "/a2a/leases?limit=1000")
        self.is_unsure = False
        if not looked.is_acknowledged:
            return []
        listed = [held_task(one["task"], one["lease_id"]) for one in _leases(looked)]
        found = self.crew.orphans(listed)
        looked.facts["adopted"] = [held.lease_id for held in found]
        self.is_unsure = bool({held.lease_id for held in listed} - self.crew.known)
        return found

    def _accept(self) -> list[Held]:
        """Lease one task of the inbox out of turn. The answer names no lease, so that the worker looks for it."""
        inbox = f"/a2a/inboxes/{self.agent}/tasks"
        listed = self.do("look", "GET", f"{inbox}?status=pending&limit=5", dialect="marianne")
        tasks = listed.answer["tasks"] if listed.is_acknowledged else []
        if not tasks:
            return []
        task_id = self.random.choice(tasks)["task_id"]
        attempt, request_id = self.new_id(), self.request_id()
        with self.crew.lock:
            self.crew.receiving.add(request_id)
        try:
            path, body = f"{inbox}/{task_id}/accept", {"attempt_id": attempt}
            accepted = self.do("accept", "POST", path, body, dialect="marianne", request_id=request_id, task_id=task_id)
            if not accepted.is_acknowledged:
                self.is_unsure = True
                return []
            looked = self.do("look", "GET", "/a2a/leases?limit=1000")
            mine = [one for one in _leases(looked) if one["task"]["id"] == task_id]
            for one in mine:
                self.crew.learn(one["lease_id"])
                looked.facts["adopted"] = [one["lease_id"]]
                return [held_task(one["task"], one["lease_id"])]
        finally:
            with self.crew.lock:
                self.crew.receiving.discard(request_id)
        return []

    def _work(self, held: Held) -> None:
        way = chosen(self.random, self.world.mix.work)
        if not self.world.sending.is_set() and way in (*LOST, "release", "refence", "question"):
            way = "ok"
        if not self.world.mix.converses and way in TALKS:
            way = "ok"
        if way == "die" and self.random.random() < LEFT_ALONE:
            return  # the lease grows stale, for the retry gate and for plans
        if way in LOST:
            self.world.cases.put(Case(held, self.crew, way == "late"))
            return
        if self.random.random() < 0.1:
            self.pause(0.3)
        getattr(self, f"_end_by_{way}")(held)

    def _result(self, held: Held, status: str) -> dict[str, Any]:
        # The lease makes two results differ. An identical result would be a repeat, also under an ended lease.
        words = f"{held.work} by {self.name} {self._count} under {held.lease_id}"
        content = [{"type": "text", "text": words}]
        error = {} if status == "ok" else {"error_message": f"it went wrong at {self._count}"}
        return {"task_id": held.task_id, "status": status, "content": content, **error, "lease_id": held.lease_id}

    def _post(self, result: dict[str, Any]) -> None:
        self.do("post", "POST", "/a2a/results", result, task_id=result["task_id"], result=result)

    def _end_by_ok(self, held: Held) -> None:
        self._post(self._result(held, "ok"))

    def _end_by_partial(self, held: Held) -> None:
        self._post(self._result(held, "partial"))

    def _end_by_error(self, held: Held) -> None:
        self._post(self._result(held, "error"))

    def _end_by_release(self, held: Held) -> None:
        body = {"reason": "not now", "lease_id": held.lease_id}
        path = f"/a2a/tasks/{held.task_id}/release"
        self.do("release", "POST", path, body, task_id=held.task_id, lease_id=held.lease_id)

    def _end_by_refence(self, held: Held) -> None:
        """Release the lease, wait until the task is leased again or ended, and post a result under the old lease."""
        self._end_by_release(held)
        for _ in range(MOST_LOOKS):
            read = self.do("read", "GET", f"/a2a/tasks/{held.task_id}/entry", task_id=held.task_id)
            if not read.is_acknowledged or read.answer["entry"]["state"] != "queued":
                break
            self.pause(IDLE)
        self._post(self._result(held, "ok"))

    def _end_by_unfenced(self, held: Held) -> None:
        result = self._result(held, "ok")
        del result["lease_id"]
        self._post(result)

    def _end_by_twice(self, held: Held) -> None:
        result = self._result(held, "ok")
        self._post(result)
        self._post(result)

    def _end_by_conflict(self, held: Held) -> None:
        """Post a result, and then another one for the same task, which must be refused."""
        self._post(self._result(held, "ok"))
        self._post(self._result(held, "partial"))

    def _end_by_updates(self, held: Held) -> None:
        body = {"updates": [{"progress": {"fraction": 0.5}}], "lease_id": held.lease_id, "attempt_id": self.new_id()}
        self.do("update", "POST", f"/a2a/tasks/{held.task_id}/updates", body, task_id=held.task_id)
        self.do("heartbeat", "POST", f"/a2a/tasks/{held.task_id}/heartbeat", {"lease_id": held.lease_id})
        self._post(self._result(held, "ok"))

    def _end_by_artifact(self, held: Held) -> None:
        """Produce an artifact in chunks, and then post a result that names it."""
        chunks = [{"type": "text", "text": f"{held.work} {number}"} for number in range(3)]
        updates = [
            {"artifact": {"artifact_id": "log", "content": [chunk]}, "append": number > 0, "last_chunk": number == 2}
            for number, chunk in enumerate(chunks)
        ]
        for part in (updates[:1], updates[1:]):
            body = {"updates": part, "lease_id": held.lease_id, "attempt_id": self.new_id()}
            self.do("update", "POST", f"/a2a/tasks/{held.task_id}/updates", body, task_id=held.task_id)
        self._post(self._result(held, "ok"))

    def _end_by_question(self, held: Held) -> None:
        """Ask the sender, and leave the task to the next lease. A task that takes no question gets its result."""
        question = {"status": "input_required", "message": f"which {held.work}?"}
        body = {"updates": [question], "lease_id": held.lease_id, "attempt_id": self.new_id()}
        path = f"/a2a/tasks/{held.task_id}/updates"
        asked = self.do("ask", "POST", path, body, task_id=held.task_id, lease_id=held.lease_id)
        if asked.is_acknowledged:
            for drainage in self.world.drainages:
                if drainage.party.display == held.sender:
                    drainage.questions.append(held.task_id)
        else:
            self._end_by_ok(held)

    def _end_by_complete(self, held: Held) -> None:
        self._finish(held, "complete", {"artifacts": {"text": f"{held.work} by {self.name} {self._count}"}})

    def _end_by_fail(self, held: Held) -> None:
        self._finish(held, "fail", {"reason": f"it went wrong at {self._count}"})

    def _finish(self, held: Held, verb: str, body: dict[str, Any]) -> None:
        path = f"/a2a/inboxes/{self.agent}/tasks/{held.task_id}/{verb}"
        self.do("post", "POST", path, body, dialect="marianne", task_id=held.task_id)

    def _end_by_message(self, held: Held) -> None:
        payload = {"task_id": held.task_id, "status": "completed", "result": f"{held.work} by {self.name}"}
        message = {
            "id": self.new_id(),
            "type": "a2a:result",
            "fromPeerId": self.agent,
            "toPeerId": "hub",
            "payload": payload,
            "timestamp": int(time.time() * 1000),
        }
        self.do("post", "POST", "/api/v1/a2a/receive", message, dialect="yeoman", task_id=held.task_id)

    def _post_late(self) -> None:
        """Post the result of a lease that an operator has repaired since."""
        try:
            held = self.crew.late.popleft()
        except IndexError:  # another worker took it
            return
        result = self._result(held, "ok")
        if self.random.random() < 0.4:
            del result["lease_id"]
        self._post(result)


def _leases(looked: Operation) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = looked.answer["leases"] if looked.is_acknowledged else []
    return found
