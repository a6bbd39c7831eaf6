"""The project's prose: the sentences of docstrings, comments and pages, and the faults of each sentence.

The rule is docs/contribute/style.md: one fact a sentence, at most 25 words, a noun as subject, each thing by its name.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MOST_WORDS = 25

# Words that hide the actor or the thing, each with its plain replacement.
AVOIDED = {
    "whoever": "name the caller, agent or person",
    "whomever": "name the caller, agent or person",
    "whatever": "name the thing",
    "whichever": "name the thing",
    "befall": "say what happens",
    "befalls": "say what happens",
    "befell": "say what happened",
    "nobody": "no agent, no person, no process",
    "somebody": "an agent, a person, a process",
    "anybody": "any agent, any person",
    "everybody": "all agents, all people",
    "told": "reported, informed",
    "said": "reported, stated, or the message itself",
    "asked": "requested",
    "ones": "repeat the noun",
    "thereof": "of it",
    "whereof": "of which",
    "wherein": "in which",
    "herein": "here",
}
_PUZZLES = {
    r"^(?:Who|What|Whose|Whom)\b(?!.*\?)": "begin with a noun, not with who or what",
    r"^(?:As|So) (?:is|are|was|does|do)\b": "begin with a noun",
    r"\bso as to\b": "write: to",
    r"\band the like\b": "name the things",
    r"\bnone of (?:them|it|which|whom)\b": "write: no row, no request",
    r"\bbe it\b": "name the cases",
    r"\b(?:one|ones) (?:that|who|whose|which)\b": "repeat the noun",
}

_CODE = re.compile(r"``[^`]+``|`[^`]+`|\"[^\"\n]{1,120}\"|https?://\S+")
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z\"'(\[`0-9*_])|:\s*\n|;\s+|\n\s*\n")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+", re.MULTILINE)
_WORD = re.compile(r"[^\W_][\w'/.@-]*")
_SQL = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|WITH|WHERE|JOIN|FROM) ")
_DIRECTIVE = re.compile(r"^#!|^#\s*(?:noqa|type:|mypy:|ruff:|pragma|fmt:|-\*-)|\s#\s*(?:noqa|type:).*$")


@dataclass(frozen=True, slots=True)
class Passage:
    """A docstring, a comment or a paragraph. ``place`` is its file and first line."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Fault:
    place: str
    sentence: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}: {self.sentence}"


def of_python(path: Path, name: str) -> Iterator[Passage]:
    """Yield each docstring and each block of comments."""
    source = path.read_text()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield Passage(f"{name}:{node.body[0].lineno}", _without_examples(text))
    yield from _comments(source, name)


def messages(path: Path, name: str) -> Iterator[Passage]:
    """Yield each literal that reads as a sentence: error messages, hints and help. A placeholder counts as a word."""
    tree = ast.parse(path.read_text())
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    within = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in documented or id(node) in within:
            continue
        text = _literal(node)
        if text and text.count(" ") >= 4 and not _SQL.search(text):
            yield Passage(f"{name}:{getattr(node, 'lineno', 0)}", text)


def of_markdown(path: Path, name: str) -> Iterator[Passage]:
    """Yield each paragraph, list item, heading and table cell; blocks of code are no prose."""
    fenced = False
    paragraph: list[str] = []
    begin = 1
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        ends = fenced or not line.strip() or line.lstrip().startswith(("|", "#", "```", "<")) or _ITEM.match(line)
        if ends and paragraph:
            yield Passage(f"{name}:{begin}", "\n".join(paragraph))
            paragraph = []
        if fenced or line.lstrip().startswith(("```", "<")):
            continue
        if line.startswith("|"):
            yield from (Passage(f"{name}:{number}", cell.strip()) for cell in line.split("|") if cell.strip(" -:"))
        elif line.strip():
            begin = begin if paragraph else number
            paragraph.append(_ITEM.sub("", line).strip())


def faults(passage: Passage) -> Iterator[Fault]:
    """Yield the faults of each sentence of the passage."""
    for sentence in sentences(passage.text):
        words = _WORD.findall(sentence)
        if len(words) > MOST_WORDS:
            yield Fault(passage.place, sentence, f"{len(words)} words")
        for word in words:
            if word.lower() in AVOIDED:
                yield Fault(passage.place, sentence, f'"{word}": {AVOIDED[word.lower()]}')
        for pattern, reason in _PUZZLES.items():
            if re.search(pattern, sentence):
                yield Fault(passage.place, sentence, reason)


def sentences(text: str) -> list[str]:
    """Split a passage into sentences. Code and quotations count as one word each."""
    plain = _CODE.sub("CODE", _ITEM.sub("\n\n", text))
    return [" ".join(part.split()) for part in _END.split(plain) if part.strip()]


def _literal(node: ast.AST) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_literal(value) or "VALUE" for value in values)
        case _:
            return ""


def _comments(source: str, name: str) -> Iterator[Passage]:
    block: list[str] = []
    begin = last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or _DIRECTIVE.match(token.string):
            continue
        row, alone = token.start[0], not token.line[: token.start[1]].strip()
        if block and not (alone and row == last + 1):
            yield Passage(f"{name}:{begin}", "\n".join(block))
            block = []
        begin = begin if block else row
        last = row if alone else -1
        block.append(_DIRECTIVE.sub("", token.string).lstrip("# "))
    if block:
        yield Passage(f"{name}:{begin}", "\n".join(block))


def _without_examples(text: str) -> str:
    """Drop indented blocks after a line that ends with a double colon, and doctest lines."""
    kept, example = [], False
    for line in text.splitlines():
        if example and line.strip() and not line.startswith(" "):
            example = False
        if not example and not line.lstrip().startswith(">>>"):
            kept.append(line)
        if line.rstrip().endswith("::"):
            example = True
    return "\n".join(kept)
