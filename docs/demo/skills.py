"""The skills of the three workers: each reads Markdown and returns JSON."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

WORD = re.compile(r"\w+(?:[-'\u2019]\w+)*")
HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
END_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.)\s)")
BULLET = re.compile(r"\A\s*(?:[-*+]|\d+\.)\s+")
FENCE = re.compile(r"\s*(?:```|~~~)")


def word_count(text: str) -> dict[str, Any]:
    words = [word.casefold() for word in WORD.findall(text)]
    return {"words": len(words), "distinct": len(set(words))}


def longest_sentence(text: str) -> dict[str, Any]:
    """Return the longest sentence. Headings, tables and code hold no sentence; a list item begins a sentence."""
    prose = "\n".join(line for line in lines_outside_code(text) if not HEADING.fullmatch(line) and "|" not in line)
    sentences = (" ".join(BULLET.sub("", one).split()) for one in END_OF_SENTENCE.split(prose))
    longest = max(sentences, key=lambda sentence: len(WORD.findall(sentence)), default="")
    return {"words": len(WORD.findall(longest)), "sentence": longest}


def outline(text: str) -> dict[str, Any]:
    found = filter(None, map(HEADING.fullmatch, lines_outside_code(text)))
    return {"headings": [{"level": len(heading[1]), "title": heading[2]} for heading in found]}


def lines_outside_code(text: str) -> Iterator[str]:
    """Yield the lines outside fenced code. Inside it, # begins a comment and not a heading."""
    inside = False
    for line in text.splitlines():
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            yield line


SKILLS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "word-count": word_count,
    "longest-sentence": longest_sentence,
    "outline": outline,
}
