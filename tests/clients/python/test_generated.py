"""The client for threads is written from the client for asyncio."""

from __future__ import annotations

import importlib.util

import pytest

from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

_spec = importlib.util.spec_from_file_location("generate", ROOT / "clients" / "python" / "write_sync.py")
assert _spec
assert _spec.loader
generate = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(generate)


@pytest.mark.processes
def test_the_client_for_threads_is_that_for_asyncio():
    made = dict(generate.texts())

    assert {path: path.read_text("utf-8") for path in generate.TARGET.glob("*.py")} == made


def test_names_and_words_are_those_of_threads():
    source = """
import asyncio  # for asyncio


class AsyncHub:
    async def a(self) -> AsyncIterator[int]:
        '''Return `AsyncHub`.'''
        async for one in self.b():
            yield await self.c(one)
"""
    wanted = """
import time  # for threads


class Hub:
    def a(self) -> Iterator[int]:
        '''Return `Hub`.'''
        for one in self.b():
            yield self.c(one)
"""

    assert generate.of(source).removeprefix(generate.NOTE) == wanted
