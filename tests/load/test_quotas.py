"""Sixteen processes send at once: the hub accepts exactly the quota, on either database and in either form."""

import pytest

PROCESSES = 16
QUOTA = 50
EACH = 6  # tries of a process: together nearly twice the quota
BYTES = 12  # of one of these tasks: its text, and {} as metadata


@pytest.mark.parametrize("calls_back", [0, 1], ids=["plain", "calls back"])
@pytest.mark.parametrize(
    ("setting", "quota"),
    [
        ("A2A_QUOTA_QUEUED", QUOTA),
        ("A2A_QUOTA_QUEUED_TO_ONE", QUOTA),
        ("A2A_QUOTA_BYTES", QUOTA * BYTES + BYTES - 1),
        ("A2A_QUOTA_CALLBACKS", QUOTA),
    ],
)
def test_racing_processes_are_accepted_up_to_the_quota_and_no_further(
    database, monkeypatch, setting, quota, calls_back
):
    monkeypatch.setenv(setting, str(quota))
    database.act("prepare")

    counts = database.act_together(PROCESSES, "send-to-the-quota", EACH, calls_back, 0)

    tries = PROCESSES * EACH
    limited = setting != "A2A_QUOTA_CALLBACKS" or calls_back
    accepted = QUOTA if limited else tries
    assert [sum(part) for part in zip(*counts, strict=True)] == [accepted, tries - accepted]
    assert len(database.act("rows")["tasks"]) == accepted
    assert database.act("problems") == []


def test_a_queue_never_exceeds_its_quota_while_others_lease(database, monkeypatch):
    monkeypatch.setenv("A2A_QUOTA_QUEUED_TO_ONE", "10")
    database.act("prepare")

    counts = database.act_together(PROCESSES, "send-to-the-quota", EACH, 0, 2)

    accepted = sum(accepted for accepted, _ in counts)
    assert accepted - len(database.act("rows")["leases"]) <= 10
    assert database.act("problems") == []
