"""The answers of /readyz while a fault lasts."""

import time
from collections.abc import Callable

import httpx

from tools.proof.stage import Stage

PATIENCE = 20.0  # seconds until /readyz must tell of a fault, on a busy machine
PROBE_TIMEOUT = 3.0  # a probe's usual patience is a second
NO_ANSWER, READY, NOT_READY = 0, 200, 503


class UntruthfulProbeError(AssertionError):
    """/readyz did not tell of a fault, or went on telling of it."""


def probe(stage: Stage) -> tuple[int, str]:
    """Return the status and the text of /readyz; (0, reason) without an answer."""
    try:
        answer = httpx.get(f"{stage.url}/readyz", timeout=PROBE_TIMEOUT)
        return answer.status_code, answer.text
    except httpx.TransportError as lost:
        return NO_ANSWER, str(lost)


def require_reason(stage: Stage, *words: str) -> None:
    """Wait until /readyz answers 503 with one of the words. Raises `UntruthfulProbeError` if it does not."""

    def tells(status: int, text: str) -> bool:
        return status == NOT_READY and any(word in text for word in words)

    last = _await(stage, tells)
    if last is not None:
        raise UntruthfulProbeError(f"/readyz answers {last} during a fault; expected 503 and one of {words}")


def require_not_ready(stage: Stage) -> None:
    """Wait until /readyz answers 503 or does not answer. Raises `UntruthfulProbeError` if it does not."""
    last = _await(stage, lambda status, _: status in (NO_ANSWER, NOT_READY))
    if last is not None:
        raise UntruthfulProbeError(f"/readyz answers {last} during a fault")


def require_ready(stage: Stage) -> None:
    """Wait until /readyz answers 200. Raises `UntruthfulProbeError` if it does not."""
    last = _await(stage, lambda status, _: status == READY, patience=4 * PATIENCE)
    if last is not None:
        raise UntruthfulProbeError(f"/readyz still answers {last} after the fault")


def _await(stage: Stage, expected: Callable[[int, str], bool], patience: float = PATIENCE) -> tuple[int, str] | None:
    """Probe until the answer is as expected. Return None then, or the last answer after ``patience`` seconds."""
    give_up_at = time.monotonic() + patience
    while not expected(*(answer := probe(stage))):
        if time.monotonic() > give_up_at:
            return answer
        time.sleep(0.1)
    return None
