"""The project's words: the sentences of docstrings, comments and pages, and the names that the product defines.

The rule is docs/contribute/style.md: one fact a sentence, at most 25 words, a noun as subject, each thing by its name.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tools.lint.project import CLIENT, PRODUCT, TESTS, Fault, File, Project

MOST_WORDS = 25
SHORT = 2 * MOST_WORDS  # characters: too few for so many words
WITH_MESSAGES = ("a2aproject", "agentcards", CLIENT, "mailbox")

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
# Names that do not tell what the value is.
VAGUE = re.compile(r"_*(?:found|one|said|told|asked|given)", re.IGNORECASE)
KEPT_NAMES = {  # the module and the name, each with the reason for it
    ("agentcards/models/remote.py", "asked"): "a column",
    ("mailbox/models/lease.py", "ASKED"): "a stored status",
    ("mailbox/in_process/conversations.py", "said"): "an argument of the public API, and a path in its errors",
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
# Without a match no sentence has a word to avoid or a puzzle, so the passage needs no second look for these.
_SUSPECT = re.compile(
    rf"\b(?:{'|'.join(AVOIDED)}|who|what|whose|whom|(?:as|so)\s+(?:is|are|was|does|do)|so\s+as\s+to|and\s+the\s+like"
    r"|none\s+of|be\s+it|one\s+(?:that|who|whose|which))\b",
    re.IGNORECASE,
)
_SCRIPT_COMMENT = re.compile(r"/\*\*(.*?)\*/|(?:^|(?<=\s))(//[^\n]*(?:\n *//[^\n]*)*)", re.DOTALL | re.MULTILINE)
# A string, or a comment: the first that begins at a place is what the text there means.
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""|"(?:[^"\\\n]|\\.)*"'
    r"|\'{3}(?:[^'\\]|\\.|'(?!''))*'{3}|'(?:[^'\\\n]|\\.)*'"
    r"|(?P<comment>\#[^\n]*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A docstring, a comment or a paragraph, and its first line."""

    line: int
    text: str


def prose_keeps_the_rule(project: Project) -> Iterator[Fault]:
    """Each sentence of pages, docstrings, comments and messages is short and names its actor."""
    for page in project.pages:
        yield from _faults_of(page, of_markdown(page))
    for module in project.python(*PRODUCT, *TESTS, "docs"):
        yield from _faults_of(module, of_python(module))
    for script in project.scripts:
        yield from _faults_of(script, of_script(script))
    for module in project.modules(*WITH_MESSAGES):
        yield from _faults_of(module, messages(module))


def each_definition_has_a_telling_name(project: Project) -> Iterator[Fault]:
    """Each definition is named by the field's term for what it is. Loop variables are free."""
    for module in project.modules(*PRODUCT):
        for line, name in definitions(module):
            if VAGUE.fullmatch(name) and (module.path, name) not in KEPT_NAMES:
                yield module.fault(line, f"name what it is: {name}")


def definitions(module: File) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each function, class, argument, import alias and assignment that is no loop's."""
    yield from ((node.lineno, node.name) for node in module.definitions if not isinstance(node, ast.Module))
    yield from ((node.lineno, node.arg) for node in module.nodes(ast.arg))
    yield from ((node.lineno, node.asname) for node in module.nodes(ast.alias) if node.asname)
    targets = [loop.target for loop in module.nodes(ast.For)]
    targets += [loop.target for loop in module.nodes(ast.AsyncFor)]
    targets += [loop.target for loop in module.nodes(ast.comprehension)]
    of_loops = {id(part) for target in targets for part in ast.walk(target)}
    for assigned in module.nodes(ast.Name):
        if isinstance(assigned.ctx, ast.Store) and id(assigned) not in of_loops:
            yield assigned.lineno, assigned.id
    for attribute in module.nodes(ast.Attribute):
        if isinstance(attribute.ctx, ast.Store) and id(attribute) not in of_loops:
            yield attribute.lineno, attribute.attr


def _faults_of(file: File, passages: Iterable[Passage]) -> Iterator[Fault]:
    for passage in passages:
        yield from (file.fault(passage.line, f"{reason}: {sentence}") for sentence, reason in faults(passage.text))


def of_python(module: File) -> Iterator[Passage]:
    """Yield each docstring and each block of comments. The formatter writes docstrings in three double quotes."""
    if '"""' in module.text:
        for node in module.definitions:
            if text := ast.get_docstring(node):
                yield Passage(node.body[0].lineno, _without_examples(text))
    if "#" in module.text:
        yield from _comments(module)


def messages(module: File) -> Iterator[Passage]:
    """Yield each literal that reads as a sentence: error messages, hints and help. A placeholder counts as a word."""
    begins = [node.body[0] for node in module.definitions if node.body]
    documented = {id(statement.value) for statement in begins if isinstance(statement, ast.Expr)}
    formatted = module.nodes(ast.JoinedStr)
    within = {id(part) for node in formatted for part in node.values}
    for node in [*module.nodes(ast.Constant), *formatted]:
        if id(node) not in documented and id(node) not in within:
            text = _literal(node)
            if text.count(" ") >= 4 and not _SQL.search(text):
                yield Passage(node.lineno, text)


def of_script(script: File) -> Iterator[Passage]:
    """Yield each comment of a module of TypeScript or JavaScript."""
    for found in _SCRIPT_COMMENT.finditer(script.text):
        text = re.sub(r"(?m)^ *(\*|//) ?", "", found[1] or found[2]).strip()
        yield Passage(script.text.count("\n", 0, found.start()) + 1, text)


def of_markdown(page: File) -> Iterator[Passage]:
    """Yield each paragraph, list item, heading and table cell; blocks of code are no prose."""
    fenced = False
    paragraph: list[str] = []
    begin = 1
    for number, line in enumerate([*page.lines, ""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        ends = fenced or not line.strip() or line.lstrip().startswith(("|", "#", "```", "<")) or _ITEM.match(line)
        if ends and paragraph:
            yield Passage(begin, "\n".join(paragraph))
            paragraph = []
        if fenced or line.lstrip().startswith(("```", "<")):
            continue
        if line.startswith("|"):
            yield from (Passage(number, cell.strip()) for cell in line.split("|") if cell.strip(" -:"))
        elif line.strip():
            begin = begin if paragraph else number
            paragraph.append(_ITEM.sub("", line).strip())


def faults(text: str) -> Iterator[tuple[str, str]]:
    """Yield each sentence of a passage that has a fault, with the reason."""
    suspect = _SUSPECT.search(text)
    if not suspect and len(text) < SHORT:
        return
    for sentence in sentences(text):
        words = _WORD.findall(sentence)
        if len(words) > MOST_WORDS:
            yield sentence, f"{len(words)} words"
        for word in [word.rstrip(".'/@-") for word in words] if suspect else ():
            if word.lower() in AVOIDED:
                yield sentence, f'"{word}": {AVOIDED[word.lower()]}'
        for pattern, reason in _PUZZLES.items() if suspect else ():
            if re.search(pattern, sentence):
                yield sentence, reason


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


def _comments(module: File) -> Iterator[Passage]:
    block: list[str] = []
    begin = last = 0
    for row, alone, comment in _comment_tokens(module.text):
        if _DIRECTIVE.match(comment):
            continue
        if block and not (alone and row == last + 1):
            yield Passage(begin, "\n".join(block))
            block = []
        begin = begin if block else row
        last = row if alone else -1
        block.append(_DIRECTIVE.sub("", comment).lstrip("# "))
    if block:
        yield Passage(begin, "\n".join(block))


def _comment_tokens(text: str) -> Iterator[tuple[int, bool, str]]:
    """Yield the line of each comment, whether it has the line for itself, and its text."""
    row, seen = 1, 0
    for found in _TOKEN.finditer(text):
        if found["comment"]:
            begin = found.start()
            row, seen = row + text.count("\n", seen, begin), begin
            yield row, not text[text.rfind("\n", 0, begin) + 1 : begin].strip(), found[0]


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
