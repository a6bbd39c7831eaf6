"""The reference of the command line `a2a`, from its commands."""

import re
from collections.abc import Iterator
from typing import Any

import typer

from a2a_hub_client.cli.app import app
from a2a_hub_client.cli.command import SHARED

SHARED_BY_OPTION = {f"--{name.replace('_', '-')}" for name in SHARED}


def reference() -> str:
    """Return the options that every command of a hub has, then each command with its own."""
    root: Any = typer.main.get_command(app)
    with typer.Context(root, info_name="a2a") as context:
        names = root.list_commands(context)
        commands = {name: root.get_command(context, name) for name in names}
    shared = [one for one in commands["whoami"].params if _is_shared(one)]
    lines = ["## Options of every command of a hub", "", *_table(shared)]
    for name, command in commands.items():
        lines += ["", f"## `a2a {name}`", "", *_described(name, command)]
    return "\n".join([*lines, ""])


def _described(name: str, command: Any) -> Iterator[str]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield from _command(name, command)
        return
    yield _text(command.help)
    for word, one in inner.items():
        yield from ["", f"### `a2a {name} {word}`", "", *_command(f"{name} {word}", one)]


def _command(name: str, command: Any) -> Iterator[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not _is_shared(one)]
    words = " ".join(["a2a", name, *(one.metavar or "" for one in arguments), *(["[OPTIONS]"] if options else [])])
    yield from ["```text", words, "```", "", _text(command.help)]
    if arguments or options:
        yield from ["", *_table([*arguments, *options])]


def _table(parameters: list[Any]) -> list[str]:
    rows = [f"| `{_name(one)}` | {one.help or ''}{_required(one)} |" for one in parameters]
    return ["| Argument or option | |", "|---|---|", *(row.replace("<", "&lt;") for row in rows)]


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar).strip("[]")
    value = "" if parameter.is_flag else f" {parameter.metavar or _choices(parameter)}"
    return ", ".join(parameter.opts) + value


def _required(parameter: Any) -> str:
    return " Required." if parameter.required and parameter.param_type_name == "option" else ""


def _choices(parameter: Any) -> str:
    return ",".join(getattr(parameter.type, "choices", ())) or "VALUE"


def _is_shared(parameter: Any) -> bool:
    return bool(SHARED_BY_OPTION & set(parameter.opts))


def _text(help_text: str | None) -> str:
    return re.sub(r"(?<!\n)\n(?!\n)", " ", (help_text or "").strip())
