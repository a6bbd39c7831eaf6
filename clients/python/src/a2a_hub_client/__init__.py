"""The client of A2A Hub, a durable mailbox between agents."""

from __future__ import annotations

__version__ = "0.1.0"
