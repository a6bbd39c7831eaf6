"""The blocks of docs/protocols/mcp.md run as they stand, and the page names all tools."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from mailbox.dialects.mcp.resources import TEMPLATES
from mailbox.dialects.mcp.tools import TOOLS
from tests.mailbox.dialects.mcp.clients.conftest import McpStage
from tests.support import pages
from tests.support.hub import PATIENCE, ROOT

PAGE = pages.page("docs/protocols/mcp.md")


def block(language: str) -> str:
    (code,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    text: str = code
    return text


def run(command: list[str], stage: McpStage, **more: str) -> str:
    own = {"A2A_VAR": str(stage.hub.log.parent), "DATABASE_URL": stage.hub.database_url, "PUBLIC_URL": stage.hub.url}
    environment = {**os.environ, **own, "HUB": stage.hub.url, **more}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_assistant_that_the_page_registers_runs_its_client(stage: McpStage, tmp_path: Path) -> None:
    printed = run(["bash", "-euc", block("sh")], stage)
    (key,) = re.findall(r"a2a_\w+", printed)
    program = tmp_path / "client.py"
    program.write_text(block("python"))

    assert run([sys.executable, str(program)], stage, A2A_API_KEY=key) == "queued\n"


def test_the_block_of_a_client_is_json_for_this_door() -> None:
    server = json.loads(block("json"))["mcpServers"]["a2a-hub"]

    assert server["url"].endswith("/mcp")
    assert server["headers"]["Authorization"].startswith("Bearer ")


def test_the_page_names_every_tool_and_every_template() -> None:
    assert [name for name in TOOLS if f"`{name}`" not in PAGE] == []
    assert [one["uriTemplate"] for one in TEMPLATES if f"`{one['uriTemplate']}`" not in PAGE] == []
