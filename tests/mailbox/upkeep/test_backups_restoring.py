"""A restore keeps the earlier hub."""

from datetime import UTC, datetime, timedelta

from mailbox.upkeep.backups import name_of_earlier


def test_two_restores_of_one_second_keep_the_earlier_hub_under_two_names() -> None:
    first = datetime(2026, 11, 23, 12, 30, 59, tzinfo=UTC)

    names = {name_of_earlier(first + timedelta(microseconds=later)) for later in range(3)}

    assert names == {f"before-20261123T123059{later:06}Z" for later in range(3)}
