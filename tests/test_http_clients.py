"""The modules that speak HTTP without the client package, and why. All others talk to a hub by the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

FOLDERS = ("deploy", "docs", "mailbox/management", "tests", "tools")
LIBRARIES = {"aiohttp", "http.client", "httpx", "httpx2", "requests", "urllib.request", "urllib3"}
LIBRARIES |= {"tests.support.raw_client"}
CALLS = {"create_connection", "HTTPConnection", "open_connection", "urlopen"}
MAY = {  # modules, and folders with their last slash
    "asks whether a hub is up or ready": (
        "deploy/health.py",
        "docs/demo/run.py",
        "tests/a2aproject/serving/test_shared_counts.py",
        "tools/proof/faults/readiness.py",
        "tests/support/hub.py",
    ),
    "reads pages as a browser does": (
        "tools/bench/dashboard.py",
        "tests/deploy/test_image.py",
        "tests/test_tour.py",
    ),
    "tests the client package itself, below its surface": ("tests/clients/python/",),
    "checks statuses, headers or connections, which the package hides": (
        "tests/a2aproject/serving/test_outages.py",
        "tests/a2aproject/serving/test_serve.py",
        "tests/deploy/proxies.py",
        "tests/deploy/test_proxies.py",
        "tests/deploy/test_proxy_logs.py",
        "tests/mailbox/dialects/test_fresh_hub.py",
        "tests/mailbox/dialects/test_signed_requests.py",
        "tests/mailbox/outbound/test_tls.py",
    ),
    "sends broken, slow or cut requests, or sees every single try": (
        "tools/fuzz/requests.py",
        "tests/load/raw_pair.py",
        "tests/load/test_cut_batches.py",
        "tests/load/test_cut_connections.py",
        "tests/load/test_slow_clients.py",
        "tools/proof/actors.py",
        "tools/proof/faults/limits.py",
        "tests/tools/proof/test_proxy.py",
        "tools/proof/wire.py",
        "tests/support/raw_client.py",
    ),
    "talks to a hub of the version before, which may lack routes of the package": (
        "tools/bench/sections/migration.py",
    ),
    "measures single requests, of which the package would cost a large part": (
        "tools/bench/blocking.py",
        "tools/bench/cycles.py",
        "tools/bench/sections/waiting.py",
        "tools/bench/short.py",
        "tools/bench/waiters.py",
    ),
    "speaks another protocol, or to another server than a hub": (
        "tools/bench/official_call.py",
        "tools/bench/sdk_server.py",
        "tools/fuzz/official_requests.py",
        "tools/fuzz/remote.py",
        "tests/load/official.py",
        "tests/load/test_official_streams.py",
        "tests/mailbox/background/test_federation.py",
        "tests/mailbox/background/test_official_sender_process.py",
        "tests/mailbox/background/test_remote_sender_process.py",
        "tests/mailbox/dialects/a2a/clients/test_streams.py",
        "tests/mailbox/dialects/corvid/test_conversation.py",
        "tests/mailbox/dialects/mcp/clients/conftest.py",
        "tests/mailbox/dialects/yeoman/test_served.py",
        "tools/proof/world.py",
        "tests/support/clients/drivers/python_0_3.py",
        "tests/support/clients/drivers/python_1.py",
        "tests/support/clients/player.py",
        "tests/support/clients/stage.py",
    ),
}


def names_of(node: ast.AST) -> Iterator[str]:
    """Yield the modules that the node imports, or the name that it calls."""
    if isinstance(node, ast.Import):
        yield from (name.name for name in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module or ""
        yield from (f"{node.module}.{name.name}" for name in node.names)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield node.func.attr
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        yield node.func.id


def speaks_http(source: str) -> bool:
    names = {name for node in ast.walk(ast.parse(source)) for name in names_of(node)}
    return bool(names & (LIBRARIES | CALLS))


def test_only_listed_modules_speak_http_without_the_client_package():
    modules = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    found = [str(path.relative_to(ROOT)) for path in modules if speaks_http(path.read_text())]
    listed = tuple(path for paths in MAY.values() for path in paths)

    assert [path for path in found if not path.startswith(listed)] == []
    assert [path for path in listed if not any(one.startswith(path) for one in found)] == []


@pytest.mark.parametrize(
    "source",
    [
        "import httpx",
        "from httpx import Client",
        "from http import client",
        "from http.client import HTTPConnection",
        "import urllib.request",
        "from urllib import request",
        "from tests.support import raw_client",
        "import socket\nsocket.create_connection(address)",
    ],
)
def test_the_check_sees_each_way_to_speak_http(source):
    assert speaks_http(source)


def test_the_check_passes_the_client_package_and_servers():
    assert not speaks_http("from http import HTTPStatus\nfrom urllib.parse import quote\nimport a2a_hub_client")
    assert not speaks_http("import socket\nsocket.create_server(address)")
