"""The reference of the Python client, from its classes."""

import inspect
import re
from collections.abc import Iterator, Mapping

from a2a_hub_client import FakeHub, Hub, LeaseEndedError, NewTask, Result, Retry, Task, TaskHandle
from a2a_hub_client._sync.connection import Connection
from a2a_hub_client.errors import HubError, NotNowError, RefusedError, ResultTimeoutError, UnreachableError

CALLED: Mapping[type, str] = {
    Hub: "hub",
    TaskHandle: "task",
    NewTask: "",
    Result: "result",
    Task: "task",
    FakeHub: "fake",
    Retry: "",
}
ERRORS = (HubError, RefusedError, NotNowError, UnreachableError, ResultTimeoutError, LeaseEndedError)
WIDEST = 100


def reference() -> str:
    """Return a section for each class, with its methods in the order of the code, and one for the errors."""
    lines = [line for kind, name in CALLED.items() for line in _class(kind, name)]
    return "\n".join([*lines, "## Errors", "", "| Error | |", "|---|---|", *map(_error, ERRORS), ""])


def _class(kind: type, name: str) -> Iterator[str]:
    yield from [f"## `{kind.__name__}`", "", _text(kind), "", *_signature(kind.__name__, kind), ""]
    for base in (each for each in kind.__mro__ if each.__module__.startswith("a2a_hub_client") and each != Connection):
        for word, member in vars(base).items():
            if not word.startswith("_") and inspect.isfunction(member) and _text(member) and name:
                yield from [f"### `{name}.{word}`", "", *_signature(word, member), "", _text(member), ""]
            elif isinstance(member, property) and not word.startswith("_") and name:
                yield from [f"### `{name}.{word}` (attribute)", "", _text(member), ""]


def _signature(word: str, member: object) -> list[str]:
    signature = inspect.signature(member)  # type: ignore[arg-type]
    parameters = [one for one in signature.parameters.values() if one.name not in ("self", "__init__")]
    parts = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(signature.replace(parameters=parameters)))
    text = f"{word}{parts}"
    if len(text) > WIDEST:
        inner, _, returned = parts[1:].rpartition(")")
        split = re.split(r", (?![^\[(]*[\])])", inner)
        text = "\n".join([f"{word}(", *(f"    {part}," for part in split), f"){returned}"])
    return ["```text", re.sub(r"a2a_hub_client\.|\bmodels\.(?=[A-Z])", "", text), "```"]


def _text(member: object) -> str:
    text = inspect.getdoc(member) or ""
    return text.replace("``", "`").replace("<", "&lt;")


def _error(kind: type) -> str:
    return f"| `{kind.__name__}` | {' '.join(_text(kind).split())} |"
