"""The tests that a change touches: by the modules that they ran in the last `make test-all`, and by their paths."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from itertools import accumulate
from pathlib import PurePosixPath

from tests.support import record
from tests.support.record import ROOT

# Files that no test imports, and the tests that read them.
READ_BY = {
    "docs/*.md": ("tests/docs/",),
    "docs/*/*.md": ("tests/docs/",),
    "*.md": ("tests/docs/",),
    "*/urls.py": ("tests/mailbox/dialects/test_openapi.py",),
    "mailbox/dialects/*/*.py": ("tests/mailbox/dialects/conformance/",),
    "pyproject.toml": ("tests/docs/test_generate.py",),
    "clients/javascript/src/*.ts": ("tests/docs/test_generate.py",),
}
# The deep tests of a part, by the beginning of the paths that they prove something about.
DEEP = {
    "a2aproject/": ("tests/a2aproject/", "tests/deploy/", "tests/test_restarts.py"),
    "a2aproject/serving/": ("tests/load/",),
    "agentcards/": ("tests/agentcards/", "tests/mailbox/background/"),
    "clients/javascript/": ("tests/clients/javascript/",),
    "clients/python/": ("tests/clients/python/",),
    "dashboard/": ("tests/dashboard/browser/",),
    "deploy/": ("tests/deploy/",),
    "Dockerfile": ("tests/deploy/",),
    "docs/": ("tests/docs/", "tests/test_make_site.py"),
    "docs/demo/": ("tests/test_demo.py",),
    "docs/tour/": ("tests/test_tour.py",),
    "mailbox/background/": ("tests/mailbox/background/",),
    "mailbox/database/": ("tests/mailbox/database/", "tests/load/"),
    "mailbox/dialects/a2a/": ("tests/mailbox/dialects/a2a/",),
    "mailbox/dialects/base/": ("tests/authorisation/", "tests/mailbox/dialects/"),
    "mailbox/dialects/mcp/": ("tests/mailbox/dialects/mcp/",),
    "mailbox/dialects/yeoman/": ("tests/mailbox/dialects/yeoman/",),
    "mailbox/gate/": ("tests/authorisation/", "tests/mailbox/gate/"),
    "mailbox/inspection/": ("tests/mailbox/inspection/", "tests/mailbox/dialects/test_openapi.py"),
    "mailbox/management/": ("tests/mailbox/management/", "tests/clients/python/cli/"),
    "mailbox/models/": ("tests/mailbox/models/", "tests/mailbox/verbs/", "tests/tools/proof/test_short.py"),
    "mailbox/outbound/": ("tests/mailbox/outbound/", "tests/agentcards/"),
    "mailbox/verbs/": ("tests/mailbox/verbs/", "tests/tools/proof/test_short.py"),
    "requirements/": ("tests/test_install.py", "tests/deploy/"),
    "templates/": ("tests/dashboard/browser/",),
    "tools/": ("tests/tools/",),
}
CONFTEST = re.compile(r"tests/.+/conftest\.py")


def changed_since(base: str) -> set[str]:
    """Return the paths of files that were changed, added or deleted since ``base``, committed or not."""
    return {*_git("diff", "--name-only", base), *_git("ls-files", "--others", "--exclude-standard")}


def upstream() -> str:
    return next(iter(_git("rev-parse", "--abbrev-ref", "@{upstream}")), "HEAD")


def head() -> str:
    return _git("rev-parse", "HEAD")[0]


def last_record() -> str:
    """Return the commit whose tests the record has. End the program where the repository lacks it."""
    if not _git("rev-parse", "--verify", f"{(commit := record.commit())}^{{commit}}"):
        raise SystemExit(f"This repository lacks the commit of the record, {commit}. Fetch its whole history.")
    return commit


def mirrors(changed: Iterable[str]) -> set[str]:
    """Return the test modules of the changed modules: changed themselves, mirrored, or named in `READ_BY`."""
    modules = _modules()
    own = {path for path in changed if path in modules}
    for path in map(PurePosixPath, changed):
        own |= {name for name in modules if _mirrors(PurePosixPath(name), path)}
        for pattern, names in READ_BY.items():
            if path.match(pattern):
                own |= {name for name in modules if name.startswith(names)}
    return own


def _mirrors(module: PurePosixPath, path: PurePosixPath) -> bool:
    """Whether ``tests/a/b/test_c_more.py`` is a test of ``a/b/c.py``, or of the template ``c.html``."""
    is_template = path.parts[0] == "templates" and module.parts[1] == "dashboard"
    is_beside = path.suffix == ".py" and module.parent == PurePosixPath("tests", path.parent)
    return (is_template or is_beside) and f"{module.stem}_".startswith(f"test_{path.stem.lstrip('_')}_")


def cheapest(changed: set[str], without: set[str], seconds: float) -> tuple[list[str], int]:
    """Return the cheapest functions that ran a changed module, up to ``seconds`` of CPU, and how many are left out.

    A changed module of helpers touches all tests that import it.
    """
    ran = record.ran()
    files = {name for name, modules in ran.items() if modules & changed} | _importers(changed)
    costs = record.costs("sqlite")
    touched = {
        name: cost.of_gate
        for name, cost in costs.items()
        if cost.in_gate and name.partition("::")[0] in files - without
    }
    chosen = _within(touched, seconds)
    return chosen, len(touched) - len(chosen)


def _importers(changed: set[str]) -> set[str]:
    """Return the test modules that import a changed module of helpers."""
    helpers = {PurePosixPath(path).stem for path in changed if path.startswith(("tests/support/", "tools/"))}
    helpers -= {"__init__", "__main__"}
    if not helpers:
        return set()
    names = "|".join(sorted(helpers))
    imports = re.compile(rf"^(from (tests|tools)[.\w]*( import (.*, )?|\.)|    )({names})(,|$| import)", re.MULTILINE)
    return {path for path in _modules() if imports.search((ROOT / path).read_text())}


def deep(changed: set[str], seconds: float) -> tuple[list[str], int]:
    """Return the deep tests of the parts that the change touches, up to ``seconds`` of CPU, and how many are left out.

    The cheapest come first. A module that changed, or is newer than the record, is returned whole.
    """
    begins = {
        path for begin, paths in DEEP.items() if any(name.startswith(begin) for name in changed) for path in paths
    }
    begins |= _importers(changed) | {name.removesuffix("conftest.py") for name in changed if CONFTEST.fullmatch(name)}
    costs: dict[str, float] = {}
    for database in ("sqlite", "postgresql"):
        for name, cost in record.costs(database).items():
            if cost.in_gate < cost.cases and name.startswith(tuple(begins)):
                costs[name] = costs.get(name, 0.0) + cost.seconds - cost.of_gate
    whole = _modules() & changed | {path for path in begins & _modules() if path not in _files(record.costs("sqlite"))}
    others = {name: cost for name, cost in costs.items() if _files([name]).isdisjoint(whole)}
    chosen = _within(others, seconds)
    return sorted(whole) + chosen, len(others) - len(chosen)


def _within(costs: Mapping[str, float], seconds: float) -> list[str]:
    """Return the cheapest names whose costs are ``seconds`` at most in all."""
    names = sorted(costs, key=lambda name: costs[name])
    sums = accumulate(costs[name] for name in names)
    return [name for name, spent in zip(names, sums, strict=True) if spent <= seconds]


def _modules() -> set[str]:
    return {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")}


def _files(names: Iterable[str]) -> set[str]:
    return {name.partition("::")[0] for name in names}


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    return done.stdout.splitlines() if done.returncode == 0 else []
