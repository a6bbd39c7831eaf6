"""Runs a parser on one input under a limit of processor time, which a busy machine does not shorten."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

LIMIT = 2.0  # seconds of processor time for one input


class TooSlowError(BaseException):
    """The parser used up its processor time. No handler of the product catches this error."""


@dataclass(slots=True, kw_only=True)
class Count:
    """The inputs of one parser so far. ``slowest`` is in seconds of processor time."""

    accepted: int = 0
    refused: int = 0
    slowest: float = 0.0
    defects: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> int:
        return self.accepted + self.refused + len(self.defects)


@contextmanager
def limited() -> Iterator[None]:
    """Let `tried` interrupt parsers. Only the main thread may enter."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def tried(count: Count, name: str, parse: Callable[[], object], refusals: tuple[type[Exception], ...]) -> None:
    """Run ``parse`` and count its end. Every end but a return or one of ``refusals`` is a defect named ``name``."""
    begun = time.thread_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
        try:
            parse()
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        count.accepted += 1
    except refusals:
        count.refused += 1
    except (Exception, TooSlowError) as error:  # noqa: BLE001
        count.defects.append(f"{type(error).__name__}: {error} for {name}")
    count.slowest = max(count.slowest, time.thread_time() - begun)
