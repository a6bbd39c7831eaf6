"""Files of tasks are read line by line."""

from __future__ import annotations

import io
import tracemalloc

from mailbox.management.cli import task_file
from tests.support import factories


def test_a_long_file_is_not_held_in_memory(cast, monkeypatch):
    sender = factories.row_of(factories.agent("erin"))
    line = b'{"recipient":"bob","intent_text":"' + b"x" * 1000 + b'"}\n'

    class Endless(io.BytesIO):
        """A file of 3,000 different lines, which are made while they are read."""

        def __init__(self):
            super().__init__()
            self.left = 3000

        def readline(self, size=-1):
            self.left -= 1
            return line.replace(b"x", b"%d" % self.left, 1) if self.left >= 0 else b""

    lines = iter(task_file.TaskFile(Endless(), sender))
    next(lines)
    tracemalloc.start()
    try:
        assert sum(1 for _ in lines) == 2999
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 500_000, "3 MB of lines leave no trace"
