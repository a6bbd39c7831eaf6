"""Commands that show something anew, and the conversation of a task while it goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import typer

from a2a_hub_client.cli import tables
from a2a_hub_client.cli.command import CommandError, Session
from a2a_hub_client.retry import Patience

TEXT = 1  # the number of the message that is the task's text
EVERY = 2.0  # seconds between two looks at a list
LIVE_POLL = 2.0  # seconds; a terminal shows changes of the state that come without a message
STILL_AT_WORK = 8
EXIT_CODES: Mapping[str, int] = {"error": 3, "expired": 3, "rejected": 4, "cancelled": 5}
QUESTIONS: Mapping[str, int] = {"input": 6, "authorization": 7}

Page = Mapping[str, Any]


def again_and_again(session: Session, show: Callable[[], None]) -> None:
    """Show something until Ctrl-C, each time on a cleared screen if people read it."""
    while True:
        if session.printer.is_for_people and tables.is_terminal():
            typer.echo("\x1b[2J\x1b[H", nl=False)
        show()
        time.sleep(EVERY)


def pages(session: Session, task_id: str, *, after: int, patience: Patience, poll: float) -> Iterator[Page]:
    """Yield pages of the task's messages until it is resolved. Raises `CommandError` when the patience is over."""
    from a2a_hub_client import _calls

    while True:
        page = session.perform(_calls.messages(task_id, after=after, wait=patience.left(most=poll)))
        yield page
        if page["messages"]:
            after = page["messages"][-1]["seq"]
        if page["next_after"] is None and page["state"] == "resolved":
            return
        after = page["next_after"] or after
        if patience.is_over:
            raise CommandError(f"task {task_id} is still at work", code=STILL_AT_WORK)


def follow(
    session: Session,
    task_id: str,
    *,
    after: int = 0,
    timeout: float | None = None,
    answers: bool = False,
    is_acked: bool = False,
) -> None:
    """Show a task until it is resolved: its messages, its progress, its questions and its result.

    ``timeout`` is in seconds, None for ever. With ``answers`` a person at the terminal answers questions. ``is_acked``:
    the result is acknowledged, as its sender. Raises `CommandError` with the exit code of the outcome, unless the work
    was done.
    """
    patience = Patience(timeout)
    is_live = session.printer.is_for_people and tables.is_terminal()
    screen = _Live(session, task_id) if is_live else _Lines(session)
    last: Page = {}
    with screen:
        for page in pages(session, task_id, after=after, patience=patience, poll=LIVE_POLL if is_live else 50.0):
            screen.show(page)
            question = page.get("awaits") if page["next_after"] is None or not page["messages"] else None
            if question and question != last.get("awaits"):
                if not (answers and sys.stdin.isatty()):
                    raise CommandError(
                        f"task {task_id} asks for {question}: `a2a task say {task_id} TEXT` answers",
                        code=QUESTIONS.get(question, STILL_AT_WORK),
                    )
                screen.pause()
                say(session, task_id, typer.prompt(">", prompt_suffix=" "))
                screen.go_on()
            last = page
    end(session, task_id, is_acked=is_acked)


def end(session: Session, task_id: str, *, is_acked: bool) -> None:
    """Show the result of a resolved task. Raises `CommandError` with the exit code of the outcome."""
    entry = session.ask(lambda hub: hub.task(task_id).entry())["entry"]
    answer = session.read(f"/a2a/tasks/{task_id}/result")
    result, outcome = answer["result"], entry.get("outcome") or ""
    if not session.printer.is_for_people:
        session.printer.document(answer)
    elif result is not None and (text := tables.content(result["content"])):
        session.printer.text(text)
    if is_acked and result is not None:
        session.ask(lambda hub: hub.ack([task_id]))
    if code := EXIT_CODES.get(outcome):
        why = (result or {}).get("error_message") or ""
        raise CommandError(why if why.startswith(outcome) else f"{outcome}: {why}".removesuffix(": "), code=code)


def say(session: Session, task_id: str, text: str) -> Any:
    """Send a further message to the agent of a task, and return the hub's answer."""
    return session.ask(lambda hub: hub.task(task_id).say(text))


class _Lines:
    """Shows a task as lines, or as the hub's JSON."""

    def __init__(self, session: Session) -> None:
        self._printer = session.printer
        self._state = ""

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, page: Page) -> None:
        """Show what is new."""
        if not self._printer.is_for_people:
            for message in page["messages"]:
                self._printer.document(message)
            return
        for message in page["messages"]:
            self.line(message_line(message))
        if page["state"] != self._state and page["state"] != "resolved":
            self._state = page["state"]
            self.line(f"[{tables.state(page)}]")

    def line(self, text: str) -> None:
        """Print one line."""
        self._printer.text(text)

    def pause(self) -> None:
        """Leave the terminal to a person."""

    def go_on(self) -> None:
        """Take the terminal again."""


class _Live(_Lines):
    """Shows a task as lines. The last line tells its state, its progress and the time."""

    def __init__(self, session: Session, task_id: str) -> None:
        from rich.live import Live
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        super().__init__(session)
        self._bar = Progress(
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), auto_refresh=False
        )
        self._row = self._bar.add_task(task_id[: tables.SHORT_ID], total=None)
        self._task_id = task_id
        self._live = Live(self._bar, console=tables.console(), transient=True, refresh_per_second=5)

    def __enter__(self) -> _Live:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, page: Page) -> None:
        """Show what is new, and the state in the last line."""
        for message in page["messages"]:
            self.line(message_line(message))
            if report := message.get("progress"):
                self._bar.update(self._row, total=1.0, completed=report["fraction"])
        self._bar.update(self._row, description=f"{self._task_id[: tables.SHORT_ID]} {tables.state(page)}")

    def line(self, text: str) -> None:
        """Print a line above the last one."""
        self._live.console.print(tables.printable(text), markup=False, highlight=False)

    def pause(self) -> None:
        """Leave the terminal to a person."""
        self._live.stop()

    def go_on(self) -> None:
        """Take the terminal again."""
        self._live.start()


def message_line(message: Page) -> str:
    """Return a message, or a report of progress, as a line."""
    if report := message.get("progress"):
        return tables.progress(report)
    prefix = "> " if message["role"] == "user" else ""
    return prefix + tables.content(message["content"])
