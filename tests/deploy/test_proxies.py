"""The examples for nginx and Caddy carry what the hub needs, where these programs are installed."""

import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from a2aproject.checks import LARGEST_BODY_BYTES
from mailbox.words.times import LONGEST_WAIT_MS
from tests.deploy import proxies
from tests.deploy.backend import Backend
from tests.deploy.proxies import PROGRAMS, Program
from tests.support.hub import PATIENCE, served
from tests.support.ports import lasting_port

pytestmark = [pytest.mark.one_database, pytest.mark.processes]

CLAIMED = "203.0.113.9"  # the address that a client claims to have
STREAM = {"message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "Count the lines"}]}}


class Site:
    """A hub behind a proxy, with an agent that may send tasks to itself."""

    def __init__(self, proxy: proxies.Proxy, hub: Any) -> None:
        self.proxy, self.hub = proxy, hub
        self.password = re.findall(r"password +(\S+)", hub.first_run)[0]
        operator, self.key = re.findall(r"API key +(a2a_\w+)", hub.first_run)
        with self.client(operator) as client:
            for action in ("a2a.send.first@local", "a2a.respond.first@local"):
                grant = {"subject": "first@local", "action": action}
                client.post("/capabilities/grant", json=grant).raise_for_status()

    def client(self, key: str | None = None, **headers: str) -> httpx.Client:
        headers |= {} if key is None else {"X-API-Key": key}
        return httpx.Client(base_url=self.proxy.url, verify=self.proxy.trust, timeout=PATIENCE, headers=headers)

    def send(self, client: httpx.Client, **fields: Any) -> httpx.Response:
        return client.post("/a2a/tasks", json={"recipient": "first", "intent_text": "Count the lines", **fields})

    def addresses(self) -> set[str]:
        """Return the addresses of all clients in the journal, without those of commands."""
        with closing(sqlite3.connect(self.hub.log.parent / "hub.sqlite3")) as database:
            return {row[0] for row in database.execute("SELECT address FROM mailbox_auditevent")} - {""}

    def empty_queue(self, client: httpx.Client) -> None:
        while self.lease(client, 0)["task"]:
            pass

    def lease(self, client: httpx.Client, wait_ms: int) -> dict[str, Any]:
        answer: dict[str, Any] = client.get("/a2a/tasks/next", params={"wait_ms": wait_ms}).json()
        return answer


@pytest.fixture(scope="module", params=PROGRAMS, ids=str)
def site(request: Any, tmp_path_factory: Any) -> Iterator[Site]:
    program: Program = request.param
    folder, port = tmp_path_factory.mktemp(program.name), lasting_port()
    with (
        served(folder / "var", migrates=True, PUBLIC_URL=f"https://localhost:{port}") as hub,
        program.running(folder, port, urlsplit(hub.url).port or 0) as proxy,
    ):
        yield Site(proxy, hub)


def test_a_long_poll_through_the_proxy_gets_the_task_that_is_sent_meanwhile(site):
    with ThreadPoolExecutor(1) as pool, site.client(site.key) as client:
        site.empty_queue(client)
        poll = pool.submit(site.lease, client, LONGEST_WAIT_MS)
        sent = site.send(client, intent_text="Count the pages").json()["task_id"]
        leased = poll.result(PATIENCE)

    assert leased["task"]["id"] == sent


def test_a_stream_brings_each_event_at_once(site):
    with site.client(site.key) as client:
        site.empty_queue(client)
    with (
        site.client(site.key, **{"A2A-Version": "1.0"}) as client,
        client.stream("POST", "/agents/first/rest/message:stream", json=STREAM) as stream,
    ):
        lines = stream.iter_lines()
        first = next(line for line in lines if line.startswith("data:"))
        leased = site.lease(client, 0)
        result = {"task_id": leased["task"]["id"], "lease_id": leased["lease"]["lease_id"], "status": "ok"}
        client.post("/a2a/results", json=result | {"content": [{"type": "text", "text": "7"}]}).raise_for_status()
        rest = list(lines)

    assert stream.headers["content-type"].startswith("text/event-stream")
    assert "SUBMITTED" in first
    assert any("COMPLETED" in line for line in rest)


def test_a_person_signs_in_through_the_proxy(site):
    with site.client() as browser:
        browser.headers["Referer"] = f"{site.proxy.url}/ops/"
        browser.follow_redirects = True
        browser.get("/ops/")
        form = {"username": "operator", "password": site.password}
        form["csrfmiddlewaretoken"] = browser.cookies["__Host-csrftoken"]
        page = browser.post("/admin/login/?next=/ops/", data=form)

    assert page.is_success
    assert page.url.path == "/ops/"
    assert "__Host-sessionid" in browser.cookies
    assert "max-age" in page.headers["strict-transport-security"]


def test_the_hub_believes_no_address_that_a_client_claims(site):
    claims = dict.fromkeys(("X-Forwarded-For", "X_Forwarded_For", "Forwarded", "X-Real-IP", "X_REAL_IP"), CLAIMED)
    with site.client(site.key, **claims) as client:
        site.send(client).raise_for_status()

    assert site.addresses() == {"127.0.0.1"}


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_no_header_name_with_an_underscore_reaches_the_hub(program, tmp_path):
    """The hub reads `X_Client_Cert` as `X-Client-Cert`. The proxy sets only the second one, if it sets any."""
    with Backend() as backend, program.running(tmp_path, lasting_port(), backend.port) as proxy:
        names = {"X_Client_Cert": "a", "X_Forwarded_For": "b", "x_real_ip": "c", "X-Seen": "d"}
        with httpx.Client(verify=proxy.trust, timeout=PATIENCE) as client:
            client.get(f"{proxy.url}/healthz", headers=names).raise_for_status()

    assert "x-seen" in backend.seen
    assert [name for name in backend.seen if "_" in name] == []


@pytest.mark.processes
def test_the_hub_would_believe_the_claim_without_the_proxy(tmp_path):
    with served(tmp_path, migrates=True, PUBLIC_URL="https://localhost:1") as hub:
        operator, _ = re.findall(r"API key +(a2a_\w+)", hub.first_run)
        headers = {"X-API-Key": operator, "X-Forwarded-For": CLAIMED, "X-Forwarded-Proto": "https"}
        grant = {"subject": "first@local", "action": "a2a.send.first@local"}
        httpx.post(f"{hub.url}/capabilities/grant", json=grant, headers=headers).raise_for_status()
    with closing(sqlite3.connect(tmp_path / "hub.sqlite3")) as database:
        addresses = {row[0] for row in database.execute("SELECT address FROM mailbox_auditevent")}

    assert CLAIMED in addresses


def test_a_body_that_is_too_large_is_refused_as_such(site):
    with site.client(site.key) as client:
        large = site.send(client, intent_text="x" * 1_100_000)
        small = site.send(client, intent_text="x" * 100_000)

    assert large.status_code == 413
    assert "task_id" not in large.text
    assert small.is_success


@pytest.mark.parametrize("site", PROGRAMS[:1], ids=str, indirect=True)
def test_nginx_logs_requests_and_redirects_those_without_tls(site):
    redirected = httpx.get(f"http://127.0.0.1:{site.proxy.plain}/ops/", headers={"Host": "localhost"})
    with site.client() as client:
        client.get("/healthz")

    assert (redirected.status_code, redirected.headers["location"]) == (308, "https://localhost/ops/")
    assert "/healthz" in (site.proxy.folder / "access.log").read_text()


def test_each_example_waits_longer_than_a_receive(settings: Any) -> None:
    nginx = re.findall(r"proxy_read_timeout (\d+)s;", proxies.NGINX)
    caddy = re.findall(r"response_header_timeout (\d+)s", proxies.CADDY)

    assert len(nginx) == len(caddy) == 1
    assert all(int(seconds) * 1000 > settings.A2A_LONGEST_WAIT_MS for seconds in nginx + caddy)


def test_each_example_has_the_hub_s_port_and_its_limit_of_bodies(settings: Any) -> None:
    assert settings.A2A_MAX_BODY_BYTES == 2**20
    assert "client_max_body_size  1m;" in proxies.NGINX
    assert "max_size 10MiB" in proxies.CADDY
    assert LARGEST_BODY_BYTES < 10 * 2**20
    assert "server 127.0.0.1:3000;" in proxies.NGINX
    assert "127.0.0.1:3000" in proxies.CADDY
