"""Prints measurements as a table."""

from collections.abc import Iterable


def aligned(lines: Iterable[Iterable[str]]) -> str:
    rows = [list(line) for line in lines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
    )
