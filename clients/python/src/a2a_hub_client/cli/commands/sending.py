"""``a2a task send`` and ``a2a ask``. A file has one body of ``POST /a2a/tasks`` on each line."""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

import msgspec
import typer

from a2a_hub_client.cli import options, watching
from a2a_hub_client.cli.command import CommandError, Session, alone, argument, command, option
from a2a_hub_client.cli.options import AgentName, moment, reader, seconds, span, whole_id
from a2a_hub_client.errors import RefusedError

BATCH = 100  # tasks of one request
LONGEST_PAUSE = 15.0  # seconds before tasks beyond a quota are sent again
_LATER = "rate_limited", "quota_exceeded"


@dataclass(slots=True)
class _Line:
    number: int
    body: msgspec.Raw


@dataclass(slots=True)
class _Count:
    sent: int = 0
    bad: list[dict[str, Any]] = field(default_factory=list)


def lines_of(path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not empty, with their numbers; - is stdin. Raises `CommandError`."""
    try:
        with nullcontext(typer.get_text_stream("stdin")) if path == "-" else Path(path).open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, line.strip()
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is no text in UTF-8: {error}") from error


def send_lines(session: Session, lines: Iterator[tuple[int, str]], *, to: str | None, run: str) -> None:
    """Send a task for each line, under an id that is made from the line. Raises `CommandError` if lines were bad.

    A line that is larger than the hub accepts is a bad one. The other lines are sent.
    """
    from a2a_hub_client._calls import MOST_BYTES, batches

    me = session.read("/a2a/me")["agent"]
    if me is None:
        raise CommandError("people send no tasks: use the key of an agent")
    count = _Count()
    read = _read(lines, count, sender=me["pubkey"], to=to, run=run)
    try:
        with _Bar() as advance:
            for batch in batches(read, most=BATCH, most_bytes=MOST_BYTES, size=_size):
                _send_fitting(session, batch, count)
                advance(len(batch))
    finally:
        _report(session, count)
    if count.bad:
        raise CommandError(f"{len(count.bad)} of the lines were not sent")


def _read(lines: Iterator[tuple[int, str]], count: _Count, *, sender: str, to: str | None, run: str) -> Iterator[_Line]:
    """Yield the tasks of the lines. Equal lines are tasks of their own."""
    seen: Counter[str] = Counter()
    for number, text in lines:
        try:
            body = msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            count.bad.append({"line": number, "code": "invalid_json", "message": str(error)})
            continue
        if not isinstance(body, dict):
            count.bad.append({"line": number, "code": "invalid_request", "message": "the line is no JSON object"})
            continue
        if "recipient" not in body and to is not None:
            body["recipient"] = to
            text = f"{to}\n{text}"
        seen[text] += 1
        body.setdefault(
            "id", str(uuid5(NAMESPACE_URL, "\n".join(["a2a task send", sender, run, str(seen[text]), text])))
        )
        yield _Line(number, msgspec.Raw(msgspec.json.encode(body)))


def _size(line: _Line) -> int:
    return len(bytes(line.body))


def _send_fitting(session: Session, batch: list[_Line], count: _Count) -> None:
    """Send the tasks in requests that the hub, or a proxy before it, accepts. A task that is too large is a bad one."""
    try:
        _send_batch(session, batch, count)
    except RefusedError as error:
        if error.status != HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            raise
        if len(batch) == 1:
            message = f"the task has {_size(batch[0])} bytes: {error}"
            count.bad.append({"line": batch[0].number, "code": "body_too_large", "message": message})
            return
        middle = len(batch) // 2
        for half in (batch[:middle], batch[middle:]):
            _send_fitting(session, half, count)


def _send_batch(session: Session, batch: list[_Line], count: _Count) -> None:
    """Send the tasks until each is stored or refused. Tasks beyond a quota wait for room."""
    from a2a_hub_client import _calls

    waiting, pause = batch, 0.5
    while waiting:
        answer = session.perform(_calls.send_many([line.body for line in waiting]))
        count.sent += len(answer["posted"])
        refused = [(waiting[item["index"]], item) for item in answer["refused"]]
        count.bad += [
            {"line": line.number, "code": item["code"], "message": item["message"]}
            for line, item in refused
            if item["code"] not in _LATER
        ]
        later = [(line, item) for line, item in refused if item["code"] in _LATER]
        waiting = [line for line, _ in later]
        if later:
            line, item = later[0]
            session.printer.note(f"line {line.number} waits: {item['message']}")
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)


def _report(session: Session, count: _Count) -> None:
    if not session.printer.is_for_people:
        session.printer.document({"sent": count.sent, "refused": count.bad})
        return
    session.printer.text(f"{count.sent} tasks are at the hub")
    for bad in count.bad:
        session.printer.note(f"line {bad['line']}: {bad['message']}")


class _Bar(AbstractContextManager[Any]):
    """The progress of the lines on stderr, nothing if that is no terminal."""

    def __enter__(self) -> Any:
        if not sys.stderr.isatty():
            return lambda number: None
        from rich.console import Console
        from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = SpinnerColumn(), TextColumn("tasks"), MofNCompleteColumn(), TimeElapsedColumn()
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._progress.start()
        row = self._progress.add_task("tasks", total=None)
        return lambda number: self._progress.advance(row, number)

    def __exit__(self, *_: object) -> None:
        if hasattr(self, "_progress"):
            self._progress.stop()


To = Annotated[
    str | None,
    typer.Argument(
        metavar="[AGENT]", help="The name of the agent that does the work.", autocompletion=options.agent_names
    ),
]
Text = Annotated[str | None, argument("[TEXT]", "The work; - reads stdin.")]


def send(
    session: Session,
    to: To = None,
    text: Text = None,
    file: Annotated[
        str | None,
        option("--file", "FILE", "Send a task for each line of JSON; - reads stdin.", "-f"),
    ] = None,
    run: Annotated[str, option("--run", "NAME", "With --file: another name sends it again.")] = "",
    task_id: Annotated[UUID | None, option("--id", "UUID", "The id of the task.", parser=reader(whole_id))] = None,
    kind: Annotated[str | None, option("--kind", "KIND", "The kind of the task.")] = None,
    parent: Annotated[
        UUID | None, option("--parent", "UUID", "The task it is a part of.", parser=reader(whole_id))
    ] = None,
    deadline: Annotated[
        str | None, option("--deadline", "TIME", "When a queued task expires: ISO 8601, or 2h.")
    ] = None,
    work_timeout: Annotated[str | None, option("--work-timeout", "SPAN", "How long one agent may work on it.")] = None,
    key: Annotated[str | None, option("--key", "KEY", "The work may be done twice; the key is its name.")] = None,
    callback_url: Annotated[
        str | None, option("--callback-url", "URL", "Where the hub posts the end of the task.")
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Show the task until it is done, like `a2a task watch`.")
    ] = False,
    timeout: Annotated[str | None, option("--timeout", "SPAN", "With --wait: how long.")] = None,
) -> None:
    """Send a task to an agent, as the agent of the key.

    With --file the lines are bodies of `POST /a2a/tasks`, and AGENT is the recipient of lines without one. The same
    file can be sent again: no task is sent twice. A bad line keeps no other line from being sent, nor does a line
    that is larger than the hub accepts. The command then names it and exits with 1.
    """
    if file is not None:
        if text is not None:
            raise typer.BadParameter("give a TEXT or a --file, not both")
        send_lines(session, lines_of(file), to=to, run=run)
        return
    if to is None or text is None:
        raise typer.BadParameter("give an AGENT and a TEXT, or a --file")
    from a2a_hub_client import NewTask, _calls

    words = typer.get_text_stream("stdin").read() if text == "-" else text
    new = NewTask(
        to=to,
        text=words,
        id=task_id or uuid4(),
        kind=kind,
        parent=parent,
        deadline=moment("--deadline", deadline),
        work_timeout=span("--work-timeout", work_timeout),
        idempotency_key=key,
        callback_url=callback_url,
    )
    limit = seconds("--timeout", timeout)
    answer = session.perform(_calls.send(new.body()))
    if not wait:
        session.printer.answer(answer, lambda: str(answer["task_id"]))
        return
    session.printer.note(f"task {answer['task_id']}")
    watching.follow(session, answer["task_id"], after=watching.TEXT, timeout=limit, answers=True)


ask_app = alone()


@command(ask_app, is_long=True)
def ask(
    session: Session,
    agent: AgentName,
    text: Annotated[str, argument("TEXT", "The work; - reads stdin.")],
    timeout: Annotated[str | None, option("--timeout", "SPAN", "Exit with 8 after that long.")] = None,
) -> None:
    """Send an agent a task, and show what it says until the task is done.

    At a terminal the command asks for the answer to a question of the agent. The result is acknowledged, so
    `a2a result next` does not show it again. The exit codes are those of `a2a task watch`.
    """
    from a2a_hub_client import _calls
    from a2a_hub_client.models.tasks import NewTask

    limit = seconds("--timeout", timeout)
    words = typer.get_text_stream("stdin").read() if text == "-" else text
    task_id = session.perform(_calls.send(NewTask(to=agent, text=words, id=uuid4()).body()))["task_id"]
    watching.follow(session, task_id, after=watching.TEXT, timeout=limit, answers=True, is_acked=True)
