"""Workers that lease several tasks at once, and post the results of the last batch by the same request."""

from typing import Any

from tools.proof.drainers import ATTEMPT
from tools.proof.workers import IDLE, LOOKS, Worker
from tools.proof.world import Crew, Held, World


class BatchWorker(Worker):
    """Works as a `Worker` does, but owes the results of one batch until the request for the next."""

    def __init__(self, world: World, number: int, crew: Crew) -> None:
        super().__init__(world, number, crew)
        self.owed: list[dict[str, Any]] = []

    def act(self) -> None:
        while self.world.working.is_set():
            if self.crew.late and self.random.random() < 0.5:
                self._post_late()
            if self.owed and self.random.random() < 0.3:
                self._post_owed()
            held = self._receive_several()
            if not held and self.world.mix.looks and (self.is_unsure or self.random.random() < LOOKS):
                held = self._look()
            for one in held:
                self._work(one)
            if not held:
                self.pause(IDLE)
        if self.owed:
            self._post_owed()

    def _post(self, result: dict[str, Any]) -> None:
        self.owed.append(result)

    def _receive_several(self) -> list[Held]:
        """Post the results that are owed, and lease the oldest tasks. An attempt id stays until it has brought some."""
        results, self.owed = self.owed, []
        most, attempt = self.random.choice([1, 2, 3, 5]), self.attempt if self.world.mix.names_attempts else ""
        body: dict[str, Any] = {"max": most}
        headers: dict[str, str] = {}
        if results or self.random.random() < 0.5:
            body["results"] = results
        if self.random.random() < self.world.mix.waits:
            body["wait_ms"] = self.random.choice([100, 400, 1500])
        if attempt and self.random.random() < 0.3:
            headers[ATTEMPT] = attempt
        elif attempt:
            body["attempt_id"] = attempt
        facts = {"most": most, "decisions": most, "results": results}
        return self._leased("POST", "/a2a/tasks/lease", body, attempt, headers=headers, **facts)

    def _post_owed(self) -> None:
        """Post the results that are owed by a request of their own."""
        results, self.owed = self.owed, []
        body = {"results": results}
        self.do("post", "POST", "/a2a/results/batch", body, results=results, decisions=len(results))
