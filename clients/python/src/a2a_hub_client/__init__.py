"""The client of A2A Hub, a durable mailbox between agents."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from a2a_hub_client._async.handle import AsyncTaskHandle as AsyncTaskHandle
    from a2a_hub_client._async.hub import AsyncHub as AsyncHub
    from a2a_hub_client._sync.handle import TaskHandle as TaskHandle
    from a2a_hub_client._sync.hub import Hub as Hub
    from a2a_hub_client.credentials import KeyFile as KeyFile
    from a2a_hub_client.errors import HubError as HubError
    from a2a_hub_client.errors import NotNowError as NotNowError
    from a2a_hub_client.errors import RefusedError as RefusedError
    from a2a_hub_client.errors import ResultTimeoutError as ResultTimeoutError
    from a2a_hub_client.errors import UnreachableError as UnreachableError
    from a2a_hub_client.fake.hub import FakeHub as FakeHub
    from a2a_hub_client.models.conversation import Update as Update
    from a2a_hub_client.models.tasks import Answer as Answer
    from a2a_hub_client.models.tasks import NewTask as NewTask
    from a2a_hub_client.models.tasks import Result as Result
    from a2a_hub_client.models.wire import JsonBlock as JsonBlock
    from a2a_hub_client.models.wire import TextBlock as TextBlock
    from a2a_hub_client.retry import Retry as Retry
    from a2a_hub_client.worker.running import WorkerFailedError as WorkerFailedError
    from a2a_hub_client.worker.task import LeaseEndedError as LeaseEndedError
    from a2a_hub_client.worker.task import Task as Task

__version__ = "1.0.0"

# The modules of the names above. They are imported at their first use, so that importing this package is cheap.
_MODULES = {
    "Answer": "models.tasks",
    "AsyncHub": "_async.hub",
    "AsyncTaskHandle": "_async.handle",
    "FakeHub": "fake.hub",
    "Hub": "_sync.hub",
    "HubError": "errors",
    "JsonBlock": "models.wire",
    "KeyFile": "credentials",
    "LeaseEndedError": "worker.task",
    "NewTask": "models.tasks",
    "NotNowError": "errors",
    "RefusedError": "errors",
    "Result": "models.tasks",
    "ResultTimeoutError": "errors",
    "Retry": "retry",
    "Task": "worker.task",
    "TaskHandle": "_sync.handle",
    "TextBlock": "models.wire",
    "UnreachableError": "errors",
    "Update": "models.conversation",
    "WorkerFailedError": "worker.running",
}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    public = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = public
    return public
