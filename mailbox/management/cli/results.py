"""``say``, ``messages``, ``artifacts``, ``post-result``, ``drain`` and ``delivered``. Source: A2A, messages."""

import sys
from argparse import ArgumentParser, Namespace
from datetime import timedelta
from typing import Any

from mailbox.access.callers import Caller
from mailbox.dialects.covenant import conversation_wire, wire
from mailbox.inspection import answers, conversation, lists, lookup
from mailbox.life import expiry, results
from mailbox.life.conversation import say
from mailbox.management.cli import arguments, output
from mailbox.models import Message
from mailbox.words.conversation import Words
from mailbox.words.envelopes import ResultEnvelope, ResultStatus
from mailbox.words.times import LONGEST_WAIT_MS


def add_commands(commands: arguments.Commands) -> None:
    add_conversation_commands(commands)
    _add_post(commands)
    _add_drain(commands)
    _add_delivered(commands)


def _add_post(commands: arguments.Commands) -> None:
    post = commands.add_parser("post-result", help="post a task's result as its recipient")
    post.add_argument("task_id", type=arguments.uuid("task-id"), metavar="TASK_ID", help="the task")
    post.add_argument(
        "--status",
        required=True,
        type=arguments.one_of("status", "ok", "error", "partial", "rejected"),
        metavar="ok|error|partial|rejected",
        help="how the work ended",
    )
    content = post.add_mutually_exclusive_group()
    content.add_argument("--text", metavar="TEXT", help="the content, as one text block")
    content.add_argument(
        "--content",
        type=arguments.json_objects("--content", "content blocks"),
        metavar="JSON",
        help='the content, as content blocks such as [{"type": "text", "text": "…"}]; '
        "other types: json, image, audio, resource, resource_link",
    )
    post.add_argument("--error-message", metavar="TEXT", help="why the work failed, or why the task is rejected")
    post.add_argument("--message", metavar="TEXT", help="closing words beside the content")
    post.add_argument(
        "--direct", action="store_true", help="the content itself is the answer: one message instead of a task"
    )
    post.add_argument(
        "--lease-id", type=arguments.uuid("--lease-id"), metavar="UUID", help="refuse unless this lease is live"
    )
    arguments.add_json(post)
    post.set_defaults(run=_post)


def _add_drain(commands: arguments.Commands) -> None:
    drain = commands.add_parser("drain", help="receive the oldest pending result of the tasks that an agent sent")
    drain.add_argument("name", metavar="NAME", help="the agent that sent the tasks")
    arguments.add_receiving(drain)
    drain.add_argument(
        "--ack", type=arguments.uuid("--ack"), metavar="TASK_ID", help="first acknowledge the result of this task"
    )
    arguments.add_json(drain)
    drain.set_defaults(run=_drain)


def _add_delivered(commands: arguments.Commands) -> None:
    delivered = commands.add_parser("delivered", help="list the results that an agent received and did not acknowledge")
    delivered.add_argument("name", metavar="NAME", help="the agent that sent the tasks")
    arguments.add_limit(delivered)
    delivered.add_argument("--cursor", metavar="CURSOR", help="the next_cursor of the page before")
    arguments.add_json(delivered)
    delivered.set_defaults(run=_delivered)


def _post(options: Namespace) -> str:
    envelope = ResultEnvelope(
        task_id=options.task_id,
        status=ResultStatus(options.status),
        content=_blocks(options),
        error_message=options.error_message,
        lease_id=options.lease_id,
        message=[] if options.message is None else [{"type": "text", "text": options.message}],
        direct=options.direct,
    )
    posted = results.post_result(Caller.command_line(lookup.recipient_of(options.task_id)), envelope)
    if options.json:
        return output.as_json(wire.posted(posted))
    return f"posted {posted.status} for task {posted.task.uuid}"


def _blocks(options: Namespace) -> list[dict[str, Any]]:
    if options.text is not None:
        return [{"type": "text", "text": options.text}]
    return options.content or []


def _drain(options: Namespace) -> str:
    caller = Caller.command_line(arguments.agent(options.name))
    wait = timedelta(milliseconds=options.wait_ms)
    result = results.next_result(caller, attempt_id=options.attempt_id, ack=options.ack, wait=wait)
    if options.json:
        spent = result is None and results.is_spent(caller, options.attempt_id)
        return output.as_json(wire.next_result(result, answers.beside([result] if result else ()), spent=spent))
    return output.result(result, answers.whole_of(result)) if result else "(no result waits)"


def _delivered(options: Namespace) -> str:
    caller = Caller.command_line(arguments.agent(options.name))
    page = lists.delivered_results(caller, limit=options.limit, cursor=options.cursor)
    if options.json:
        return output.as_json(wire.delivered_page(page, answers.beside(page.items)))
    rows = [(str(row.task.uuid), row.status, output.moment(row.delivered_at or row.posted_at)) for row in page.items]
    more = [f"(more: --cursor {page.next_cursor})"] if page.next_cursor else []
    return output.lines(
        [*(output.columns(rows) if rows else ()), *more], none="(no result waits for an acknowledgement)"
    )


def add_conversation_commands(commands: arguments.Commands) -> None:
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
        return output.as_json(conversation_wire.sent(sent))
    return f"sent turn {sent.turn} of task {options.task_id}"


def _messages(options: Namespace) -> str:
    read = expiry.read(
        Caller.command_line(),
        options.task_id,
        lambda _: conversation.read(Caller.command_line(), options.task_id, after=options.after, limit=options.limit),
        wait=timedelta(milliseconds=options.wait_ms),
    )
    if options.json:
        return output.as_json(conversation_wire.messages(read))
    more = [f"(more: --after {read.next_after})"] if read.page.next_cursor else []
    if read.question is not None:
        more = [f"(the agent asks for {read.task.awaits}, without words: --after {read.question})"]
    return "\n\n".join([*map(_message, read.page.items), *more]) or "(no message)"


def _message(row: Message) -> str:
    shown = conversation_wire.message(row)
    author = row.task.sender if row.role == Message.Role.USER else row.task.recipient
    progress = shown.get("progress")
    done = [f"{progress['fraction']:.0%} {progress['note']}".rstrip()] if progress else []
    head = f"{row.seq}  {output.moment(row.said_at)}  {author.display}"
    return "\n".join([head, *done, *output.blocks(shown["content"])])


def _artifacts(options: Namespace) -> str:
    page = conversation.artifacts(Caller.command_line(), options.task_id, limit=options.limit, cursor=options.cursor)
    made = conversation_wire.artifacts(options.task_id, page)
    if options.json:
        return output.as_json(made)
    more = [f"(more: --cursor {page.next_cursor})"] if page.next_cursor else []
    return "\n\n".join([*map(_artifact, made["artifacts"]), *more]) or "(no artifact)"


def _artifact(shown: conversation_wire.WireArtifact) -> str:
    named = f": {shown['name']}" if "name" in shown else ""
    part = "  (continued)" if shown["append"] else ""
    state = "" if shown["last_chunk"] else "  (no last chunk)"
    return "\n".join([f"{shown['artifact_id']}{named}{part}{state}", *output.blocks(shown["content"])])
