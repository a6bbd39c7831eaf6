"""The orchestrator's output: a report joined from all results, and the tree of tasks."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import document

from a2a_hub_client.models.tasks import TreeNode


def assemble(name: str, sections: Sequence[str], parts: Sequence[Sequence[TreeNode]]) -> str:
    """Return the report. ``parts`` holds the tasks of each section, in the order of ``sections``."""
    words = sum(_value(node).get("words", 0) for nodes in parts for node in nodes if node.task.kind == "word-count")
    findings = [
        "\n".join([f"[{number}] {document.title(section)}", *map(_finding, nodes)])
        for number, (section, nodes) in enumerate(zip(sections, parts, strict=True), 1)
    ]
    noun = "section" if len(sections) == 1 else "sections"
    return "\n\n".join([f"{name}: {len(sections)} {noun}, {words:,} words", *findings])


def draw_tree(nodes: Sequence[TreeNode]) -> Iterator[str]:
    """Yield one line per task, depth first, as the hub lists them."""
    for index, node in enumerate(nodes):
        depth = node.depth
        later = next((other.depth for other in nodes[index + 1 :] if other.depth <= depth), -1)
        branch = "" if depth == 0 else "   " * (depth - 1) + ("├─ " if later == depth else "└─ ")
        task = node.task
        yield (
            f"{branch}{str(task.id)[:8]}  {task.kind} by {task.recipient}: "
            f"{node.outcome or node.state}, attempt {node.attempt}  ({document.title(task.text)})"
        )


def _finding(child: TreeNode) -> str:
    kind, result = child.task.kind, child.result
    if result is None or not result.is_ok:
        return f"    {kind}: failed: {result.error_message if result else 'no result'}"
    value = _value(child)
    match kind:
        case "word-count":
            said = f"{value['words']:,}, {value['distinct']:,} of them distinct"
        case "longest-sentence":
            said = f"{value['words']} words: {textwrap.shorten(value['sentence'], 160, placeholder=' …')}"
        case _:
            said = " | ".join(f"{'#' * one['level']} {one['title']}" for one in value["headings"]) or "no headings"
    return f"    {kind}: {said}"


def _value(child: TreeNode) -> dict[str, Any]:
    values = child.result.values if child.result else []
    return values[0] if values else {}
