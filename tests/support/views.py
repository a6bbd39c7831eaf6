"""Checks that what readers in the official protocol see agrees with the rows, after any legal verbs."""

from typing import Any

from mailbox.inspection import task_events
from mailbox.models import Task
from mailbox.words.a2a import v1_0
from mailbox.words.a2a.fold import EventPosition, TaskSnapshot
from mailbox.words.a2a.states import of_task

Json = dict[str, Any]


class Views:
    """Checks what readers see after each step. A task is checked at all its numbers once more after each change."""

    def __init__(self) -> None:
        self._grown: dict[int, tuple[EventPosition, Json]] = {}

    def assert_seen_as_stored(self) -> None:
        """Check the view of each task against its row, and each view on the way against the events after it."""
        tasks = list(Task.objects.select_related("result").order_by("pk"))
        together = task_events.views(tasks)
        folds = task_events.folds(tasks)
        for task, view in zip(tasks, together, strict=True):
            folded = folds[task.pk].view()
            assert v1_0.task(view, numbered=True) == v1_0.task(folded, numbered=True)
            assert (view.position, view.generation) == (folded.position, folded.generation)
            assert view.position == (task.journal_seq, 2)
            assert view.status.state == of_task(task.state, task.awaits, task.outcome)
            seen = (view.position, v1_0.task(view, numbered=True))
            if self._grown.get(task.pk) != seen:
                _grows_into(task, folded)
                self._grown[task.pk] = seen


def _grows_into(task: Task, last: TaskSnapshot) -> None:
    """Check that a reader who saw the task anywhere, and then each event, has seen the whole task."""
    rows, fold = task_events.rows_after(task, 0), task_events.fold_before(task)
    assert [row.seq for row in rows] == list(range(1, task.journal_seq + 1))
    events = [event for row in rows for event in fold.add(row)]
    assert [event.generation for event in events] == list(range(1, len(events) + 1))
    assert [event.position for event in events] == sorted({event.position for event in events})
    assert not any(event.is_final for event in events[:-1])
    whole, middle = v1_0.task(last), (len(rows) + 1) // 2
    fold = task_events.fold_before(task)
    for number, row in enumerate(rows, 1):
        fold.add(row)
        seen = v1_0.task(fold.view())
        if number in (1, middle):
            assert v1_0.task(task_events.view_at(task, EventPosition(row.seq))) == seen
        for event in events:
            if event.position > EventPosition(row.seq):
                follow(seen, v1_0.stream_response(task.uuid, task.context_id, event))
        assert without_users(seen) == without_users(whole)


def follow(seen: Json, response: Json) -> None:
    """Change a task as a client does that reads an event of its stream."""
    ((kind, update),) = response.items()
    if kind == "artifactUpdate":
        _place(seen.setdefault("artifacts", []), update)
        return
    if (said := seen["status"].get("message")) is not None:
        seen.setdefault("history", []).append(said)
    seen["status"] = update["status"]
    own = {key: value for key, value in update.get("metadata", {}).items() if key != "progress"}
    seen.pop("metadata", None)
    if own:
        seen["metadata"] = own


def _place(artifacts: list[Json], update: Json) -> None:
    new = dict(update["artifact"])
    earlier = next((one for one in artifacts if one["artifactId"] == new["artifactId"]), None)
    if earlier is None:
        artifacts.append(new)
    elif update.get("append"):
        earlier.update({**new, "parts": [*earlier["parts"], *new["parts"]]})
    else:
        artifacts.remove(earlier)
        artifacts.append(new)


def without_users(task: Json) -> Json:
    """Return a task without the messages of its sender, which knows them and gets no events of them."""
    history = [said for said in task.get("history", []) if said["role"] == "ROLE_AGENT"]
    return {**task, "history": history}
