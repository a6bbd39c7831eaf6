"""The orchestrator's output: a report joined from all results, and the tree of tasks."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import document

Node = Mapping[str, Any]


def assemble(name: str, sections: Sequence[str], parts: Sequence[Sequence[Node]]) -> str:
    """Return the report. ``parts`` holds the tasks of each section, in the order of ``sections``."""
    words = sum(_value(node).get("words", 0) for nodes in parts for node in nodes if _kind(node) == "word-count")
    findings = [
        "\n".join([f"[{number}] {document.title(section)}", *map(_finding, nodes)])
        for number, (section, nodes) in enumerate(zip(sections, parts, strict=True), 1)
    ]
    noun = "section" if len(sections) == 1 else "sections"
    return "\n\n".join([f"{name}: {len(sections)} {noun}, {words:,} words", *findings])


def draw_tree(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield one line per task, depth first, as ``/a2a/tasks/<id>/tree`` lists them."""
    for index, node in enumerate(nodes):
        depth = node["depth"]
        later = next((other["depth"] for other in nodes[index + 1 :] if other["depth"] <= depth), -1)
        branch = "" if depth == 0 else "   " * (depth - 1) + ("├─ " if later == depth else "└─ ")
        task = node["task"]
        ended = node["outcome"] or node["state"]
        yield (
            f"{branch}{task['id'][:8]}  {task['task_kind']} by {task['recipient']['display']}: "
            f"{ended}, attempt {node['attempt']}  ({document.title(task['intent_text'])})"
        )


def _kind(child: Node) -> str:
    kind: str = child["task"]["task_kind"]
    return kind


def _finding(child: Node) -> str:
    kind = _kind(child)
    result = child["result"]
    if result is None or result["status"] != "ok":
        return f"    {kind}: failed: {(result or {}).get('error_message', 'no result')}"
    value = _value(child)
    match kind:
        case "word-count":
            said = f"{value['words']:,}, {value['distinct']:,} of them distinct"
        case "longest-sentence":
            said = f"{value['words']} words: {textwrap.shorten(value['sentence'], 160, placeholder=' …')}"
        case _:
            said = " | ".join(f"{'#' * one['level']} {one['title']}" for one in value["headings"]) or "no headings"
    return f"    {kind}: {said}"


def _value(child: Node) -> dict[str, Any]:
    blocks = (child["result"] or {}).get("content", [])
    value: dict[str, Any] = blocks[0]["value"] if blocks else {}
    return value
