"""The files of the project. Each file is read once, and each module is parsed once."""

import ast
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[2]
HUB = ("a2aproject", "agentcards", "dashboard", "mailbox")
CLIENT = "clients/python/src/a2a_hub_client"
PRODUCT = (*HUB, CLIENT)
TESTS = ("tests", "tools")
MADE = {  # .gitignore
    "clients/javascript/dist",
    "clients/javascript/node_modules",
    "clients/python/src/a2a_hub_client/_sync",
    "screenshots",
    "site",
    "staticfiles",
    "var",
}

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")

Node = TypeVar("Node", bound=ast.AST)
Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """A place that breaks a rule, and why."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


class File:
    """A text of the project. ``path`` is relative to the root."""

    def __init__(self, root: Path, path: str) -> None:
        self.path = path
        self.file = root / path

    @cached_property
    def text(self) -> str:
        return self.file.read_text()

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def definitions(self) -> list[Definition]:
        """The module, and each class and function in it."""
        found: list[Definition] = []
        left: list[ast.AST] = [self.tree]
        while left:
            node = left.pop()
            if isinstance(node, Definition):
                found.append(node)
            for name in BLOCKS:
                left += getattr(node, name, ())
        return found

    @cached_property
    def _nodes(self) -> Mapping[type[ast.AST], list[ast.AST]]:
        found: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        left: list[ast.AST] = [self.tree]
        while left:  # `ast.walk` takes three times as long
            node = left.pop()
            found[type(node)].append(node)
            for value in vars(node).values():
                if isinstance(value, ast.AST):
                    left.append(value)
                elif isinstance(value, list):
                    left += [part for part in value if isinstance(part, ast.AST)]
        return found

    def nodes(self, kind: type[Node]) -> Iterable[Node]:
        """Return the nodes of this class, in no order."""
        return self._nodes.get(kind, ())  # type: ignore[return-value]

    def fault(self, line: int, text: str) -> Fault:
        return Fault(self.path, line, text)

    def fault_at(self, offset: int, text: str) -> Fault:
        """Return a fault in the line of this character."""
        return Fault(self.path, self.text.count("\n", 0, offset) + 1, text)


class Project:
    """The files below a root, by their paths."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self._files: dict[str, File] = {}
        self._below: dict[str, list[str]] = {}

    def file(self, path: str) -> File:
        if path not in self._files:
            self._files[path] = File(self.root, path)
        return self._files[path]

    def text(self, path: str) -> str:
        return self.file(path).text

    def exists(self, path: str) -> bool:
        return (self.root / path).exists()

    def files(self, folder: str, suffix: str) -> list[File]:
        """Return the files with this suffix in the folder and below."""
        if folder not in self._below:
            self._below[folder] = sorted(self._walk(folder))
        return [self.file(path) for path in self._below[folder] if path.endswith(suffix)]

    def python(self, *folders: str) -> list[File]:
        """Return all modules in these folders."""
        return [file for folder in folders for file in self.files(folder, ".py")]

    def modules(self, *folders: str) -> list[File]:
        """Return the modules in these folders, without migrations."""
        return [file for file in self.python(*folders) if "/migrations/" not in file.path]

    @cached_property
    def pages(self) -> list[File]:
        """The Markdown pages."""
        found = (path for pattern in ("*.md", "clients/*/*.md") for path in sorted(self.root.glob(pattern)))
        return [*(self.file(path.relative_to(self.root).as_posix()) for path in found), *self.files("docs", ".md")]

    @cached_property
    def scripts(self) -> list[File]:
        """The modules of the JavaScript client that people write."""
        found = (file for suffix in (".ts", ".mjs") for file in self.files("clients/javascript", suffix))
        return [file for file in found if file.path != "clients/javascript/src/openapi.ts"]

    @cached_property
    def templates(self) -> list[File]:
        return self.files("templates", ".html")

    @cached_property
    def folders(self) -> list[PurePosixPath]:
        """The folders of the source that hold a file."""
        return sorted({PurePosixPath(path).parent for path in self._walk("")} - {PurePosixPath()})

    @property
    def read(self) -> int:
        """The number of files that were read so far."""
        return len(self._files)

    def _walk(self, folder: str) -> Iterator[str]:
        """Yield the paths of the files in the folder and below, without those that programs make."""
        for above, inner, files in os.walk(self.root / folder):
            place = Path(above).relative_to(self.root)
            inner[:] = [name for name in inner if _is_source(place / name)]
            yield from ((place / name).as_posix() for name in files)


def _is_source(folder: Path) -> bool:
    """Whether the folder is a part of the source. Programs make the others."""
    is_hidden = folder.name.startswith(".") and folder.name != ".ci"
    return not is_hidden and folder.name != "__pycache__" and folder.as_posix() not in MADE
