"""Writes and seals a journal: python -m tests.load.sealer COMMAND, on the database of DATABASE_URL and A2A_VAR.

``write`` commits some rows. ``seal`` seals small blocks until it is killed, and prints a line for each.
``tamper`` changes a row. ``verify`` seals the rest and prints the finding, the blocks and the rows without a seal.
"""

import json
import os
import random
import sys
from datetime import timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "a2aproject.settings")
django.setup()

from django.db import transaction  # noqa: E402

from mailbox.database import write_turns  # noqa: E402
from mailbox.models import AuditEvent  # noqa: E402
from mailbox.upkeep import sealing, verification  # noqa: E402
from tests.support.tampering import old_rows, triggers_off  # noqa: E402

TRANSACTIONS = 200


def write() -> None:
    chance = random.Random(os.getpid())  # noqa: S311
    for _ in range(TRANSACTIONS):
        with write_turns.turn(), transaction.atomic():
            old_rows(chance.randrange(1, 4))
            if chance.random() < 0.2:
                transaction.set_rollback(True)


def seal() -> None:
    while True:
        os.write(1, f"{sealing.seal()}\n".encode())


def verify() -> None:
    sealing.seal()
    found = verification.verify()
    problem = found.finding and found.finding.problem
    os.write(1, json.dumps([problem, found.blocks, found.unsealed]).encode())


def tamper() -> None:
    """Change the oldest row behind the hub's back."""
    with triggers_off():
        AuditEvent.objects.filter(pk=AuditEvent.objects.earliest("pk").pk).update(actor="mallory@local")


if __name__ == "__main__":
    sealing.BLOCK = 5
    sealing.RIPE_AFTER = timedelta(0)
    {"write": write, "seal": seal, "verify": verify, "tamper": tamper}[sys.argv[1]]()
