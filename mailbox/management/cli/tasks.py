"""``send``, ``recv``."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from datetime import timedelta

from django.core.management.base import CommandError

from mailbox.access.callers import Caller
from mailbox.dialects.covenant import conversation_wire, wire
from mailbox.inspection import conversation
from mailbox.life import leasing, sending
from mailbox.management.cli import arguments, output
from mailbox.management.cli.arguments import WRONG_USAGE, argument, command, identity, number
from mailbox.words import times
from mailbox.words.envelopes import MAX_DEADLINE_MS, AgentRef, DuplicateSafety, Idempotency, TaskEnvelope

OF_ONE_TASK = ("id", "kind", "parent", "deadline_ms", "work_timeout_ms", "idempotency_key", "duplicate_safety")


def add_commands(commands: arguments.Commands) -> None:
    command(
        commands,
        "send",
        _send,
        argument("--from", dest="sender", required=True, metavar="NAME", help="the agent that sends"),
        argument(
            "--to",
            dest="recipient",
            metavar="NAME",
            help="the agent that receives; with --file, the recipient of the lines that name none",
        ),
        arguments.either(
            argument("text", nargs="?", metavar="TEXT", help="what to do; - reads stdin"),
            argument(
                "--file",
                metavar="FILE",
                help="send one task per line, each the JSON body of POST /a2a/tasks; - reads stdin. The same command "
                "can be repeated: it sends no task twice",
            ),
            required=True,
        ),
        argument(
            "--run",
            dest="run_name",
            metavar="NAME",
            help="with --file: a name of this run; the same file under another name makes new tasks",
        ),
        *_of_one_task(),
        help="send a task as an agent, or the tasks of a file",
    )
    name = argument("name", metavar="NAME", help="the agent that receives")
    what = "lease the oldest queued task of an agent"
    command(commands, "recv", _recv, name, arguments.WAIT, arguments.ATTEMPT, help=what)


def _of_one_task() -> Sequence[arguments.Argument]:
    return (
        identity("--id", help="the task's id; the same command can then be repeated safely (default: random)"),
        argument("--kind", metavar="KIND", help="the kind of work; duplicates have the same kind"),
        identity("--parent", help="the task that this task belongs to"),
        number(
            "--deadline-ms",
            most=MAX_DEADLINE_MS,
            help="epoch ms; the task expires if it is still queued then (default: never)",
        ),
        number(
            "--work-timeout-ms",
            least=1,
            most=times.LONGEST_MS,
            help="the task expires N milliseconds after it was leased (default: never)",
        ),
        argument(
            "--idempotency-key",
            metavar="KEY",
            help="tasks with the same key ask for the same work; needs --duplicate-safety",
        ),
        arguments.word(
            "--duplicate-safety",
            "duplicate safety",
            "unsafe",
            "idempotent",
            help="whether doing the work twice is safe; needs --idempotency-key",
        ),
    )


def _send(options: Namespace) -> str:
    if options.file is not None:
        return _send_file(options)
    if options.recipient is None:
        raise CommandError("give --to", returncode=WRONG_USAGE)
    if options.run_name is not None:
        raise CommandError("--run goes with --file", returncode=WRONG_USAGE)
    envelope = TaskEnvelope(
        id=options.id,
        recipient=AgentRef.parse(options.recipient, "--to"),
        intent_text=sys.stdin.read() if options.text == "-" else options.text,
        task_kind=options.kind,
        parent=options.parent,
        deadline_ms=options.deadline_ms,
        work_timeout=times.from_ms(options.work_timeout_ms),
        idempotency=_idempotency(options),
    )
    task = sending.send_task(Caller.command_line(arguments.agent(options.sender)), envelope)
    return output.answer(options, wire.queued(task), str(task.uuid))


def _send_file(options: Namespace) -> str:
    # Imported here, so that the other commands start without pydantic and Django REST framework.
    from mailbox.management.cli.send_file import send_file

    misplaced = [f"--{name.replace('_', '-')}" for name in OF_ONE_TASK if getattr(options, name) is not None]
    if misplaced:
        raise CommandError(f"{misplaced[0]} does not go with --file: write it into the lines", returncode=WRONG_USAGE)
    return send_file(options)


def _idempotency(options: Namespace) -> Idempotency | None:
    key, safety = options.idempotency_key, options.duplicate_safety
    if (key is None) != (safety is None):
        raise CommandError("give both --idempotency-key and --duplicate-safety, or neither", returncode=WRONG_USAGE)
    return None if key is None else Idempotency(duplicate_safety=DuplicateSafety(safety), key=key)


def _recv(options: Namespace) -> str:
    caller = Caller.command_line(arguments.agent(options.name))
    wait = timedelta(milliseconds=options.wait_ms)
    lease = leasing.next_task(caller, attempt_id=options.attempt_id, wait=wait)
    newest = conversation.newest_of_senders([lease.task] if lease else ())
    if options.json:
        leased = conversation_wire.leased(lease, newest) if lease else None
        return output.as_json(
            conversation_wire.next_task(leased, spent=lease is None and leasing.is_spent(caller, options.attempt_id))
        )
    return output.lease(lease, newest.get(lease.task_id)) if lease else "(no task waits)"
