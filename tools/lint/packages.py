"""The packages: the hub uses all that it declares, every pinned one has its hash, and tools stay apart."""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import packages_distributions
from itertools import chain

from tools.lint.project import HUB, PRODUCT, Fault, Project

FOLDER = "requirements"
SETTINGS = "a2aproject/settings/__init__.py"
LISTS = ("INSTALLED_APPS", "MIDDLEWARE")
LOCK = f"{FOLDER}/a2a-client-js/package-lock.json"
OF_AUDITS = {"cyclonedx-bom", "pip-audit"}
OF_THE_SITE = {"zensical"}
APART = OF_AUDITS | OF_THE_SITE | {"lxml", "pip"}
OURS = {*HUB, "_typeshed", "a2a_hub_client"}  # the last is installed with the hub, from the same sources
OF_EXTRAS = {"mozilla-django-oidc", "opentelemetry-sdk"}


def every_declared_dependency_is_used(project: Project) -> Iterator[Fault]:
    page = project.file("pyproject.toml")
    distributions = packages_distributions()
    used = {_normal(name) for package in _imported(project) for name in distributions.get(package, ())}
    for requirement in tomllib.loads(page.text)["project"]["dependencies"]:
        if _normal(re.split(r"[^\w.-]", requirement)[0]) not in used:
            yield page.fault_at(page.text.find(f'"{requirement}"'), f"nothing imports the dependency {requirement}")


def every_imported_package_is_declared(project: Project) -> Iterator[Fault]:
    page, distributions = project.file("pyproject.toml"), packages_distributions()
    hub = tomllib.loads(page.text)["project"]
    declared: set[str] = set()
    for requirement in [*hub["dependencies"], *chain(*hub.get("optional-dependencies", {}).values())]:
        name, parts = re.findall(r"^([\w.-]+)(?:\[(.*?)\])?", requirement)[0]
        declared |= {_normal(name), *(_normal(f"{name}-{part}") for part in parts.split(",") if part)}
    for package in sorted(_imported(project, HUB) - sys.stdlib_module_names - OURS):
        if declared.isdisjoint(map(_normal, distributions.get(package, ()))):
            at = page.text.find("dependencies = [")
            yield page.fault_at(at, f"the hub imports a package that it does not declare: {package}")


def every_pinned_package_has_its_hashes_and_no_index_is_named(project: Project) -> Iterator[Fault]:
    for file in project.files(FOLDER, ".txt"):
        for package in re.finditer(r"^\w.*\n(?:(?!\w).*\n?)*", file.text, re.MULTILINE):
            if "--hash=sha256:" not in package[0]:
                yield file.fault_at(package.start(), f"no hash: {package[0].split()[0]}")
        for found in re.finditer(r"https?://|index-url|find-links", file.text):
            yield file.fault_at(found.start(), f"no index is named: {found[0]}")


def every_pinned_javascript_package_has_its_hash_and_no_registry_is_named(project: Project) -> Iterator[Fault]:
    file = project.file(LOCK)
    for path, package in json.loads(file.text)["packages"].items():
        if path and (not package.get("integrity", "").startswith("sha512-") or "resolved" in package):
            yield file.fault_at(file.text.find(f'"{path}"'), f"the package has a hash and no address: {path}")


def the_tools_of_the_audit_and_of_the_site_are_in_no_other_environment(project: Project) -> Iterator[Fault]:
    for name, tools in (("audit", OF_AUDITS), ("docs", OF_THE_SITE)):
        if missing := tools - _pins(project, name).keys():
            yield Fault(f"{FOLDER}/{name}.txt", 1, f"the file lacks {', '.join(sorted(missing))}")
    for name in ("base", "extras", "dev"):
        if strange := APART & _pins(project, name).keys():
            yield Fault(f"{FOLDER}/{name}.txt", 1, f"the tools stay apart: {', '.join(sorted(strange))}")


def the_extras_add_packages_to_those_of_the_hub_and_change_none(project: Project) -> Iterator[Fault]:
    base, extras, dev = (_pins(project, name) for name in ("base", "extras", "dev"))
    for name, few, many in (("extras", base, extras), ("dev", extras, dev)):
        if not few.items() < many.items():
            rest = sorted(dict(few.items() - many.items()))
            yield Fault(f"{FOLDER}/{name}.txt", 1, f"the file adds packages and changes none: {', '.join(rest)}")
    if missing := OF_EXTRAS - (extras.keys() - base.keys()):
        yield Fault(f"{FOLDER}/extras.txt", 1, f"of the extras alone are {', '.join(sorted(missing))}")


def _imported(project: Project, places: Sequence[str] = PRODUCT) -> set[str]:
    """Return the top-level packages that the product imports, or names in its lists of apps and middlewares."""
    found: set[str] = set()
    for module in project.modules(*places):
        found |= {name.name.split(".")[0] for node in module.nodes(ast.Import) for name in node.names}
        found |= {node.module.split(".")[0] for node in module.nodes(ast.ImportFrom) if node.module}
    for node in project.file(SETTINGS).nodes(ast.Assign):
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in LISTS:
            found |= {str(name).split(".")[0] for name in ast.literal_eval(node.value)}
    return found


def _pins(project: Project, name: str) -> dict[str, str]:
    """Return the pinned version of each package by its name."""
    text = project.text(f"{FOLDER}/{name}.txt")
    return dict(re.findall(r"^([\w.\[\]-]+)==([\w.]+)", text, re.MULTILINE))


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()
