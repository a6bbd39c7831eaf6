"""``say``, ``messages``, ``artifacts``. Source: A2A, messages and artifacts."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from datetime import timedelta

from mailbox.access.callers import Caller
from mailbox.dialects.covenant import conversation_wire as wire
from mailbox.inspection import conversation, lookup
from mailbox.life import expiry
from mailbox.life.conversation import say
from mailbox.management.cli import arguments, output
from mailbox.models import Message
from mailbox.words.conversation import Words
from mailbox.words.times import LONGEST_WAIT_MS


def add_commands(commands: arguments.Commands) -> None:
    speak = commands.add_parser("say", help="say more to the agent of a task as its sender, or answer a question")
    _add_task(speak)
    speak.add_argument("text", metavar="TEXT", help="the message; - reads stdin")
    speak.add_argument(
        "--attempt-id",
        type=arguments.uuid("--attempt-id"),
        metavar="UUID",
        help="id of this message; the same command can then be repeated safely",
    )
    arguments.add_json(speak)
    speak.set_defaults(run=_say)

    read = commands.add_parser("messages", help="read the conversation of a task, and wait for more")
    _add_task(read)
    read.add_argument(
        "--after", type=arguments.integer("--after"), default=0, metavar="N", help="only messages after this number"
    )
    read.add_argument(
        "--wait-ms",
        type=arguments.integer("--wait-ms", most=LONGEST_WAIT_MS),
        default=0,
        metavar="N",
        help=f"wait up to N milliseconds for a message, at most {LONGEST_WAIT_MS} (default: 0)",
    )
    arguments.add_limit(read)
    arguments.add_json(read)
    read.set_defaults(run=_messages)

    made = commands.add_parser("artifacts", help="read the artifacts of a task")
    _add_task(made)
    arguments.add_limit(made)
    made.add_argument("--cursor", metavar="CURSOR", help="the next_cursor of the page before")
    arguments.add_json(made)
    made.set_defaults(run=_artifacts)


def _add_task(parser: ArgumentParser) -> None:
    parser.add_argument("task_id", type=arguments.uuid("task-id"), metavar="TASK_ID", help="the task")


def _say(options: Namespace) -> str:
    text = sys.stdin.read() if options.text == "-" else options.text
    caller = Caller.command_line(lookup.sender_of(options.task_id))
    words = Words(content=[{"type": "text", "text": text}])
    sent = say(caller, options.task_id, words, attempt_id=options.attempt_id)
    if options.json:
        return output.as_json(wire.sent(sent))
    return f"sent turn {sent.turn} of task {options.task_id}"


def _messages(options: Namespace) -> str:
    read = expiry.read(
        Caller.command_line(),
        options.task_id,
        lambda _: conversation.read(Caller.command_line(), options.task_id, after=options.after, limit=options.limit),
        wait=timedelta(milliseconds=options.wait_ms),
    )
    if options.json:
        return output.as_json(wire.messages(read))
    more = [f"(more: --after {read.next_after})"] if read.page.next_cursor else []
    if read.question is not None:
        more = [f"(the agent asks for {read.task.awaits}, without words: --after {read.question})"]
    return "\n\n".join([*map(_message, read.page.items), *more]) or "(no message)"


def _message(row: Message) -> str:
    shown = wire.message(row)
    author = row.task.sender if row.role == Message.Role.USER else row.task.recipient
    progress = shown.get("progress")
    done = [f"{progress['fraction']:.0%} {progress['note']}".rstrip()] if progress else []
    head = f"{row.seq}  {output.moment(row.said_at)}  {author.display}"
    return "\n".join([head, *done, *output.blocks(shown["content"])])


def _artifacts(options: Namespace) -> str:
    page = conversation.artifacts(Caller.command_line(), options.task_id, limit=options.limit, cursor=options.cursor)
    made = wire.artifacts(options.task_id, page)
    if options.json:
        return output.as_json(made)
    more = [f"(more: --cursor {page.next_cursor})"] if page.next_cursor else []
    return "\n\n".join([*map(_artifact, made["artifacts"]), *more]) or "(no artifact)"


def _artifact(shown: wire.WireArtifact) -> str:
    named = f": {shown['name']}" if "name" in shown else ""
    part = "  (continued)" if shown["append"] else ""
    state = "" if shown["last_chunk"] else "  (no last chunk)"
    return "\n".join([f"{shown['artifact_id']}{named}{part}{state}", *output.blocks(shown["content"])])
