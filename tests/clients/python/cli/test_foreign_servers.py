"""A command at a URL that is not a hub's fails with one line."""

from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from a2a_hub_client.cli import command
from a2a_hub_client.cli.app import app
from tests.support.http_servers import Handler, serving

pytestmark = [pytest.mark.processes, pytest.mark.one_database]

TASK = "5e0c8a53-7d0b-4a57-9a0e-3f1d8f0c2b64"
COMMANDS = [("whoami",), ("task", "list"), ("task", "show", TASK), ("agent", "list"), ("grant", "list")]


class Foreign(Handler):
    """Answers each request with JSON that is no hub's."""

    def answer(self, body: bytes) -> None:
        self.send(200, b'{"error": "x"}')


@pytest.fixture
def url() -> Iterator[str]:
    with serving(Foreign) as url:
        yield url


def said_by(url, words, config, monkeypatch):
    monkeypatch.setattr(command, "USUAL_PATIENCE", 0.0)
    known = {"A2A_URL": url, "A2A_API_KEY": "a2a_secret", "A2A_CONFIG": str(config / "none")}
    ran = CliRunner().invoke(app, words, env=known)
    assert ran.exit_code == 1, ran.output
    return ran.stderr


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_json_of_another_server_is_reported_in_one_line(url, words, tmp_path, monkeypatch):
    said = said_by(url, words, tmp_path, monkeypatch)

    assert said.startswith(f"a2a: {url} does not answer as a hub: the answer to ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("url", ["hub:3000", "ftp://hub", "http://", "http://hub:99999"])
def test_a_url_that_is_no_hub_s_is_reported_in_one_line(url, tmp_path, monkeypatch):
    said = said_by(url, ("whoami",), tmp_path, monkeypatch)

    assert said == f"a2a: the URL of a hub starts with http:// or https:// and names a host, unlike {url!r}\n"
