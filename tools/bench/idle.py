"""The cost of a hub at rest: what its processes use while no request comes."""

import time
from typing import Any

from tests.support.hub import Hub
from tools.bench import cycles
from tools.bench.hubs import postgresql_processes, web_processes

SETTLED = 3.0  # seconds after which the last request of the waiters waits at an idle hub
SETTLED_AT_MOST = 40.0  # seconds; the first wait ends after 60 s
IDLE = 0.1  # seconds of processor time in a second


def settle(hub: Hub) -> None:
    """Wait until the hub has taken the requests of all waiters, and has nothing more to do."""
    ends_at = time.monotonic() + SETTLED_AT_MOST
    time.sleep(SETTLED)
    is_busy = True
    while is_busy and time.monotonic() < ends_at:
        before = cycles.cpu_seconds(web_processes(hub))
        time.sleep(1)
        is_busy = cycles.spent(before, cycles.cpu_seconds(web_processes(hub))) > IDLE


def cost(hub: Hub, url: str, seconds: float) -> dict[str, Any]:
    """Return the share of one core that the hub and its database use, and the memory of the web process."""
    before = cycles.cpu_seconds(web_processes(hub)), cycles.cpu_seconds(postgresql_processes(url))
    begun = time.monotonic()
    time.sleep(seconds)
    taken = time.monotonic() - begun
    after = cycles.cpu_seconds(web_processes(hub)), cycles.cpu_seconds(postgresql_processes(url))
    web, database = (100 * used / taken for used in map(cycles.spent, before, after))
    (worker,) = hub.web_workers()
    return {"web %": web, "database %": database, "memory MB": worker.memory_info().rss / 2**20}
