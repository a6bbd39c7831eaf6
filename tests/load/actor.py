"""Processes that call the verbs directly, for load, on the database of DATABASE_URL and A2A_VAR.

python -m tests.load.actor COMMAND ARGUMENT... runs one command.
python -m tests.load.actor DESCRIPTOR runs commands in processes of their own, on a connection of that number.
"""

import base64
import json
import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "a2aproject.settings")
django.setup()

from django.db import DatabaseError, connection  # noqa: E402
from django.db.models import Count, F, Max  # noqa: E402

from mailbox.access.agents import grants, registration  # noqa: E402
from mailbox.access.callers import Caller  # noqa: E402
from mailbox.access.credentials import keys  # noqa: E402
from mailbox.life import leasing, results, sending  # noqa: E402
from mailbox.models import Agent, AuditEvent, Lease, PushConfig, Result, Task  # noqa: E402
from mailbox.words import secret_box  # noqa: E402
from mailbox.words.envelopes import AgentRef, ResultEnvelope, ResultStatus, TaskEnvelope  # noqa: E402
from mailbox.words.errors import QuotaExceededError  # noqa: E402
from mailbox.words.kinds import Kind  # noqa: E402
from tests.support.hub import PATIENCE  # noqa: E402

SENDER, WORKER = "sender@load", "worker@load"
SECRET = "whsec_" + "c2VjcmV0" * 4
WEIGHT = 380_000  # bytes, half a megabyte in base64


def prepare() -> None:
    """Register a sender and a worker with their grants."""
    operator = Caller.command_line()
    for display, action in ((SENDER, f"a2a.send.{WORKER}"), (WORKER, f"a2a.respond.{SENDER}")):
        grants.grant(operator, registration.register_agent(operator, display).agent, action)


def send(count: int) -> list[str]:
    """Send tasks; return their ids."""
    envelope = TaskEnvelope(recipient=AgentRef(WORKER), intent_text="load")
    return [str(sending.send_task(_agent(SENDER), envelope).uuid) for _ in range(count)]


def send_to_the_quota(count: int, calls_back: int, takes: int) -> list[int]:
    """Try ``count`` sends; return how many were accepted, and how many were refused at a quota.

    With ``calls_back`` 1 each task has a callback, so that only the whole form can serve it. After every ``takes``
    sends, lease one task; 0 leases none.
    """
    url = "https://receiver.example/done" if calls_back else None
    envelope = TaskEnvelope(recipient=AgentRef(WORKER), intent_text="x" * 10, callback_url=url)
    accepted = refused = 0
    for number in range(1, count + 1):
        try:
            sending.send_task(_agent(SENDER), envelope)
            accepted += 1
        except QuotaExceededError:
            refused += 1
        if takes and number % takes == 0:
            leasing.lease_tasks(_agent(WORKER))
    return [accepted, refused]


def acknowledge_each(count: int) -> None:
    """Run full cycles. After each of the four writes of a cycle, print "acked" on stdout, unbuffered."""
    sender, worker = _agent(SENDER), _agent(WORKER)
    for _ in range(count):
        sending.send_task(sender, TaskEnvelope(recipient=AgentRef(WORKER), intent_text="load"))
        os.write(1, b"acked\n")
        lease = _lease_one(worker)
        os.write(1, b"acked\n")
        results.post_result(worker, ResultEnvelope(task_id=lease.task.uuid, status=ResultStatus.OK))
        os.write(1, b"acked\n")
        results.drain_results(sender)
        os.write(1, b"acked\n")


def _lease_one(worker: Caller) -> Lease:
    """Lease a task, and ask again while other processes take every task that one statement sees."""
    while not (leases := leasing.lease_tasks(worker)):
        continue
    return leases[0]


def report_each(count: int) -> None:
    """Run full cycles. After each of the four writes of a cycle, print it with its task's id, unbuffered."""
    sender, worker = _agent(SENDER), _agent(WORKER)
    for _ in range(count):
        sent = sending.send_task(sender, TaskEnvelope(recipient=AgentRef(WORKER), intent_text="load"))
        os.write(1, f"tasks {sent.uuid}\n".encode())
        for lease in leasing.lease_tasks(worker):
            os.write(1, f"leases {lease.task.uuid}\n".encode())
            results.post_result(worker, ResultEnvelope(task_id=lease.task.uuid, status=ResultStatus.OK))
            os.write(1, f"results {lease.task.uuid}\n".encode())
        for result in results.drain_results(sender):
            os.write(1, f"delivered {result.task.uuid}\n".encode())


def weigh(count: int) -> None:
    """Send tasks with half a megabyte of text each."""
    for _ in range(count):
        text = base64.b64encode(os.urandom(WEIGHT)).decode()
        sending.send_task(_agent(SENDER), TaskEnvelope(recipient=AgentRef(WORKER), intent_text=text))


def entrust() -> str:
    """Send a task with a sealed callback secret; return a new API key of its sender."""
    envelope = TaskEnvelope(
        recipient=AgentRef(WORKER),
        intent_text="load",
        callback_url="https://agent.example/done",
        callback_secret=SECRET,
    )
    sending.send_task(_agent(SENDER), envelope)
    return keys.add_key(Caller.command_line(), agent=Agent.objects.get(display=SENDER)).secret


def secrets() -> list[str]:
    """Return the sealed secrets of callbacks, opened."""
    sealed = PushConfig.objects.exclude(sealed_secret=None).values_list("sealed_secret", flat=True)
    return [secret_box.unseal(str(one)) for one in sealed]


def forge() -> str:
    """Try to change and to delete rows of the journal; return the errors."""
    errors = []
    for act in ("UPDATE mailbox_auditevent SET kind = kind", "DELETE FROM mailbox_auditevent"):
        try:
            with connection.cursor() as cursor:
                cursor.execute(act)
        except DatabaseError as error:
            errors.append(str(error).splitlines()[0])
    return "; ".join(errors)


def lose_a_journal_row() -> None:
    """Remove the newest numbered row of the journal, against its triggers, as a fault of the disk would."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER mailbox_auditevent_append_only_delete")
        cursor.execute("SELECT max(id) FROM mailbox_auditevent WHERE seq IS NOT NULL")
        cursor.execute("DELETE FROM mailbox_auditevent WHERE id = %s", cursor.fetchone())


def restores() -> list[str]:
    """Return the kinds of the journal's newest two rows about the hub itself."""
    about = AuditEvent.objects.filter(kind__in=(Kind.HUB_BACKED_UP, Kind.HUB_RESTORED)).order_by("-pk")
    return list(about.values_list("kind", flat=True)[:2])


def lease_all() -> list[tuple[str, str, int]]:
    """Lease one task after the other until none is left; return (task id, lease id, attempt) of each."""
    worker, taken = _agent(WORKER), []
    while leases := leasing.lease_tasks(worker):
        taken += [(str(lease.task.uuid), str(lease.lease_id), lease.attempt) for lease in leases]
    return taken


def rows() -> dict[str, Any]:
    """Return the ids of tasks, results and delivered results, the lease of each task, and all attempt numbers."""
    delivered = Result.objects.exclude(delivery=Result.Delivery.PENDING)
    return {
        "tasks": _texts(Task.objects.values_list("uuid", flat=True)),
        "leases": {str(task): str(lease) for task, lease in Lease.objects.values_list("task__uuid", "lease_id")},
        "results": _texts(Result.objects.values_list("task__uuid", flat=True)),
        "delivered": _texts(delivered.values_list("task__uuid", flat=True)),
        "attempts": sorted(set(Lease.objects.values_list("attempt", flat=True))),
    }


def problems() -> list[str]:
    """Return the differences between tables and journal. Each change should have its row, and each row its change."""
    numbered = AuditEvent.objects.filter(seq__isnull=False)
    lives = numbered.values("task_id").annotate(rows=Count("pk"), last=Max("seq"))
    journalled = {life["task_id"]: (life["rows"], life["last"]) for life in lives}
    found = [
        f"task {uuid} is at {seq}, its journal at {journalled.get(uuid)}"
        for uuid, seq in _tasks()
        if journalled.get(uuid) != (seq, seq)
    ]
    if len(journalled) != Task.objects.count():
        found.append(f"{len(journalled)} tasks in the journal, {Task.objects.count()} in the table")
    kinds = Counter(numbered.values_list("kind", flat=True))
    counts = {
        Kind.TASK_SENT: Task.objects.count(),
        Kind.TASK_LEASED: Lease.objects.count(),
        Kind.RESULT_POSTED: Result.objects.count(),
        Kind.RESULT_DELIVERED: Result.objects.exclude(delivery=Result.Delivery.PENDING).count(),
    }
    found += [
        f"{kinds[kind]} {kind} rows for {count} changes" for kind, count in counts.items() if kinds[kind] != count
    ]
    live = Lease.objects.live().exclude(task__state=Task.State.IN_FLIGHT, attempt=F("task__attempt"))
    found += [f"lease {lease} is live, but its task is not in flight at that attempt" for lease in live]
    return found


def _texts(ids: Iterable[object]) -> list[str]:
    return [str(one) for one in ids]


def _tasks() -> Sequence[tuple[Any, int]]:
    return list(Task.objects.values_list("uuid", "journal_seq"))


def _agent(display: str) -> Caller:
    return Caller(name=display, source=AuditEvent.Source.API, agent=Agent.objects.get(display=display))


COMMANDS: dict[str, Callable[..., object]] = {
    "prepare": prepare,
    "send": send,
    "send-to-the-quota": send_to_the_quota,
    "acknowledge-each": acknowledge_each,
    "report-each": report_each,
    "weigh": weigh,
    "entrust": entrust,
    "secrets": secrets,
    "forge": forge,
    "lose-a-journal-row": lose_a_journal_row,
    "restores": restores,
    "lease-all": lease_all,
    "rows": rows,
    "problems": problems,
}


def act(command: str, arguments: Sequence[int]) -> object:
    return COMMANDS[command](*arguments)


def act_together(count: int, command: str, arguments: Sequence[int]) -> list[object]:
    """Run the command in ``count`` processes, which begin at the same time. They are forked before any connection."""
    forking = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(count, forking, initializer=ready.append, initargs=(forking.Barrier(count),)) as pool:
        acting = [pool.submit(act_when_all_are_ready, command, arguments) for _ in range(count)]
        return [one.result() for one in acting]


ready: list[Barrier] = []  # in each process: the barrier at which all processes wait for each other


def act_when_all_are_ready(command: str, arguments: Sequence[int]) -> object:
    ready[0].wait(PATIENCE)  # with a timeout, in case another process failed to start
    return act(command, arguments)


def serve(test: Connection) -> None:
    """Run the commands that come from the test, each as a JSON list of count, command and arguments, until it hangs up.

    Answer each with the JSON list of its processes' results. A failed command ends this process.
    """
    while True:
        try:
            count, command, arguments = json.loads(test.recv_bytes())
        except EOFError:
            return
        test.send_bytes(json.dumps(act_together(count, command, arguments)).encode())


if __name__ == "__main__":
    first, *rest = sys.argv[1:]
    if first.isdigit():
        serve(Connection(int(first)))
    else:
        act(first, [*map(int, rest)])
