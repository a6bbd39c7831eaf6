from pathlib import Path

import pytest

from tests.tools.lint.planting import planted
from tools.lint import prose

pytestmark = pytest.mark.one_database

REASONS = {
    "The hub rejects a late result.": [],
    "Whoever meets such a task resolves it.": ['"Whoever": name the caller, agent or person'],
    "What is due comes last.": ["begin with a noun, not with who or what"],
    "What is due?": [],
    f"The hub {'really ' * 24}waits.": ["27 words"],
    "a " * 25 + "a": ["26 words"],
    f"The hub waits. {'It waits. ' * 20}": [],
    f"The hub reads `{'very ' * 40}long` code.": [],
    "The sweep drops one that expired.": ["repeat the noun"],
    "Rows are written so\nas to be read.": ["write: to"],
    "So\nis the other row.": ["begin with a noun"],
    "Logs, metrics and the\nlike.": ["name the things"],
    "It needs none of\nthem.": ["write: no row, no request"],
    "A row, be it\nold, counts.": ["name the cases"],
}


def test_each_fault_of_a_sentence_is_reported() -> None:
    assert {text: [reason for _, reason in prose.faults(text)] for text in REASONS} == REASONS


def test_each_avoided_word_is_reported() -> None:
    assert [word for word in prose.AVOIDED if not [*prose.faults(f"{word.title()} waits.")]] == []


def test_all_prose_of_a_module_is_read(tmp_path: Path) -> None:
    text = '"""Of the module."""\n\n# Of a\n# block.\nx = "# 1"  # Of a line.\n'
    text += 'class C:\n    async def f():\n        """Of f."""\n'
    module = planted(tmp_path, {"module.py": text}).file("module.py")

    passages = [(passage.line, passage.text) for passage in prose.of_python(module)]

    assert passages == [(1, "Of the module."), (8, "Of f."), (3, "Of a\nblock."), (5, "Of a line.")]


def test_messages_are_read_and_sql_is_not(tmp_path: Path) -> None:
    text = 'a = f"No agent named {x} is registered here."\nb = "SELECT id FROM mailbox_task WHERE id = 1"\n'
    module = planted(tmp_path, {"module.py": text}).file("module.py")

    assert [passage.text for passage in prose.messages(module)] == ["No agent named VALUE is registered here."]


def test_code_of_a_page_is_no_prose(tmp_path: Path) -> None:
    text = "# A title\n\nOne line\nand the next.\n\n```sh\nwhoever\n```\n\n| a cell | b |\n|---|---|\n- item\n"
    page = planted(tmp_path, {"page.md": text}).file("page.md")

    assert [passage.text for passage in prose.of_markdown(page)] == [
        "# A title",
        "One line\nand the next.",
        "a cell",
        "b",
        "item",
    ]
