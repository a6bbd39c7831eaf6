"""Only a trusted proxy reports the address and scheme of a client. Reports by other clients are dropped."""

import json
from ipaddress import ip_network
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client

from a2aproject.web.middleware import ProxyMiddleware
from mailbox.access.callers import Role
from mailbox.models import AuditEvent
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = pytest.mark.one_database

PROXY, CLIENT = "10.0.0.9", "203.0.113.7"


@pytest.fixture(autouse=True)
def trusted(settings):
    settings.A2A_TRUSTED_PROXIES = [ip_network("10.0.0.0/8"), ip_network("2001:db8:1::/48")]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")


def seen(peer: str, **headers: str) -> HttpRequest:
    """Return the request as all code after the middleware sees it."""
    request = HttpRequest()
    request.META = {"REMOTE_ADDR": peer, "wsgi.url_scheme": "http", **headers}
    ProxyMiddleware(lambda _: HttpResponse())(request)
    return request


@pytest.mark.parametrize(
    ("chain", "address"),
    [
        ("203.0.113.7", CLIENT),
        ("203.0.113.7:50123", CLIENT),
        ("198.51.100.1, 203.0.113.7", CLIENT),  # the left one is the client's own word
        ("198.51.100.1,203.0.113.7, 10.0.0.3", CLIENT),  # through two trusted proxies, or in two headers
        ("10.0.0.2, 10.0.0.3", "10.0.0.2"),
        ("::ffff:203.0.113.7", CLIENT),
        ("2001:db8:2::5", "2001:db8:2::5"),
        ("[2001:db8:2::5]:443", "2001:db8:2::5"),
        ("[2001:db8:2::5]", "2001:db8:2::5"),
        ("fe80::1%eth0", "fe80::1"),
        ("203.0.113.7, unknown", PROXY),
        ("203.0.113.7, _hidden:80", PROXY),
        ("203.0.113.999", PROXY),
        ("203.0.113.7, <script>", PROXY),
        ("203.0.113.7,", PROXY),
        ("", PROXY),
        (", ".join(["10.0.0.1"] * 5000), "10.0.0.1"),
    ],
)
def test_a_trusted_proxy_names_the_client(chain, address):
    assert seen(PROXY, HTTP_X_FORWARDED_FOR=chain).META["REMOTE_ADDR"] == address


@pytest.mark.parametrize("peer", ["10.0.0.9", "::ffff:10.0.0.9", "2001:db8:1::9"])
def test_proxies_are_recognised_in_either_family(peer):
    assert seen(peer, HTTP_X_FORWARDED_FOR=CLIENT).META["REMOTE_ADDR"] == CLIENT


REPORTS = {
    "HTTP_X_FORWARDED_FOR": "198.51.100.1",
    "HTTP_X_FORWARDED_PROTO": "https",
    "HTTP_X_FORWARDED_HOST": "evil.example",
    "HTTP_X_FORWARDED_PORT": "443",
    "HTTP_X_FORWARDED_SOMETHING_NEW": "x",
    "HTTP_FORWARDED": "for=198.51.100.1;proto=https",
    "HTTP_X_REAL_IP": "198.51.100.1",
}


def test_reports_of_a_client_itself_are_dropped():
    request = seen("198.51.100.20", **REPORTS)

    assert request.META["REMOTE_ADDR"] == "198.51.100.20"
    assert REPORTS.keys().isdisjoint(request.META)
    assert not request.is_secure()


def test_of_a_proxys_reports_the_scheme_alone_is_left():
    request = seen(PROXY, **REPORTS)

    assert REPORTS.keys() & request.META.keys() == {"HTTP_X_FORWARDED_PROTO"}
    assert request.is_secure()


@pytest.mark.parametrize(
    ("reported", "is_secure"),
    [("https", True), ("HTTPS", True), ("http,https", True), ("https,http", False), ("", False)],
)
def test_the_right_most_scheme_counts(reported, is_secure):
    assert seen(PROXY, HTTP_X_FORWARDED_PROTO=reported).is_secure() == is_secure


@pytest.mark.parametrize("secret", [{}, {"HTTP_X_HUB_PROXY_SECRET": ""}, {"HTTP_X_HUB_PROXY_SECRET": "gu\xe9ssed"}])
def test_where_proxies_add_a_secret_another_program_at_their_address_is_no_proxy(settings, secret):
    settings.A2A_PROXY_SECRET = "only the proxy knows"
    settings.A2A_CLIENT_CERT_META = "HTTP_X_CLIENT_CERT"
    certificate = {"HTTP_X_CLIENT_CERT": "a public certificate"}

    program = seen(PROXY, **REPORTS, **certificate, **secret)
    proxied = seen(PROXY, **REPORTS, **certificate, HTTP_X_HUB_PROXY_SECRET="only the proxy knows")

    assert program.META.keys().isdisjoint(REPORTS.keys() | certificate.keys() | secret.keys())
    assert program.META["REMOTE_ADDR"] == PROXY
    assert (proxied.META["REMOTE_ADDR"], proxied.META["HTTP_X_CLIENT_CERT"]) == ("198.51.100.1", "a public certificate")
    assert "HTTP_X_HUB_PROXY_SECRET" not in proxied.META


@pytest.mark.parametrize("peer", ["", "unix:", "not an address"])
def test_a_peer_without_an_address_is_no_proxy(peer):
    request = seen(peer, **REPORTS)

    assert request.META["REMOTE_ADDR"] == peer
    assert REPORTS.keys().isdisjoint(request.META)


@pytest.mark.django_db
def test_the_journal_and_the_lock_of_sign_ins_name_the_client_behind_the_proxy(alice, bob):
    def forwarded(address: str) -> dict[str, Any]:
        return {"REMOTE_ADDR": PROXY, "HTTP_X_FORWARDED_FOR": address}

    body = json.dumps({"recipient": bob.name, "intent_text": "x"})
    key = {"Authorization": f"Bearer {factories.key_of(alice)}"}
    Client(headers=key).post("/a2a/tasks", body, content_type="application/json", **forwarded(CLIENT))
    person = factories.person("ana", Role.OPERATOR)
    wrong = {"username": person.name.removeprefix("user:"), "password": "wrong"}
    locked = [Client().post("/ops/sign-in/", wrong, **forwarded("198.51.100.1")).status_code for _ in range(6)]
    other = Client().post("/ops/sign-in/", wrong, **forwarded("198.51.100.2"))

    assert AuditEvent.objects.get(kind=Kind.TASK_SENT).address == CLIENT
    assert locked[-1] == 429
    assert other.status_code == 200
