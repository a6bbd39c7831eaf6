"""Faults of the PostgreSQL server: killed, stopped, frozen, away, read-only, its sessions killed or terminated."""

import random
import signal
import time
from collections.abc import Callable

from tools.proof.faults.fault import Fault
from tools.proof.faults.readiness import require_not_ready, require_reason
from tools.proof.servers import Pair, Server
from tools.proof.stage import Stage

LONG_ENOUGH_TO_PROBE = 3.0  # seconds; a shorter outage may be over before /readyz has looked


def _server(stage: Stage) -> Server:
    servers = stage.postgresql
    assert servers is not None, "the stage has no server of its own"
    return servers.primary if isinstance(servers, Pair) else servers


def kill(stage: Stage, rng: random.Random) -> None:
    """Kill every process of the server, and start it again after up to a second."""
    server = _server(stage)
    server.kill()
    time.sleep(rng.random())
    server.start()


def stopped_by(number: signal.Signals) -> Callable[[Stage, random.Random], None]:
    def strike(stage: Stage, rng: random.Random) -> None:
        server = _server(stage)
        server.stop(number)
        time.sleep(rng.random())
        server.start()

    return strike


def kill_a_session(stage: Stage, rng: random.Random) -> None:
    """Kill one session's process. The server ends all the others, and recovers."""
    server = _server(stage)
    server.kill_a_session(rng)
    server.wait_until_ready()


def terminate_sessions(stage: Stage, _: random.Random) -> None:
    _server(stage).terminate_sessions()


def frozen_for(seconds: float) -> Callable[[Stage, random.Random], None]:
    """Freeze every process of the server for so long. Its connections stay open and silent."""

    def strike(stage: Stage, _: random.Random) -> None:
        server = _server(stage)
        server.freeze()
        try:
            _wait_out(stage, seconds)
        finally:
            server.thaw()

    return strike


def away_for(seconds: float) -> Callable[[Stage, random.Random], None]:
    """Stop the server for so long. Its port refuses connections meanwhile."""

    def strike(stage: Stage, _: random.Random) -> None:
        server = _server(stage)
        server.stop(signal.SIGINT)
        try:
            _wait_out(stage, seconds)
        finally:
            server.start()

    return strike


def read_only(stage: Stage, _: random.Random) -> None:
    """Let the server refuse writes for some seconds, as a standby or a demoted primary does."""
    server = _server(stage)
    server.configure("default_transaction_read_only", "on")
    try:
        require_reason(stage, "read-only", "read only")
        time.sleep(2)
    finally:
        server.configure("default_transaction_read_only", None)


def _wait_out(stage: Stage, seconds: float) -> None:
    end = time.monotonic() + seconds
    if seconds >= LONG_ENOUGH_TO_PROBE:
        require_not_ready(stage)
    time.sleep(max(0.0, end - time.monotonic()))


def _fault(
    name: str, strike: Callable[[Stage, random.Random], None], times: int = 1, *, is_short: bool = False
) -> Fault:
    return Fault(name=f"PostgreSQL: {name}", strike=strike, databases=("postgresql",), times=times, is_short=is_short)


FAULTS = (
    _fault("every process killed", kill, 20, is_short=True),
    _fault("frozen for 4 s", frozen_for(4), 8, is_short=True),
    _fault("all sessions terminated", terminate_sessions, 24, is_short=True),
    _fault("stopped without a checkpoint", stopped_by(signal.SIGQUIT), 16),
    _fault("stopped", stopped_by(signal.SIGINT), 16),
    _fault("a session killed", kill_a_session, 18),
    _fault("read-only", read_only, 6),
    _fault("away for 8 s", away_for(8), 5),
    _fault("away for 78 s", away_for(78)),
    _fault("frozen for 45 s", frozen_for(45)),
)
