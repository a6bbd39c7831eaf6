"""List the test modules that a change touches: python -m tests.support.touched [BASE].

The change is every file that differs from BASE, committed or not. BASE is the branch's upstream, or HEAD without one.
A module touches the tests that import it, and the tests of its name in the mirrored folder. A template touches the
tests of its name. A module of a dialect or of its doors touches the conformance suite. A page touches the tests of all
pages. A file that a page names, or that `DESCRIBED` lists, touches the test of that page. A module of URLs touches the
test of the OpenAPI document.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
ALWAYS = "tests/test_layout.py"
DIALECTS = PurePosixPath("mailbox/dialects")
CONFORMANCE = "tests/mailbox/dialects/conformance/"
OPENAPI = "tests/mailbox/dialects/test_openapi.py"
OF_PAGES = {"tests/test_readme.py", "tests/test_prose.py"}
DESCRIBED = {
    "a2aproject/settings/*.py": "tests/docs/test_settings.py",
    "agentcards/models/*.py": "tests/docs/test_glossary.py",
    "mailbox/models/*.py": "tests/docs/test_glossary.py",
    "mailbox/management/cli/*.py": "tests/docs/test_manage.py",
    "urls.py": "tests/docs/test_http.py",
    "pyproject.toml": "tests/docs/test_generate.py",
    "a2a_hub_client/*.py": "tests/docs/test_generate.py",
    "a2a_hub_client/*/*.py": "tests/docs/test_generate.py",
    "clients/javascript/src/*.ts": "tests/docs/test_generate.py",
    "dashboard/views/guide.py": "tests/docs/test_generate.py",
    "mailbox/gate/entries/*.py": "tests/docs/test_generate.py",
    "mailbox/verbs/*/*.py": "tests/docs/test_generate.py",
    "tests/mailbox/dialects/conformance/*.py": "tests/docs/test_generate.py",
    "tests/mailbox/dialects/example/*.py": "tests/docs/test_generate.py",
    "tests/support/doors.py": "tests/docs/test_generate.py",
}


def main(arguments: list[str]) -> int:
    base = arguments[0] if arguments else _upstream()
    print("\n".join(sorted(touched_by(changed_since(base)))))  # noqa: T201
    return 0


def changed_since(base: str) -> set[str]:
    """Return the paths of files that were changed, added or deleted since ``base``, committed or not."""
    return {*_git("diff", "--name-only", base), *_git("ls-files", "--others", "--exclude-standard")}


def touched_by(changed: Iterable[str]) -> set[str]:
    """Return the paths of the test modules that the changed paths touch."""
    imports = _imports_of_tests()
    touched = {ALWAYS}
    for path in map(PurePosixPath, changed):
        if path.suffix == ".py":
            name = _dotted(path)
            touched |= {module for module, names in imports.items() if name in names}
            touched |= {module for module in imports if _mirrors(PurePosixPath(module), path)}
            touched |= {str(path)} & imports.keys()
            if DIALECTS in path.parents or path.name == "doors.py":
                touched |= {module for module in imports if module.startswith(CONFORMANCE)}
            if path.name == "urls.py":
                touched.add(OPENAPI)
        elif path.parts[0] == "templates":
            touched |= {module for module in imports if PurePosixPath(module).stem == f"test_{path.stem.lstrip('_')}"}
        elif path.suffix == ".md":
            touched |= OF_PAGES | {module for module in imports if module.startswith("tests/docs/")}
        touched |= {module for files, module in DESCRIBED.items() if path.match(files)} | _described(path)
    return touched


def _described(path: PurePosixPath) -> set[str]:
    """Return the tests of the pages that name the file."""
    pages = {
        f"tests/docs/test_{page.stem.replace('-', '_')}.py": page.read_text() for page in (ROOT / "docs").rglob("*.md")
    }
    return {module for module, text in pages.items() if f"`{path}`" in text and (ROOT / module).is_file()}


def _mirrors(module: PurePosixPath, path: PurePosixPath) -> bool:
    """Whether a path such as ``tests/a/b/test_c_more.py`` is a test of ``a/b/c.py``."""
    is_beside = module.parent == PurePosixPath("tests", path.parent)
    return is_beside and f"{module.stem}_".startswith(f"test_{path.stem}_")


@cache
def _imports_of_tests() -> Mapping[str, set[str]]:
    """Return the imports of each test module, by its path."""
    modules = (ROOT / "tests").rglob("test_*.py")
    return {str(module.relative_to(ROOT)): set(_imports(module)) for module in modules}


def _imports(module: Path) -> Iterable[str]:
    """Yield the dotted names of the module's imports, at its top and inside functions."""
    for node in ast.walk(ast.parse(module.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def _dotted(path: PurePosixPath) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _upstream() -> str:
    return next(iter(_git("rev-parse", "--abbrev-ref", "@{upstream}")), "HEAD")


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    return done.stdout.splitlines() if done.returncode == 0 else []


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
