"""Serves a hub on an empty database, with parties whose keys and grants let requests reach every verb."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mailbox.access.callers import Role
from mailbox.life import results
from tests.support import factories
from tests.support.hub import served
from tools.fuzz.requests import Sender

CENTURY_MS = str(3_000_000_000_000)
# No limit of a rate hides a route, and no compaction deletes rows that `consistency` counts.
SETTINGS: Mapping[str, Any] = {
    "A2A_INBOUND_RATE_LIMIT_PER_MIN": "1000000",
    "A2A_RECEIVE_RATE_LIMIT_PER_MIN": "1000000",
    "A2A_ROUTE_RATE_LIMIT_PER_MIN": "1000000",
    "A2A_TASKS_SEND_CAP": "1000000",
    "A2A_BLOCKING_WAIT_MS": "1",
    "A2A_FIRST_WORD_MS": "1",
    "A2A_STREAM_LIMIT_MS": "1",
    "A2A_RETENTION_ACKED_MS": CENTURY_MS,
    "A2A_RETENTION_DELIVERED_MS": CENTURY_MS,
}


@contextlib.contextmanager
def stand(folder: Path, seed: int) -> Iterator[Sender]:
    alice = factories.agent("alice", "a2a.send.*", "a2a.respond.*")
    bob = factories.agent("bob", "a2a.send.*", "a2a.respond.*")
    factories.AgentProfileFactory.create(agent=bob.agent, default_project="work")
    for sender, recipient in ((alice, bob), (bob, alice)):
        factories.leased_task(sender, recipient)
        lease = factories.leased_task(sender, recipient, idempotency=factories.idempotent("work"))
        results.post_result(recipient, factories.result_envelope(lease.task))
        factories.drained_task(sender, recipient)
        factories.sent_task(sender, recipient)
    keys = {
        "agent": factories.key_of(bob),
        "operator": factories.key_of(factories.person("olga", Role.OPERATOR)),
        "admin": factories.key_of(factories.person("ada", Role.ADMIN)),
        "no key": None,
    }
    url = os.environ.get("DATABASE_URL", "")
    with served(folder, database_url=url, workers=2, **SETTINGS) as hub:
        yield Sender(hub.url, keys, ["alice@local", "bob@local", "bob"], seed)
