"""Targets that the hub must never call: no spelling of them may cause a connection."""

import socket
from ipaddress import ip_address

import pytest

from mailbox import checks
from mailbox.outbound import destinations, exchange
from mailbox.outbound.destinations import AllowList, BaseUrl
from mailbox.outbound.errors import BlockedUrlError, ExternalServiceError
from tests.support.wire_tap import tapped

pytestmark = pytest.mark.one_database

HOSTILE_ADDRESSES = [
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254"),  # noqa: S104
    *("168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1"),
    *("192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1"),
    *("239.255.255.250", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "::2", "::127.0.0.1", "::10.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::a00:1", "100::1", "2001::1", "2001:0:7f00:1::1"),
    *("2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::1", "2002:a9fe:a9fe::1", "3fff::1"),
    *("5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "ff0e::1", "4000::1"),
]
# 127.0.0.1 in full-width digits, in circled digits, and with ideographic full stops.
OTHER_DIGITS = [
    "\uff11\uff12\uff17.\uff10.\uff10.\uff11",
    "\u2460\u2461\u2466.\u24ea.\u24ea.\u2460",
    "127\u30020\u30020\u30021",
]
ODD_LITERALS = [
    *("2130706433", "2852039166", "0x7f000001", "0x7f.1", "0x7F.0.0.1", "0x", "0177.0.0.1", "017700000001", "127.1"),
    *("127.0.1", "10.1", "0", "1.2.3", "127.0.0.0x1", "0251.0376.0251.0376", "00127.0.0.1", "127.0.0.01"),
    *("127.0.0.1.", "169.254.169.254.", *OTHER_DIGITS, "127.0.0.256", "256"),
    *("[::1%25lo]", "[fe80::1%25eth0]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "[::1].", "[v1.x]", "127%2e0%2e0%2e1"),
    *("localhost", "LOCALHOST", "localhost.", "x.localhost", "a.b.localhost.", "printer.local", "printer.local."),
    *("user@127.0.0.1", "8.8.8.8@127.0.0.1", "127.0.0.1#@8.8.8.8", "8.8.8.8\\@127.0.0.1", "127.0.0.1\t", " 127.0.0.1"),
]
OTHER_URLS = [
    *("ftp://example.com", "file:///etc/passwd", "gopher://example.com", "javascript:alert(1)", "data:,x", "unix:/x"),
    *("//example.com", "example.com", "", "http://", "http:///x", "https://?x", "http://[::1", "http://a..b"),
    *("http://example.com:22", "http://example.com:25", "http://example.com:0", "http://example.com:6667"),
    *("http://xn--127/", "http://xn--a.example", "http://:%C3%A9@example.com", "http://:key%0A@example.com"),
    *("http://a%0D:b@example.com", "http://:@example.com", "http://:a%20@example.com", "http://x.example/" + "ü" * 400),
    *("http://example.com:99999", "http://example.com/?q", "http://example.com/#f", "http://" + "a" * 600),
]


def in_url(address: str) -> str:
    return f"http://[{address}]" if ":" in address else f"http://{address}"


@pytest.fixture
def resolver(monkeypatch):
    """Make the system's resolver return the test's lists of addresses, one per call; the last one repeats."""
    answers: list[list[str]] = []

    def getaddrinfo(host, port, *_, **__):
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [
            (socket.AF_INET6 if ":" in one else socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in found
        ]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return answers


def call(url: str) -> None:
    exchange.exchange("GET", url, within=5, headers={})


def test_the_tables_have_at_least_60_hostile_targets():
    assert len({*HOSTILE_ADDRESSES, *ODD_LITERALS}) >= 60


@pytest.mark.parametrize("address", HOSTILE_ADDRESSES)
def test_private_addresses_are_refused_as_text_and_when_connecting(address):
    with tapped() as connections:
        with pytest.raises(BlockedUrlError, match=r"Blocked URL: .* is "):
            BaseUrl.parse(in_url(address))
        with pytest.raises(BlockedUrlError):
            call(in_url(address))

    assert connections == []


@pytest.mark.parametrize("address", HOSTILE_ADDRESSES)
def test_names_that_resolve_to_private_addresses_are_refused(address, resolver):
    resolver.append([address])

    with (
        tapped() as connections,
        pytest.raises(BlockedUrlError, match=r"agent\.example resolves to a private/reserved IP range"),
    ):
        call("http://agent.example/")

    assert connections == []


@pytest.mark.parametrize("host", ODD_LITERALS)
def test_odd_spellings_are_refused_as_text_and_when_connecting(host):
    with tapped() as connections:
        with pytest.raises(BlockedUrlError):
            BaseUrl.parse(f"http://{host}/")
        with pytest.raises((BlockedUrlError, ExternalServiceError)):
            call(f"http://{host}/")

    assert connections == []


@pytest.mark.parametrize("url", OTHER_URLS)
def test_unusable_urls_are_refused(url):
    with tapped() as connections, pytest.raises(BlockedUrlError):
        BaseUrl.parse(url)

    assert connections == []


@pytest.mark.parametrize(
    "found", [["93.184.216.34", "127.0.0.1"], ["::1", "93.184.216.34"], ["2606:4700::1", "10.0.0.1"]]
)
def test_one_private_address_among_several_is_refused(found, resolver):
    resolver.append(found)

    with tapped() as connections, pytest.raises(BlockedUrlError):
        call("http://agent.example/")

    assert connections == []


def test_a_name_is_resolved_once_per_connection(resolver, monkeypatch):
    connected = []
    monkeypatch.setattr(socket.socket, "connect", lambda sock, address: connected.append(address))
    monkeypatch.setattr(socket.socket, "send", lambda sock, data: (_ for _ in ()).throw(ConnectionResetError("gone")))
    resolver += [["93.184.216.34"], ["127.0.0.1"]]

    with pytest.raises(ExternalServiceError):
        call("http://agent.example/")
    with pytest.raises(BlockedUrlError):
        call("http://agent.example/")

    assert connected == [("93.184.216.34", 80)]


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001::1"]
)
def test_public_addresses_are_allowed(address):
    assert destinations.is_public(ip_address(address))
    assert BaseUrl.parse(in_url(address)).text == in_url(address)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("not a url", "Invalid URL: not a url"),
        ("ftp://example.com", "Blocked URL scheme: ftp: — only http and https are allowed"),
        ("http://localhost:3000", "Blocked URL: localhost is not allowed"),
        ("http://127.0.0.1", "Blocked URL: 127.0.0.1 is not allowed"),
        ("http://[::1]:3000", "Blocked URL: ::1 is not allowed"),
        ("http://0.0.0.0", "Blocked URL: 0.0.0.0 is not allowed"),
        ("http://10.0.0.1", "Blocked URL: 10.0.0.1 is a private/reserved IP address"),
        ("http://2130706433", "Blocked URL: numeric IP address 2130706433 is not allowed"),
        ("http://0x7f000001", "Blocked URL: hex IP address 0x7f000001 is not allowed"),
        ("http://printer.local", "Blocked URL: printer.local is a local network hostname"),
    ],
)
def test_errors_use_corvid_agent_s_texts(url, message):
    with pytest.raises(BlockedUrlError) as refusal:
        BaseUrl.parse(url)

    assert refusal.value.message == message


@pytest.mark.parametrize("url", ["https://user:secret@example.com/?q", "http://:secret%0A@example.com"])
def test_errors_do_not_show_credentials(url):
    with pytest.raises(BlockedUrlError) as refusal:
        BaseUrl.parse(url)

    assert "secret" not in refusal.value.message


@pytest.mark.parametrize(
    ("allowed", "url"),
    [
        (["127.0.0.0/8"], "http://127.0.0.1:3000"),
        (["127.0.0.1"], "http://127.0.0.1:3000"),
        (["::1"], "http://[::1]:3000"),
        (["10.0.0.0/8", "fd00::/8"], "http://[fd00::1]"),
    ],
)
def test_operators_can_allow_private_addresses(allowed, url, settings):
    settings.A2A_OUTBOUND_ALLOW = allowed

    assert BaseUrl.parse(url).text == url


def test_an_allowed_network_allows_no_other_address(settings, resolver):
    settings.A2A_OUTBOUND_ALLOW = ["127.0.0.0/8"]
    resolver.append(["127.0.0.1", "10.0.0.1"])

    for url in ("http://10.0.0.1", "http://[::ffff:127.0.0.1]", "http://[::1]", "http://localhost"):
        with pytest.raises(BlockedUrlError):
            BaseUrl.parse(url)
    with pytest.raises(BlockedUrlError):
        destinations.addresses("agent.example", 80)


def test_an_allowed_name_may_resolve_to_any_address(settings, resolver):
    settings.A2A_OUTBOUND_ALLOW = ["Agents.Internal", "localhost"]
    resolver.append(["10.0.0.1"])

    assert BaseUrl.parse("http://agents.internal:81/").text == "http://agents.internal:81"
    assert BaseUrl.parse("http://localhost:81/").text == "http://localhost:81"
    assert destinations.addresses("agents.internal", 81) == [ip_address("10.0.0.1")]


def test_an_invalid_allow_list_is_an_error():
    with pytest.raises(ValueError, match=r"10\.0\.0\.0/99"):
        AllowList.parse(["10.0.0.0/99"])


@pytest.mark.parametrize(
    ("url", "text", "authorization"),
    [
        ("https://agent.example///", "https://agent.example", None),
        ("HTTPS://Agent.Example/hub/", "https://agent.example/hub", None),
        ("https://ann:pass@agent.example", "https://agent.example", "Basic YW5uOnBhc3M="),
        ("https://:the-key@agent.example", "https://agent.example", "Bearer the-key"),
        ("https://%C3%A9:p@agent.example", "https://agent.example", "Basic w6k6cA=="),
        ("https://ü.example/é", "https://xn--tda.example/%C3%A9", None),
    ],
)
def test_a_base_url_is_stored_without_final_slashes_and_credentials(url, text, authorization):
    assert BaseUrl.parse(url) == BaseUrl(text, authorization)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [("A2A_OUTBOUND_ALLOW", ["10.0.0.0/99"], "agentcards.E001"), ("A2A_REMOTE_CONCURRENCY", 0, "agentcards.E002")],
)
def test_invalid_outbound_settings_fail_the_system_check(name, value, error, settings):
    setattr(settings, name, value)

    assert [found.id for found in checks.outbound_settings()] == [error]
