"""Edits of a served hub: texts of its modules that change while the modules are imported.

The product itself knows nothing of them. Control runs put bugs into a hub this way.
"""

import json
import os
from pathlib import Path

FOLDER = Path(__file__).parent / "edited"
VARIABLE = "A2A_PROOF_EDITS"

Edit = tuple[str, str, str]  # module, old text, new text


def environment(*edits: Edit) -> dict[str, str]:
    """Return the environment of a hub with these edits."""
    path = os.pathsep.join([str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {"PYTHONPATH": path, VARIABLE: json.dumps(edits)}


# The rows of a receive attempt are kept for minutes. With seconds, tasks are compacted within a run, too.
COMPACT_SOON: Edit = (
    "mailbox.upkeep.compaction",
    "SPENT_IDS_KEPT = timedelta(minutes=10)",
    "SPENT_IDS_KEPT = timedelta(seconds=20)",
)

# The id of a receive counts only while its lease lives, or its result is not acknowledged. A receive that its client
# has given up then takes another task or result.
FORGETFUL_ATTEMPTS: tuple[Edit, ...] = (
    (
        "mailbox.life.fast_path.statements",
        "receive_attempt_id = %(attempt_id)s{uuid})\nORDER BY task.queued_at",
        "receive_attempt_id = %(attempt_id)s{uuid} AND ended_at IS NULL)\nORDER BY task.queued_at",
    ),
    (
        "mailbox.life.fast_path.statements",
        "receive_attempt_id = %(attempt_id)s{uuid})\nORDER BY result.posted_at",
        "receive_attempt_id = %(attempt_id)s{uuid} AND delivery = {delivered})\nORDER BY result.posted_at",
    ),
    (
        "mailbox.life.fast_path.batches.statements",
        "holder_id = %(holder)s AND receive_attempt_id = %(attempt_id)s{uuid})",
        "holder_id = %(holder)s AND receive_attempt_id = %(attempt_id)s{uuid} AND ended_at IS NULL)",
    ),
    (
        "mailbox.life.fast_path.batches.statements",
        "sender_id = %(sender)s AND receive_attempt_id = %(attempt_id)s{uuid})",
        "sender_id = %(sender)s AND receive_attempt_id = %(attempt_id)s{uuid} AND delivery = {delivered})",
    ),
    (
        "mailbox.models.lease",
        "leases = self.filter(receive_attempt_id=attempt_id)",
        "leases = self.live().filter(receive_attempt_id=attempt_id)",
    ),
    (
        "mailbox.models.result",
        "self.addressed_to(sender).filter(receive_attempt_id=attempt_id)",
        'self.addressed_to(sender).filter(receive_attempt_id=attempt_id, delivery="delivered")',
    ),
    (
        "mailbox.migrations.0001_squashed_0044_sums_of_all_minutes",
        '("receive_attempt_id__isnull", False)), fields=("holder"',
        '("receive_attempt_id__isnull", False), ("ended_at", None)), fields=("holder"',
    ),
    (
        "mailbox.migrations.0001_squashed_0044_sums_of_all_minutes",
        '("receive_attempt_id__isnull", False)), fields=("sender"',
        '("receive_attempt_id__isnull", False), ("delivery", "delivered")), fields=("sender"',
    ),
)

# The carrier forgets what it sent to an agent of the official protocol, and sends it again as another message.
FORGETFUL_CARRIER: tuple[Edit, ...] = (
    (
        "agentcards.carriages.official",
        "                official_talk.store(conversation)",
        "                pass",
    ),
    ("agentcards.carriages.official_talk", "from uuid import uuid5", "from uuid import uuid4, uuid5"),
    ("agentcards.carriages.official_talk", 'return str(uuid5(task.uuid, f"turn {turn}"))', "return str(uuid4())"),
)

# A commit is answered before it is on the disk, so that the death of PostgreSQL's machine loses it.
UNSYNCED_COMMITS: tuple[Edit, ...] = (
    ("a2aproject.settings.database", '"synchronous_commit": "on"', '"synchronous_commit": "off"'),
    ("mailbox.database.postgresql", '("on", "remote_apply")', '("off",)'),
)
