"""Assigns tests to processes when several processes run the suite."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

# Tests that share a served hub or many rows, by the beginning of their ids. One process makes and uses them.
SHARED = {
    "tests/a2aproject/serving/test_serve.py": "lasting hub",
    "tests/a2aproject/serving/test_killed_pairs.py": "killed hub",
    "tests/load/test_cut_connections.py": "cut hub",
    "tests/mailbox/inspection/test_list_plans.py": "many rows",
    "tests/mailbox/verbs/test_query_plans.py": "crowd",
    "tests/mailbox/background/test_remote_sender_process.py": "carrying hub",
    "tests/mailbox/dialects/a2a/clients/": "stage",
    "tests/mailbox/dialects/corvid/test_conversation.py": "served hub",
    "tests/mailbox/dialects/yeoman/test_served.py": "recorded hub",
    "tests/mailbox/dialects/test_fresh_hub.py": "fresh hub",
    "tests/clients/python/worker/": "served hub",
    "tests/docs/test_site": "site",
    "tests/test_restarts.py": "restarted hub",
    "tests/tools/proof/test_checker.py": "recorded run",
    "tests/tools/proof/test_rules_batches.py": "recorded run",
    "tests/a2aproject/serving/test_unwritable.py": "unwritable hub",
}


class SharedScheduling(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Gives tests that share something to one process, before all others. Spreads the others one by one."""

    def _split_scope(self, nodeid: str) -> str:
        return next((name for start, name in SHARED.items() if nodeid.startswith(start)), nodeid)
