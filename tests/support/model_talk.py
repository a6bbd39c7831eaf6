"""The rules of `model` for conversations: questions, messages of both parties, artifacts, leases out of turn."""

from datetime import datetime
from typing import NamedTuple

from tests.support.model_answers import AnsweringModel
from tests.support.model_rows import Lease, Refused, Task

ASKS = {"input_required": "input", "auth_required": "authorization"}


class Said(NamedTuple):
    """One update of a holder: a ``note``, a ``place`` or an ``add`` of an artifact, or one of `ASKS`."""

    what: str
    text: str
    artifact: str = "result"


class TalkingModel(AnsweringModel):
    def say(self, task: Task, text: str, now: datetime) -> None:
        self.expire_due([task], now)
        self._known(task)
        if task.state == "resolved":
            raise Refused("already_resolved")
        if task.waits_on is not None or not task.converses:
            raise Refused("not_askable")
        task.turn += 1
        task.spoken.append(("user", text))
        task.story.append("said")
        if task.state == "interrupted":
            task.state, task.awaits, task.queued_at = "queued", None, now

    def update(self, task: Task, said: list[Said], guard: str, now: datetime) -> None:
        self._known(task)
        if task.live is None or task.has_timed_out(now):
            raise Refused("not_in_flight")
        self._guarded(task, guard)
        if not task.converses and any(one.what in ASKS for one in said):
            raise Refused("not_askable")
        known = set(task.produced)
        for one in said:
            if one.what == "add" and one.artifact not in known:
                raise Refused("invalid_request")
            known |= {one.artifact} if one.what == "place" else set()
        for one in said:
            self._record(task, one)

    def lease_one(self, task: Task, now: datetime) -> None:
        self.expire_due([task], now)
        self._known(task)
        if task.state == "resolved":
            raise Refused("already_resolved")
        if task.state == "in_flight" or task.waits_on is not None:
            raise Refused("not_in_flight")
        task.story.append("out-of-turn")
        self._begin(task, Lease(len(task.leases) + 1, now))

    def _record(self, task: Task, one: Said) -> None:
        if one.what in ("place", "add"):
            earlier = task.produced.get(one.artifact, []) if one.what == "add" else []
            task.produced[one.artifact] = [*earlier, one.text]
            task.story.append("added" if one.what == "add" else "placed")
            return
        task.spoken.append(("agent", one.text))
        if one.what == "note":
            task.story.append("noted")
            return
        self._end_lease(task, "asked")
        task.state, task.awaits = "interrupted", ASKS[one.what]
        task.story.append("asked")
