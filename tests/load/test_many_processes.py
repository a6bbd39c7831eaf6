"""Eight processes on one database: no task is leased twice, no task is lost, and no process gets a lock error."""

import pytest

from tests.load.actors import problems_of

PROCESSES = 8
TASKS = 1_500


def test_eight_processes_send_and_lease_each_task_once(database):
    database.act("prepare")

    each = database.act_together(PROCESSES, "send", TASKS // PROCESSES)
    rest = database.act("send", TASKS % PROCESSES)
    sent = [task for tasks in [*each, rest] for task in tasks]
    leases = [lease for taken in database.act_together(PROCESSES, "lease-all") for lease in taken]

    assert len(leases) == len(sent) == TASKS
    assert problems_of(leases, sent) == []
    assert database.act("problems") == []


def test_eight_processes_run_cycles_without_errors(database):
    database.act("prepare")

    database.act_together(PROCESSES, "acknowledge-each", 12)

    assert database.act("problems") == []


LEASES = [("t1", "l1", 1), ("t2", "l2", 1)]


@pytest.mark.parametrize(
    ("leases", "problem"),
    [
        ([*LEASES, ("t1", "l3", 1)], "task t1 was leased 2 times"),
        ([LEASES[0], ("t2", "l1", 1)], "lease l1 was given 2 times"),
        ([LEASES[0], ("t2", "l2", 2)], "task t2 was at attempt 2"),
        ([LEASES[0]], "task t2 was never leased"),
        ([*LEASES, ("t3", "l3", 1)], "task t3 was never sent"),
    ],
)
def test_the_checks_find_planted_faults(leases, problem):
    assert problems_of(LEASES, ["t1", "t2"]) == []
    assert problem in problems_of(leases, ["t1", "t2"])
