"""The blocks of the two pages about MCP run as they stand, and the page of the protocol names all tools."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from mailbox.dialects.mcp.methods import TEMPLATES
from mailbox.dialects.mcp.tools import TOOLS
from tests.mailbox.dialects.mcp.clients.conftest import McpStage
from tests.support import pages
from tests.support.hub import PATIENCE, ROOT

pytestmark = pytest.mark.one_database

PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
START, PAGE = pages.page("docs/start/mcp.md"), pages.page("docs/protocols/mcp.md")


def blocks(page: str, language: str) -> list[str]:
    return [code for found, code in pages.BLOCK.findall(page) if found == language]


def block(page: str, language: str) -> str:
    (code,) = blocks(page, language)
    return code


def run(command: list[str], stage: McpStage, **more: str) -> str:
    own = {"PATH": PATH, "A2A_URL": stage.hub.url}
    environment = {**os.environ, **own, "HUB": stage.hub.url, **more}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_assistant_that_the_page_registers_runs_its_client(stage: McpStage, tmp_path: Path) -> None:
    printed = run(["bash", "-euc", block(START, "sh")], stage, A2A_API_KEY=stage.keys["operator"])
    (key,) = re.findall(r"\ba2a_\w+", printed)
    program = tmp_path / "client.py"
    program.write_text(block(PAGE, "python"))

    assert run([sys.executable, str(program)], stage, A2A_API_KEY=key) == "queued\n"


def test_the_block_of_a_client_is_json_for_this_door() -> None:
    server = json.loads(blocks(START, "json")[0])["mcpServers"]["a2a-hub"]

    assert server["url"].endswith("/mcp")
    assert server["headers"]["Authorization"].startswith("Bearer ")


def test_the_block_of_the_bridge_starts_it_with_a_stored_key(stage: McpStage, tmp_path: Path) -> None:
    (login,) = re.findall(r"`a2a login http://127.0.0.1:3000 ([^`]+)`", START)
    own = {"A2A_CONFIG": str(tmp_path / "config.toml"), "PATH": PATH, "A2A_URL": "", "A2A_API_KEY": ""}
    (tmp_path / "key").write_text(stage.keys["alice"])
    run(["a2a", "login", stage.hub.url, *login.split(), "--key-file", str(tmp_path / "key")], stage, **own)
    server = json.loads(blocks(START, "json")[1])["mcpServers"]["a2a-hub"]

    async def look() -> str:
        bridge = StdioServerParameters(**server, env={**os.environ, **own})
        with anyio.fail_after(PATIENCE):
            async with Client(stdio_client(bridge, errlog=stage.log)) as client:
                return str((await client.call_tool("whoami", {})).structured_content["agent"])

    assert anyio.run(look) == "alice@local"


def test_the_page_names_every_tool_and_every_template() -> None:
    assert [name for name in TOOLS if f"`{name}`" not in PAGE] == []
    assert set(re.findall(r"`(\w+)`", pages.first_cells(START.partition("| To |")[2]))) <= {*TOOLS}
    assert [one["uriTemplate"] for one in TEMPLATES if f"`{one['uriTemplate']}`" not in PAGE] == []
