"""Which tests one process runs after each other, when several run the suite."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

# Tests that share a served hub, by how their ids begin: the hub is served once, in one of the processes.
SHARED_HUBS = {
    "tests/a2aproject/serving/test_serve.py": "lasting hub",
    "tests/load/test_cut_connections.py": "cut hub",
    "tests/mailbox/background/test_remote_sender_process.py": "carrying hub",
    "tests/mailbox/dialects/corvid/test_conversation.py": "served hub",
    "tests/mailbox/dialects/yeoman/test_served.py": "recorded hub",
    "tests/mailbox/management/worker/": "served hub",
    "tests/test_readme.py": "readme hub",
    "tests/test_restarts.py": "restarted hub",
}


class SharedHubScheduling(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Gives each process one test after the other, but all that share a hub to one of them, these first."""

    def _split_scope(self, nodeid: str) -> str:
        return next((hub for start, hub in SHARED_HUBS.items() if nodeid.startswith(start)), nodeid)
