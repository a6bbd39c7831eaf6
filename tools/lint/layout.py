"""Where modules stand, how long they are, and what their names mean."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from tools.lint.project import HUB, PRODUCT, TESTS, Fault, Project

MOST_LINES = 450
SHARED = {
    "AgentCard": "the name of the value in Marianne, and of the table that has kept it since the first migration",
    "Command": "the name that Django gives each management command",
    "DatabaseWrapper": "the name that Django gives the connection of each engine",
}
OF_TESTS = re.compile(r"testcase|pytest|\bdjango\.test\b|\b(?:from|import) tests\b", re.IGNORECASE)
CARELESS_SQL = re.compile(
    r"INSERT (?:OR \w+ )?INTO (?:mailbox|agentcards)_\w+ (?!\()|SELECT \* FROM (?:mailbox|agentcards)_\w+",
    re.IGNORECASE,
)


def modules_are_short(project: Project) -> Iterator[Fault]:
    for module in [*project.modules(*PRODUCT, *TESTS), *project.scripts]:
        if len(module.lines) > MOST_LINES:
            yield module.fault(MOST_LINES + 1, f"a module has at most {MOST_LINES} lines")


def folders_of_modules_are_packages(project: Project) -> Iterator[Fault]:
    for folder in {module.path.rpartition("/")[0] for module in project.modules(*PRODUCT, *TESTS)}:
        if not project.exists(f"{folder}/__init__.py"):
            yield Fault(f"{folder}/__init__.py", 1, "the folder of a module is a package")


def no_model_is_got_by_its_name(project: Project) -> Iterator[Fault]:
    """A model that is got by its name bypasses the import contracts."""
    for module in project.modules(*PRODUCT):
        for found in re.finditer(r"get_model\(", module.text):
            yield module.fault_at(found.start(), "a model is imported, not got by its name")


def the_product_does_not_mention_its_tests(project: Project) -> Iterator[Fault]:
    for module in project.modules(*PRODUCT):
        for found in OF_TESTS.finditer(module.text):
            yield module.fault_at(found.start(), f"the product does not mention its tests: {found[0]}")


def inserts_name_their_columns(project: Project) -> Iterator[Fault]:
    """An earlier version runs on later tables, so no insert counts on all columns and no query selects them."""
    for module in project.modules(*PRODUCT):
        for found in CARELESS_SQL.finditer(module.text):
            yield module.fault_at(found.start(), f"name the columns: {found[0]}")


def a_class_name_means_one_thing(project: Project) -> Iterator[Fault]:
    homes = defaultdict(list)
    for module in project.modules(*HUB):
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(module.fault(node.lineno, f"another module has a class {node.name}"))
    for name, places in homes.items():
        if len(places) > 1 and name not in SHARED:
            yield from places
