"""The tests that a change touches: by the modules that they ran in the last `make test-all`, and by their paths."""

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import PurePosixPath

from tests.support import record
from tests.support.record import ROOT, file_of

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
    "compose.yaml": ("tests/deploy/",),
    "dashboard/": ("tests/authorisation/", "tests/dashboard/"),
    "deploy/": ("tests/deploy/",),
    "Dockerfile": ("tests/deploy/",),
    "docs/": ("tests/docs/", "tests/test_make_site.py"),
    "docs/demo/": ("tests/test_demo.py",),
    "docs/tour/": ("tests/test_tour.py",),
    "mailbox/access/": ("tests/authorisation/", "tests/mailbox/access/"),
    "mailbox/background/": ("tests/mailbox/background/",),
    "mailbox/database/": ("tests/mailbox/database/", "tests/load/"),
    "mailbox/dialects/": ("tests/authorisation/", "tests/mailbox/dialects/"),
    "mailbox/in_process/": ("tests/mailbox/in_process/", "tests/clients/python/contract/"),
    "mailbox/inspection/": ("tests/mailbox/inspection/", "tests/mailbox/dialects/test_openapi.py"),
    "mailbox/journal/": ("tests/mailbox/access/", "tests/tools/proof/test_short.py"),
    "mailbox/life/": ("tests/mailbox/life/", "tests/tools/proof/test_short.py"),
    "mailbox/management/": ("tests/mailbox/management/", "tests/clients/python/cli/"),
    "mailbox/migrations/": ("tests/mailbox/models/", "tests/tools/proof/scenarios/"),
    "mailbox/models/": ("tests/mailbox/models/", "tests/mailbox/life/", "tests/tools/proof/test_short.py"),
    "mailbox/outbound/": ("tests/mailbox/outbound/", "tests/agentcards/"),
    "mailbox/repairs/": ("tests/mailbox/repairs/",),
    "mailbox/upkeep/": ("tests/mailbox/upkeep/", "tests/tools/proof/test_short.py"),
    "mailbox/words/": ("tests/mailbox/dialects/", "tests/tools/proof/test_short.py"),
    "requirements/": ("tests/test_install.py", "tests/deploy/"),
    "templates/": ("tests/dashboard/browser/",),
    "tools/": ("tests/tools/",),
}
IMPORT = re.compile(
    r"^\s*(?:from ((?:tests|tools)[.\w]*) import (\([^)]*\)|.*)|import ((?:tests|tools)[.\w]*))", re.MULTILINE
)
PLUGIN = re.compile(r"^    \"(tests\.support\.\w+)\",$", re.MULTILINE)


def changed_since(base: str) -> set[str]:
    """Return the paths of files that changed since ``base``, committed or not; of a renamed file, both paths.

    The client for threads has changed with the client for asyncio, from which it is written.
    """
    tracked = _git("diff", "--name-only", "--no-renames", "--merge-base", base)
    changed = {*tracked, *_git("ls-files", "--others", "--exclude-standard")}
    return changed | {path.replace("/_async/", "/_sync/") for path in changed}


def upstream() -> str:
    """Return the name of the branch that the change is for. HEAD, if no other repository has it."""
    return next((name for name in ("@{upstream}", "origin/HEAD") if _has(name)), "HEAD")


def head() -> str:
    return _git("rev-parse", "HEAD")[0]


def last_record() -> str:
    """Return the commit whose tests the record has. End the program where the repository lacks it."""
    if not _has(commit := record.commit()):
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
    """Whether ``tests/a/b/test_c_more.py`` is a test of ``a/b/c.py``, or of the template ``c.html``.

    A template ``b_more.html`` or ``bs.html`` also has the tests in the folder ``bs`` of its pages.
    """
    name = f"{module.stem}_".startswith(f"test_{path.stem.lstrip('_')}_")
    if path.parts[0] == "templates":
        is_of_page = module.parent.name.rstrip("s") == path.stem.partition("_")[0].rstrip("s")
        return module.parts[1] == "dashboard" and (name or is_of_page)
    return name and path.suffix == ".py" and module.parent == PurePosixPath("tests", path.parent)


def cheapest(changed: set[str], own: set[str], seconds: float) -> tuple[list[str], int]:
    """Return the cheapest functions of the gate that the change touches, and how many are left out.

    The functions and the modules ``own`` together cost ``seconds`` of CPU at most. None of the functions is in ``own``.
    """
    costs = {name: cost.of_gate for name, cost in record.costs("sqlite").items() if cost.in_gate}
    of_own = {name for name in costs if file_of(name) in own}
    touched = _touched(changed)
    others = {name: cost for name, cost in costs.items() if {name, file_of(name)} & touched and name not in of_own}
    chosen = _within(others, seconds - sum(costs[name] for name in of_own))
    return chosen, len(others) - len(chosen)


def deep(changed: set[str], seconds: float) -> tuple[list[str], int]:
    """Return the deep tests of the parts that the change touches, up to ``seconds`` of CPU, and how many are left out.

    Changed modules of tests come first, whole. The cheapest others follow.
    """
    seconds_of: dict[str, float] = defaultdict(float)
    for database in ("sqlite", "postgresql"):
        for name, cost in record.costs(database).items():
            if cost.deep:
                seconds_of[name] += cost.of_deep
    parts = [paths for begin, paths in DEEP.items() if any(name.startswith(begin) for name in changed)]
    begins = tuple(path for paths in parts for path in paths)
    touched = _touched(changed)
    whole = dict.fromkeys(_modules() & changed, 0.0)
    others = {}
    for name, spent in seconds_of.items():
        if file_of(name) in whole:
            whole[file_of(name)] += spent
        elif name.startswith(begins) or {name, file_of(name)} & touched:
            others[name] = spent
    of_changed = _within(whole, seconds)
    chosen = of_changed + _within(others, seconds - sum(whole[name] for name in of_changed))
    return chosen, len(whole) + len(others) - len(chosen)


def _touched(changed: set[str]) -> set[str]:
    """Return the functions that ran a changed module, and the modules of tests that a change beside them touches."""
    ran = {name for name, modules in record.ran().items() if modules & changed}
    return ran | affected(changed)


def affected(changed: set[str]) -> set[str]:
    """Return the modules of tests that import a changed module of `tests` or `tools`, or have it in their folder.

    Fixtures and other files than Python's belong to all tests of their folder.
    """
    known = {str(path.relative_to(ROOT)): path for part in ("tests", "tools") for path in (ROOT / part).rglob("*.py")}
    importers: dict[str, set[str]] = defaultdict(set)
    for name, path in known.items():
        for imported in _imports(path.read_text()):
            importers[imported].add(name)
    modules = _modules()
    reached: set[str] = set()
    open_ = {path for path in changed if path.startswith(("tests/", "tools/")) and ROOT / path != record.FILE}
    while open_:
        name = open_.pop()
        reached.add(name)
        following = set(importers[name])
        if name.endswith("/conftest.py") or not name.endswith(".py"):
            following |= {test for test in modules if test.startswith(f"{name.rpartition('/')[0]}/")}
        open_ |= following - reached
    return reached & modules


def _imports(text: str) -> Iterator[str]:
    """Yield the paths of the modules that a Python text imports from `tests` and `tools`."""
    for module, names, whole in IMPORT.findall(text):
        yield _path_of(module or whole)
        yield from (_path_of(f"{module}.{name}") for name in re.findall(r"\w+", names))
    yield from map(_path_of, PLUGIN.findall(text))


def _path_of(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _within(costs: Mapping[str, float], seconds: float) -> list[str]:
    """Return the cheapest names whose costs are ``seconds`` at most in all."""
    names = sorted(costs, key=lambda name: costs[name])
    sums = accumulate(costs[name] for name in names)
    return [name for name, spent in zip(names, sums, strict=True) if spent <= seconds]


def _modules() -> set[str]:
    return {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")}


def _has(revision: str) -> bool:
    words = ["git", "rev-parse", "--quiet", "--verify", f"{revision}^{{commit}}"]
    return subprocess.run(words, cwd=ROOT, capture_output=True, check=False).returncode == 0


def _git(*words: str) -> list[str]:
    """Return the lines that git prints. End the program if git fails."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    if done.returncode:
        raise SystemExit(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.splitlines()
