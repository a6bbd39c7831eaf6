from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import prose

pytestmark = pytest.mark.one_database

ROOT = Path(__file__).resolve().parent.parent
CLIENT = "clients/python/src/a2a_hub_client"
PRODUCT = ("a2aproject", "agentcards", CLIENT, "dashboard", "mailbox")
WITH_MESSAGES = ("a2aproject", "agentcards", CLIENT, "mailbox")


def passages() -> Iterator[prose.Passage]:
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "clients").glob("*/*.md"), *(ROOT / "docs").rglob("*.md")]):
        yield from prose.of_markdown(path, str(path.relative_to(ROOT)))
    for package in (*PRODUCT, "tests", "tools", "docs"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            yield from prose.of_python(path, name)
            if package in WITH_MESSAGES and "migrations" not in path.parts:
                yield from prose.messages(path, name)


def test_the_prose_keeps_the_rule():
    assert [str(fault) for passage in passages() for fault in prose.faults(passage)] == []


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("The hub rejects a late result.", []),
        ("Whoever meets such a task resolves it.", ['"Whoever": name the caller, agent or person']),
        ("What is due comes last.", ["begin with a noun, not with who or what"]),
        ("What is due?", []),
        (f"The hub {'really ' * 24}waits.", ["27 words"]),
        (f"The hub waits. {'It waits. ' * 20}", []),
        (f"The hub reads `{'very ' * 40}long` code.", []),
        ("The sweep drops one that expired.", ["repeat the noun"]),
        ("Rows are written so as to be read.", ["write: to"]),
    ],
)
def test_each_fault_of_a_sentence_is_reported(text: str, reasons: list[str]) -> None:
    assert [fault.reason for fault in prose.faults(prose.Passage("page:1", text))] == reasons


def test_all_prose_of_a_module_is_read(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""Of the module."""\n\n# Of a\n# block.\nx = 1  # Of a line.\n\n\ndef f():\n    """Of f."""\n')

    texts = [passage.text for passage in prose.of_python(module, "module.py")]

    assert texts == ["Of the module.", "Of f.", "Of a\nblock.", "Of a line."]


def test_messages_are_read_and_sql_is_not(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('a = f"No agent named {x} is registered here."\nb = "SELECT id FROM mailbox_task WHERE id = 1"\n')

    assert [passage.text for passage in prose.messages(module, "m.py")] == ["No agent named VALUE is registered here."]


def test_code_of_a_page_is_no_prose(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A title\n\nOne line\nand the next.\n\n```sh\nwhoever\n```\n\n| a cell | b |\n|---|---|\n- item\n"
    )

    assert [passage.text for passage in prose.of_markdown(page, "page.md")] == [
        "# A title",
        "One line\nand the next.",
        "a cell",
        "b",
        "item",
    ]
