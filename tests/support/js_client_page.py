"""The reference of the JavaScript client, from the comments of its classes."""

import re
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "clients" / "javascript" / "src"
CLASSES = {
    "Hub": "hub.ts",
    "TaskHandle": "handle.ts",
    "TaskResult": "result.ts",
    "WorkerTask": "worker/task.ts",
}
CALLED = {"Hub": "hub", "TaskHandle": "task", "TaskResult": "result", "WorkerTask": "task"}
_COMMENT = r"/\*\*((?:(?!\*/).)*)\*/\n"
_CLASS = r"(?:^{comment})?^export class {name}\b[^\n]*{{\n(.*?)^}}$"
_PARAMETERS = r"\([^{}]*?(?:{[^{}]*}[^{}]*?)*\)"
_MEMBER = re.compile(
    rf"(?:^  {_COMMENT})?^  (?:async )?(?:\*\s*)?(get )?(?!constructor)([a-z]\w*)({_PARAMETERS}: [^\n]*?) {{$",
    re.MULTILINE | re.DOTALL,
)


def reference() -> str:
    """Return a section for each class, with its methods and attributes in the order of the code."""
    return "\n".join(line for name in CLASSES for line in _class(name))


def _class(name: str) -> Iterator[str]:
    source = (SOURCES / CLASSES[name]).read_text()
    pattern = _CLASS.format(comment=_COMMENT, name=name)
    (found,) = re.findall(pattern, source, re.MULTILINE | re.DOTALL)
    comment, body = found
    yield from [f"## `{name}`", "", *([_text(comment), ""] if comment else [])]
    for said, is_attribute, word, rest in _MEMBER.findall(body):
        kind = " (attribute)" if is_attribute else ""
        signature = f"{word}{rest.removeprefix('()')}" if is_attribute else f"{word}{rest}"
        yield from [f"### `{CALLED[name]}.{word}`{kind}", "", "```ts", signature, "```", ""]
        yield from [_text(said), ""] if said else []


def _text(comment: str) -> str:
    lines = [line.strip().removeprefix("*").strip() for line in comment.strip().splitlines()]
    return " ".join(lines).replace("<", "&lt;")
