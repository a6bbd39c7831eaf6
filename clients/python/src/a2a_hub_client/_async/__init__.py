"""The client for asyncio."""

from __future__ import annotations
