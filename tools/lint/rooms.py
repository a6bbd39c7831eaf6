"""Each act has one room of the hub. Edges query no rows; the gate builds requests and journal rows."""

import ast
import re
from collections.abc import Iterator

from tools.lint.project import HUB, Fault, File, Project

EDGES = tuple(f"mailbox/{room}" for room in ("background", "dialects", "in_process", "management"))
MANAGERS = {"objects", "_default_manager", "_base_manager"}
READINGS = {"current", "make_inbox_current", "read"}  # of mailbox.life.expiry
REQUESTS = "mailbox/access/requests.py"
TAKERS = ("mailbox/access/", "mailbox/life/fast_path/")  # the journal; the short form, which writes the row itself
KINDS = "mailbox/words/kinds.py"
ENTRIES = tuple(f"mailbox/journal/{subject}_entries.py" for subject in ("access", "hub", "task"))
JOURNAL = "mailbox/access/audit.py"
ROWS = {"Entry", "LifeEntry", "AuditEvent"}
COVENANT = "mailbox/dialects/covenant/"  # its answers have a field `kind`, too, with values of journal rows
OUTBOUND = ("dashboard/people/oidc.py", "mailbox/outbound/exchange.py")
CLIENTS = re.compile(r"httpx\.(?:Client|AsyncClient|get|post|stream|request)\(|urlopen\(|requests\.(?:get|post)")


def edges_query_no_rows(project: Project) -> Iterator[Fault]:
    """Verbs and inspections read for all edges. Django's admin reads through its own querysets."""
    for module in project.modules(*EDGES, "dashboard"):
        if not module.path.startswith("dashboard/admin/"):
            for node in module.nodes(ast.Attribute):
                if node.attr in MANAGERS:
                    yield module.fault(node.lineno, "an edge queries no rows")


def edges_expire_tasks_only_to_read_them(project: Project) -> Iterator[Fault]:
    for module in project.modules(*EDGES, "dashboard"):
        for line, name in _names_of_expiry(module):
            if name not in READINGS:
                yield module.fault(line, f"an edge expires tasks only to read them: {name}")


def edges_wait_for_changes_only_after_the_expiry(project: Project) -> Iterator[Fault]:
    for module in project.modules(*EDGES, "dashboard"):
        for node in module.nodes(ast.Attribute):
            if node.attr == "for_change":
                yield module.fault(node.lineno, "an edge waits for a change of a task after its expiry alone")


def requests_are_built_by_their_constructors(project: Project) -> Iterator[Fault]:
    for module in project.modules(*HUB):
        for call in module.nodes(ast.Call) if module.path != REQUESTS else ():
            if _called(call) == "Request" and call.keywords:
                yield module.fault(call.lineno, f"{REQUESTS} builds the requests to the gate")


def scope_ids_are_spelled_in_one_module(project: Project) -> Iterator[Fault]:
    scopes = tuple(text for _, text in _strings(project.file(REQUESTS)) if text.startswith(("a2a-", "a2a:")))
    if not scopes:
        yield Fault(REQUESTS, 1, "no scope id is found here")
    for module in project.modules(*HUB):
        for line, text in _strings(module) if module.path != REQUESTS else ():
            if text.startswith(scopes):
                yield module.fault(line, f"{REQUESTS} spells the scope ids: {text}")


def verbs_pass_the_gate_through_the_journal(project: Project) -> Iterator[Fault]:
    """The journal of a decision alone keeps the permit that `capabilities.require` returns."""
    for module in project.modules(*HUB):
        if "capabilities.require(" in module.text and not module.path.startswith(TAKERS):
            dropped = {id(node.value) for node in module.nodes(ast.Expr)}
            for call in module.nodes(ast.Call):
                if id(call) not in dropped and ast.unparse(call.func) == "capabilities.require":
                    yield module.fault(call.lineno, "a verb passes the gate through the journal of its decision")


def each_kind_has_the_class_of_its_name(project: Project) -> Iterator[Fault]:
    wanted = {f"{name.title().replace('_', '')}Entry": name for name in _kinds(project)}
    made = set()
    for module in project.modules("mailbox/journal"):
        for row in module.nodes(ast.ClassDef) if module.path in ENTRIES else ():
            for kind in (ast.unparse(keyword.value).removeprefix("Kind.") for keyword in row.keywords):
                made.add(row.name)
                if kind != wanted.get(row.name):
                    yield module.fault(row.lineno, f"{row.name} makes rows of {kind}")
    for name in wanted.keys() - made:
        yield Fault(KINDS, 1, f"no class has the name {name}")


def nothing_else_spells_a_kind(project: Project) -> Iterator[Fault]:
    spelled = re.compile(rf"(?<![a-z0-9_])({'|'.join(_kinds(project).values())})(?![a-z0-9_])")
    for module in project.modules(*HUB):
        if module.path != KINDS and module.path not in ENTRIES and not module.path.startswith(COVENANT):
            for line, text in _strings(module) if spelled.search(module.text) else ():
                for kind in spelled.findall(text):
                    yield module.fault(line, f"{KINDS} alone spells the kind {kind}")
    for template in project.templates:
        for found in spelled.finditer(template.text):
            yield template.fault_at(found.start(), f"no template spells a kind: {found[0]}")


def the_journal_alone_makes_rows(project: Project) -> Iterator[Fault]:
    for module in project.modules(*HUB):
        if module.path not in (KINDS, JOURNAL, *ENTRIES):
            for call in module.nodes(ast.Call):
                if _called(call) in ROWS:
                    yield module.fault(call.lineno, f"{JOURNAL} alone makes rows of the journal")


def the_hub_has_one_outbound_client(project: Project) -> Iterator[Fault]:
    """Each call to a sign-in provider has a client of its own."""
    for module in project.python(*HUB):
        for found in CLIENTS.finditer(module.text) if module.path not in OUTBOUND else ():
            yield module.fault_at(found.start(), f"{OUTBOUND[1]} calls other hosts: {found[0]}")


def _called(call: ast.Call) -> str:
    """Return the name of the called function or class, without that of its module."""
    return ast.unparse(call.func).rpartition(".")[2]


def _names_of_expiry(module: File) -> Iterator[tuple[int, str]]:
    """Yield the names of the module ``expiry`` that the module uses, with their lines."""
    for node in module.nodes(ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id == "expiry":
            yield node.lineno, node.attr
    for imported in module.nodes(ast.ImportFrom):
        if imported.module == "mailbox.life.expiry":
            yield from ((imported.lineno, name.name) for name in imported.names)


def _strings(module: File) -> Iterator[tuple[int, str]]:
    """Yield the string literals that are no statements, and the literal parts of f-strings, with their lines."""
    statements = {id(node.value) for node in module.nodes(ast.Expr)}
    for node in module.nodes(ast.Constant):
        if isinstance(node.value, str) and id(node) not in statements:
            yield node.lineno, node.value


def _kinds(project: Project) -> dict[str, str]:
    """Return the value of each kind by its name."""
    return dict(re.findall(r'^    ([A-Z_]+) = "(\w+)"$', project.text(KINDS), re.MULTILINE))
