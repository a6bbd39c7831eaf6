"""Write the generated parts of the documentation: python -m docs.generate [PAGE...] (`make docs`).

Each page of `PAGES` has one function, which returns the whole text that the page must have. A test compares both.
"""

import ast
import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, ClassVar, NotRequired, get_args, get_origin, get_type_hints, is_typeddict
from uuid import UUID

import grimp

from mailbox.dialects.a2a import errors as official_errors
from mailbox.dialects.base import texts
from mailbox.journal import access_entries, hub_entries, task_entries
from mailbox.words.kinds import Entry, JournalRow, LifeEntry
from tests.support import cli_page, client_page, guide_page, js_client_page, state_page
from tools.bench import page as measurements
from tools.bench import record
from tools.proof.mutations.bugs import table as table_of_bugs

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("a2aproject", "agentcards", "dashboard", "mailbox")
# The doors that a mark of the conformance suite opens, other than by their acts.
OTHER_DOORS = {
    "every_route": "(any door) at each of its routes",
    "doors_of_tasks": "(any door) with `of_tasks`",
    "doors_with_lists": "(any door) with `lists`",
}
FLOORS = (
    "1 wires",
    "2 edges: translate",
    "3 agents' cards",
    "4 upkeep: keeps the hub small and whole",
    "5 repairs: fixes leased and failed tasks",
    "6 a task's life, and reads",
    "7 access: who calls, may it, and the decision",
    "8 journal: what happened",
    "9 models: rows hold",
    "10 words name, on plain ground",
)
# The modules and folders of features that a hub could do without.
FEATURES: Mapping[str, Sequence[str]] = {
    "A protocol, such as Marianne's": ("mailbox.dialects.marianne",),
    "Quotas": ("mailbox.access.limits.quotas", "mailbox.access.limits.quota_usage", "mailbox.models.limits"),
    "Seals of the journal": (
        *("mailbox.journal.seals", "mailbox.models.seal", "mailbox.upkeep.journal_export"),
        *("mailbox.upkeep.sealing", "mailbox.upkeep.verification", "mailbox.words.sealed"),
    ),
    "Saved views": ("dashboard.saved_views", "mailbox.access.people.saved_views", "mailbox.models.saved_view"),
}
SUBJECTS: Mapping[str, ModuleType] = {
    "Tasks": task_entries,
    "Access and people": access_entries,
    "The hub, its agents and quotas": hub_entries,
}
JSON_TYPES: Mapping[type, str] = {
    str: "text",
    UUID: "text",
    datetime: "text",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    NoneType: "null",
}


def architecture() -> str:
    """Return docs/contribute/architecture.md with the picture of the floors drawn from the imports."""
    return _with_block(_read("docs/contribute/architecture.md"), "floors", _floors())


def cli() -> str:
    """Return docs/reference/cli.md with every command of the console script, its arguments and its options."""
    return _with_block(_read("docs/reference/cli.md"), "commands", cli_page.reference())


def add_a_protocol() -> str:
    """Return docs/contribute/add-a-protocol.md with the code of the example dialect and the checks of the suite."""
    page = _read("docs/contribute/add-a-protocol.md")
    for name in ("urls", "requests", "wire", "views", "doors"):
        page = _with_block(page, name, f"```python\n{_read(f'tests/mailbox/dialects/example/{name}.py')}```\n")
    page = _with_block(page, "acts", f"```python\n{_class('tests/support/doors.py', 'Act')}\n```\n")
    return _with_block(page, "checks", _checks_of_doors())


def dashboard() -> str:
    """Return docs/operate/dashboard.md with the keys of the keyboard."""
    return _with_block(_read("docs/operate/dashboard.md"), "keys", guide_page.keys())


def errors() -> str:
    """Return docs/reference/errors.md with the codes of errors, and with those of the official protocol."""
    page = _with_block(_read("docs/reference/errors.md"), "codes", texts.table_of_codes(texts.error_codes()))
    return _with_block(page, "official", official_errors.table())


def events() -> str:
    """Return docs/reference/events.md with every kind of journal row and the fields of its data."""
    return _with_block(_read("docs/reference/events.md"), "kinds", "\n".join(_kinds()))


def js_client() -> str:
    """Return docs/reference/js-client.md with the classes of the package."""
    return _with_block(_read("docs/reference/js-client.md"), "classes", js_client_page.reference())


def python_client() -> str:
    """Return docs/reference/python-client.md with the classes of the package."""
    return _with_block(_read("docs/reference/python-client.md"), "classes", client_page.reference())


def search_language() -> str:
    """Return docs/operate/search-language.md with the keys of each list."""
    return _with_block(_read("docs/operate/search-language.md"), "queries", guide_page.queries())


def states() -> str:
    """Return docs/reference/states.md with the diagram and the tables of all steps between the states of a task."""
    steps = state_page.steps()
    page = _with_block(_read("docs/reference/states.md"), "diagram", state_page.diagram(steps))
    page = _with_block(page, "verbs", state_page.verbs_by_state(steps))
    return _with_block(page, "changes", state_page.changes(steps))


def mutations() -> str:
    """Return docs/contribute/mutations.md with the list of bugs."""
    return _with_block(_read("docs/contribute/mutations.md"), "bugs", table_of_bugs())


def benchmarks() -> str:
    """Return docs/operate/benchmarks.md with the tables of the newest measurements."""
    text = _read("docs/operate/benchmarks.md")
    for section, block in measurements.blocks(record.load(record.KEPT)).items():
        text = _with_block(text, section, block)
    return text


def postgresql() -> str:
    """Return docs/operate/postgresql.md with the examples of a cluster that takes over by itself."""
    page = _read("docs/operate/postgresql.md")
    for name, language in (("etcd.yml", "yaml"), ("patroni.yml", "yaml"), ("haproxy.cfg", "text")):
        example = _read(f"deploy/high-availability/{name}")
        page = _with_block(page, name.partition(".")[0], f"```{language}\n{example}```\n")
    return page


def remove_a_feature() -> str:
    """Return docs/contribute/remove-a-feature.md with the places of each feature of `FEATURES`."""
    return _with_block(_read("docs/contribute/remove-a-feature.md"), "features", "\n".join(_removals()))


def readme() -> str:
    """Return README.md with the measured rate of full cycles."""
    return _with_block(_read("README.md"), "rates", measurements.rates(record.load(record.KEPT)))


PAGES: Mapping[str, Callable[[], str]] = {
    "README.md": readme,
    "docs/contribute/architecture.md": architecture,
    "docs/operate/benchmarks.md": benchmarks,
    "docs/operate/dashboard.md": dashboard,
    "docs/operate/postgresql.md": postgresql,
    "docs/operate/search-language.md": search_language,
    "docs/reference/cli.md": cli,
    "docs/contribute/add-a-protocol.md": add_a_protocol,
    "docs/reference/errors.md": errors,
    "docs/reference/js-client.md": js_client,
    "docs/reference/python-client.md": python_client,
    "docs/reference/events.md": events,
    "docs/contribute/mutations.md": mutations,
    "docs/contribute/remove-a-feature.md": remove_a_feature,
    "docs/reference/states.md": states,
}


def main(paths: Sequence[str]) -> None:
    """Write the pages at these paths, all pages if no path is given."""
    for path in paths or PAGES:
        (ROOT / path).write_text(PAGES[path]())


def _read(path: str) -> str:
    return (ROOT / path).read_text()


def _with_block(page: str, name: str, block: str) -> str:
    """Return the page with the text between its marks ``<!-- name -->`` and ``<!-- /name -->`` replaced."""
    marks = re.compile(rf"(?<=<!-- {name} -->\n).*(?=<!-- /{name} -->)", re.DOTALL)
    written, found = marks.subn(lambda _: block, page)
    if found != 1:
        raise ValueError(f"the page needs the marks <!-- {name} --> and <!-- /{name} --> once")
    return written


def _removals() -> Iterator[str]:
    """Yield a section for each feature: its own modules, and the files of the hub that name them."""
    files = {
        str(path.relative_to(ROOT)): path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))
    }
    for feature, modules in FEATURES.items():
        own = [path if (ROOT / (path := module.replace(".", "/"))).is_dir() else f"{path}.py" for module in modules]
        named = re.compile(
            "|".join(form for module, path in zip(modules, own, strict=True) for form in _forms(module, path))
        )
        users = [
            name for name, path in files.items() if not name.startswith((*own,)) and named.search(path.read_text())
        ]
        yield f"## {feature}\n\nIts modules:\n"
        yield from (f"- `{path}`" for path in own)
        yield "\nThe files that name them:\n"
        yield from (f"- `{path}`" for path in users if "/migrations/" not in path)
        yield ""


def _forms(module: str, path: str) -> Iterator[str]:
    """Yield patterns of the ways to name the module: its dotted name, an import from its folder, or of its models."""
    folder, _, last = module.rpartition(".")
    yield rf"\b{re.escape(module)}\b"
    yield rf"from {re.escape(folder)} import [\w, ]*\b{last}\b"
    if folder == "mailbox.models":
        for node in ast.parse(_read(path)).body:
            if isinstance(node, ast.ClassDef):
                yield rf"from {re.escape(folder)} import [\w, ]*\b{node.name}\b"


def _checks_of_doors() -> str:
    """Return a table of the conformance suite's checks, by the acts of the doors that each check opens."""
    checks: dict[str, list[str]] = {}
    for module in sorted((ROOT / "tests" / "mailbox" / "dialects" / "conformance").glob("test_*.py")):
        for test in ast.parse(module.read_text()).body:
            if isinstance(test, ast.FunctionDef) and (acts := _acts_of(test)):
                checks.setdefault(acts, []).append(test.name.removeprefix("test_").replace("_", " "))
    rows = [
        f"| {acts} | {check} |" for acts in sorted(checks, key=lambda acts: acts.count(",")) for check in checks[acts]
    ]
    return "\n".join(["| A door that does | is checked for |", "|---|---|", *rows, ""])


def _class(path: str, name: str) -> str:
    """Return the code of one class."""
    source = _read(path)
    (found,) = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == name]
    return ast.get_source_segment(source, found) or ""


def _acts_of(test: ast.FunctionDef) -> str:
    """Return the acts in the test's ``doors_that`` mark, or what its mark says of other doors; "" without a mark."""
    for mark in test.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("doors_that"):
            return ", ".join(f"`{ast.unparse(act)}`" for act in mark.args)
        if (name := ast.unparse(mark)) in OTHER_DOORS:
            return OTHER_DOORS[name]
    return ""


def _floors() -> str:
    """Return a mermaid diagram of the rooms on their floors, and a table of the rooms that each imports from."""
    floors = [re.split(r"\s*[:|]\s*", layer) for layer in _layers()]
    rooms = [room for floor in floors for room in floor]
    imports = _imports_between(rooms)
    lines = ["```mermaid", "flowchart TB"]
    for number, (title, floor) in enumerate(zip(FLOORS, floors, strict=True), 1):
        lines += [f'  subgraph floor{number}["{title}"]', "    direction LR"]
        lines += [f"    {_node(room)}[{_short(room)}]" for room in floor]
        lines.append("  end")
    lines += [f"  {_node(importer)} --> {_node(imported)}" for importer, imported in _without_detours(imports)]
    lines += ["```", "", "| Room | imports from |", "|---|---|"]
    for room in rooms:
        below = ", ".join(f"`{_short(imported)}`" for imported in rooms if imported in imports[room])
        lines.append(f"| `{_short(room)}` | {below or '(no other room)'} |")
    return "\n".join([*lines, ""])


def _layers() -> list[str]:
    """Return the floors of the import contract, from the top."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers: list[str] = next(contract["layers"] for contract in contracts if "containers" not in contract)
    return layers


def _imports_between(rooms: Iterable[str]) -> dict[str, set[str]]:
    """Return by room the other rooms that its modules import from. A room is a module with everything below it."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    for room in rooms:
        graph.squash_module(room)
    return {room: graph.find_modules_directly_imported_by(room) & ({*rooms} - {room}) for room in rooms}


def _without_detours(imports: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """Return the imports as pairs, without those that a longer way of imports says too."""
    return [
        (importer, imported)
        for importer, others in imports.items()
        for imported in sorted(others)
        if not any(imported in _reach(other, imports) for other in others - {imported})
    ]


def _reach(room: str, imports: Mapping[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    ahead = set(imports[room])
    while ahead:
        reached |= ahead
        ahead = {further for other in ahead for further in imports[other]} - reached
    return reached


def _kinds() -> Iterator[str]:
    """Yield a section for each module of journal rows, and in it the kinds in the order of the module."""
    for title, module in SUBJECTS.items():
        yield f"## {title}\n\n{module.__doc__}\n"
        for row in vars(module).values():
            if inspect.isclass(row) and issubclass(row, JournalRow) and hasattr(row, "row_kind"):
                yield from _kind(row)


def _kind(row: type[JournalRow]) -> Iterator[str]:
    written = (inspect.getdoc(row) or "").partition("\n\n")[0].replace("\n", " ")
    number = "Numbered in the task's life." if issubclass(row, LifeEntry) else "Not numbered."
    yield f"### `{row.row_kind}`\n\n{written} {number}\n"
    fields = list(_fields(row))
    yield "\n".join(["| Field | Type | Meaning |", "|---|---|---|", *fields, ""] if fields else ["It has no data.\n"])


def _fields(shape: type, of: str = "") -> Iterator[str]:
    """Yield a table row for each field, below it those of the objects that the field lists."""
    for name, hint in get_type_hints(shape, include_extras=True).items():
        is_optional = get_origin(hint) is NotRequired or hasattr(shape, name)
        if get_origin(hint) is ClassVar or (name == "task_id" and issubclass(shape, Entry)):
            continue
        kind, meaning = get_args(get_args(hint)[0] if get_origin(hint) is NotRequired else hint)
        yield f"| `{of}{name}` | {_type(kind, is_optional)}{', optional' if is_optional else ''} | {meaning} |"
        if get_origin(kind) is list and is_typeddict(get_args(kind)[0]):
            yield from _fields(get_args(kind)[0], f"{of}{name}[].")


def _type(hint: Any, is_optional: bool = False) -> str:
    """Return the JSON type. A field that is optional is left out where the row has None."""
    if get_origin(hint) is UnionType:
        return " or ".join(_type(one) for one in get_args(hint) if not (is_optional and one is NoneType))
    if get_origin(hint) in (list, Sequence):
        return f"list of {_type(get_args(hint)[0])}s"
    return JSON_TYPES.get(get_origin(hint) or hint, "object")


def _short(room: str) -> str:
    return room.removeprefix("mailbox.")


def _node(room: str) -> str:
    return room.replace(".", "_")


if __name__ == "__main__":
    main(sys.argv[1:])
