"""The weight of the product: figures that may only sink. A change that lowers one lowers its limit here."""

import ast
import io
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping

from tools.lint.project import PRODUCT, Fault, File, Project

MOST_MODULES = 478
MOST_WITH_ONE_READER = 103
MOST_IMPORTS = 10.6  # percent of the lines of code
MOST_LINES_OF_CODE = 49_800

PAGE = "tools/lint/weight.py"
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def modules_are_few(project: Project) -> Iterator[Fault]:
    number = len(_modules(project))
    if number > MOST_MODULES:
        yield Fault(PAGE, 1, f"the product has at most {MOST_MODULES} modules: {number}")


def few_modules_have_one_reader(project: Project) -> Iterator[Fault]:
    """A module that only one other imports is a part of it, unless it is an edge or the face of a room."""
    number = sum(len(readers) == 1 for readers in _readers(_modules(project)).values())
    if number > MOST_WITH_ONE_READER:
        yield Fault(PAGE, 1, f"at most {MOST_WITH_ONE_READER} modules have one reader: {number}")


def imports_are_a_small_part_of_the_code(project: Project) -> Iterator[Fault]:
    lines = [_lines(module) for module in _modules(project).values()]
    imports, code = (sum(number) for number in zip(*lines, strict=True)) if lines else (0, 0)
    if code and 100 * imports / code > MOST_IMPORTS:
        yield Fault(PAGE, 1, f"at most {MOST_IMPORTS} % of the code are imports: {100 * imports / code:.1f} %")
    if code > MOST_LINES_OF_CODE:
        yield Fault(PAGE, 1, f"the product has at most {MOST_LINES_OF_CODE} lines of code: {code}")


def no_modules_import_each_other_in_a_circle(project: Project) -> Iterator[Fault]:
    modules = _modules(project)
    left = {name: {other for other in _imported(module, modules) if other != name} for name, module in modules.items()}
    while ends := [name for name, others in left.items() if not others & left.keys()]:
        for name in ends:
            del left[name]
    # Each module in `left` is in a circle or imports one. Those that no other of them imports are in none.
    while starts := [name for name in left if not any(name in others for others in left.values())]:
        for name in starts:
            del left[name]
    for name in left:
        yield modules[name].fault(1, f"modules import each other in a circle: {', '.join(sorted(left))}")


def _modules(project: Project) -> Mapping[str, File]:
    """Return the modules of the hub and of the client by their dotted names, without migrations."""
    return {
        module.path.removeprefix("clients/python/src/")
        .removesuffix(".py")
        .removesuffix("/__init__")
        .replace("/", "."): module
        for module in project.modules(*PRODUCT)
    }


def _readers(modules: Mapping[str, File]) -> Mapping[str, set[str]]:
    """Return for each module that another imports the modules that import it."""
    readers: dict[str, set[str]] = defaultdict(set)
    for name, module in modules.items():
        for other in _imported(module, modules) - {name}:
            readers[other].add(name)
    return readers


def _imported(module: File, modules: Mapping[str, File]) -> set[str]:
    names = {alias.name for node in module.nodes(ast.Import) for alias in node.names}
    for node in module.nodes(ast.ImportFrom):
        whole = {f"{node.module}.{alias.name}" for alias in node.names}
        names |= {name if name in modules else name.rpartition(".")[0] for name in whole}
    return names & modules.keys()


def _lines(module: File) -> tuple[int, int]:
    """Return the number of lines with imports, and of all lines of code: no comment, docstring or blank line."""
    docstrings = {
        line
        for node in module.definitions
        if ast.get_docstring(node, clean=False) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline)
        if token.type not in NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    } - docstrings
    imports = {
        line
        for kind in (ast.Import, ast.ImportFrom)
        for node in module.nodes(kind)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    return len(imports & code), len(code)
