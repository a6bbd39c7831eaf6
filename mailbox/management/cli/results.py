"""``say``, ``messages``, ``artifacts``, ``post-result``, ``drain`` and ``delivered``. Source: A2A, messages."""

import sys
from argparse import Namespace
from datetime import timedelta
from typing import Any

from mailbox.access.callers import Caller
from mailbox.database.paging import Page
from mailbox.dialects.covenant import conversation_wire, wire
from mailbox.inspection import answers, conversation, lists, lookup
from mailbox.life import expiry, results
from mailbox.life.conversation import say
from mailbox.management.cli import arguments, output
from mailbox.management.cli.arguments import CURSOR, LIMIT, TASK, argument, command, number
from mailbox.models import Message
from mailbox.words.conversation import Words
from mailbox.words.envelopes import ResultEnvelope, ResultStatus
from mailbox.words.times import LONGEST_WAIT_MS


def add_commands(commands: arguments.Commands) -> None:
    _add_conversation_commands(commands)
    content = arguments.either(
        argument("--text", metavar="TEXT", help="the content, as one text block"),
        argument(
            "--content",
            type=arguments.json_objects("--content", "content blocks"),
            metavar="JSON",
            help='the content, as content blocks such as [{"type": "text", "text": "…"}]; '
            "other types: json, image, audio, resource, resource_link",
        ),
    )
    words = ("ok", "error", "partial", "rejected")
    command(
        commands,
        "post-result",
        _post,
        TASK,
        arguments.word("--status", "status", *words, required=True, help="how the work ended"),
        content,
        argument("--error-message", metavar="TEXT", help="why the work failed, or why the task is rejected"),
        argument("--message", metavar="TEXT", help="closing words beside the content"),
        argument(
            "--direct", action="store_true", help="the content itself is the answer: one message instead of a task"
        ),
        arguments.LEASE,
        help="post a task's result as its recipient",
    )
    sender = argument("name", metavar="NAME", help="the agent that sent the tasks")
    ack = arguments.identity("--ack", metavar="TASK_ID", help="first acknowledge the result of this task")
    what = "receive the oldest pending result of the tasks that an agent sent"
    command(commands, "drain", _drain, sender, arguments.WAIT, arguments.ATTEMPT, ack, help=what)
    what = "list the results that an agent received and did not acknowledge"
    command(commands, "delivered", _delivered, sender, LIMIT, CURSOR, help=what)


def _add_conversation_commands(commands: arguments.Commands) -> None:
    text = argument("text", metavar="TEXT", help="the message; - reads stdin")
    attempt = arguments.identity(
        "--attempt-id", help="id of this message; the same command can then be repeated safely"
    )
    what = "say more to the agent of a task as its sender, or answer a question"
    command(commands, "say", _say, TASK, text, attempt, help=what)
    after = number("--after", default=0, help="only messages after this number")
    wait = number(
        "--wait-ms",
        most=LONGEST_WAIT_MS,
        default=0,
        help=f"wait up to N milliseconds for a message, at most {LONGEST_WAIT_MS} (default: 0)",
    )
    what = "read the conversation of a task, and wait for more"
    command(commands, "messages", _messages, TASK, after, wait, LIMIT, help=what)
    command(commands, "artifacts", _artifacts, TASK, LIMIT, CURSOR, help="read the artifacts of a task")


def _post(options: Namespace) -> str:
    content = [{"type": "text", "text": options.text}] if options.text is not None else options.content or []
    envelope = ResultEnvelope(
        task_id=options.task_id,
        status=ResultStatus(options.status),
        content=content,
        error_message=options.error_message,
        lease_id=options.lease_id,
        message=[] if options.message is None else [{"type": "text", "text": options.message}],
        direct=options.direct,
    )
    posted = results.post_result(Caller.command_line(lookup.recipient_of(options.task_id)), envelope)
    return output.answer(options, wire.posted(posted), f"posted {posted.status} for task {posted.task.uuid}")


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
    return output.lines([*output.columns(rows), *_more(page)], none="(no result waits for an acknowledgement)")


def _say(options: Namespace) -> str:
    text = sys.stdin.read() if options.text == "-" else options.text
    caller = Caller.command_line(lookup.sender_of(options.task_id))
    words = Words(content=[{"type": "text", "text": text}])
    sent = say(caller, options.task_id, words, attempt_id=options.attempt_id)
    return output.answer(options, conversation_wire.sent(sent), f"sent turn {sent.turn} of task {options.task_id}")


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
    return "\n\n".join([*map(_artifact, made["artifacts"]), *_more(page)]) or "(no artifact)"


def _more(page: Page[Any]) -> list[str]:
    return [f"(more: --cursor {page.next_cursor})"] if page.next_cursor else []


def _artifact(shown: conversation_wire.WireArtifact) -> str:
    named = f": {shown['name']}" if "name" in shown else ""
    part = "  (continued)" if shown["append"] else ""
    state = "" if shown["last_chunk"] else "  (no last chunk)"
    return "\n".join([f"{shown['artifact_id']}{named}{part}{state}", *output.blocks(shown["content"])])
