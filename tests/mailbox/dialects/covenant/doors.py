from uuid import UUID

from tests.support.doors import Act, Door, HubDoor, Seen


class HubResult(HubDoor):
    """Reads the result of a task alone."""

    does = frozenset({Act.READ})

    def read(self, task_id: UUID) -> Seen:
        result = self.get(f"/a2a/tasks/{task_id}/result")["result"]
        if result is None:
            return Seen("open", None)
        return Seen("failed", result["error_message"]) if result["status"] == "error" else Seen("done", _text(result))


def _text(result: dict[str, list[dict[str, str]]]) -> str:
    return result["content"][0]["text"]


DOORS: list[type[Door]] = [HubDoor, HubResult]
