"""The durable mailbox: tasks, leases and results, and the verbs that change them.

``from mailbox import Mailbox`` gives the interface for Python code in this process. It is imported on first use:
models cannot be imported before Django's apps are ready.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mailbox.in_process import Mailbox

__all__ = ["Mailbox"]


def __getattr__(name: str) -> Any:
    if name == "Mailbox":
        from mailbox.in_process import Mailbox

        return Mailbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
