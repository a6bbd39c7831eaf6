"""The pipe by which the supervisor notices that a service gets its work done: one byte for each sign of progress."""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass

VARIABLE = "A2A_BEATS"  # in the environment of a new program: the descriptor of the writing end


def sender() -> Callable[[], None]:
    """Return a function that reports progress to the supervisor. Without a supervisor it does nothing.

    The function never waits and raises no error, also if the supervisor is stuck or has ended.
    """
    descriptor = os.environ.pop(VARIABLE, None)
    if descriptor is None:
        return lambda: None
    writer = int(descriptor)
    os.set_inheritable(writer, False)
    os.set_blocking(writer, False)

    def beat() -> None:
        with contextlib.suppress(OSError):
            os.write(writer, b".")

    return beat


@dataclass(slots=True)
class Receiver:
    """The supervisor's end of the pipe of one program. Times are monotonic, in seconds."""

    reader: int
    looked_at: float
    silent_for: float = 0.0

    def silence(self, now: float, *, longest_step: float) -> float:
        """Return the seconds without a beat. The time since the last call counts as ``longest_step`` at most.

        So a program is not taken for silent while the supervisor itself was suspended, perhaps together with it.
        """
        self.silent_for += min(now - self.looked_at, longest_step)
        self.looked_at = now
        with contextlib.suppress(BlockingIOError):
            while os.read(self.reader, 4096):
                self.silent_for = 0.0
        return self.silent_for

    def close(self) -> None:
        os.close(self.reader)


def pipe(now: float) -> tuple[Receiver, int]:
    """Return a new pipe: the supervisor's end, and the descriptor of the program's end."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    return Receiver(reader, now), writer
