"""The guard against calls to private addresses (SSRF).

The hub calls public addresses over http and https, and the addresses that an operator allows. A task or a profile may
name any URL, so each URL is checked twice. The first check reads the text, for a clear error. The second runs in
`addresses`, which every connection uses. It checks the resolved addresses and decides.
Source: corvid-agent, SSRF guard. The errors use its texts; the table of addresses is larger.
"""

from __future__ import annotations

import re
import socket
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from django.conf import settings

from mailbox.outbound.errors import BlockedUrlError

if TYPE_CHECKING:
    from httpx import URL

Address = IPv4Address | IPv6Address
LONGEST_URL = 500
MOST_ADDRESSES = 8  # to try for one name

# All networks that hold no address of a host on the public Internet. Source: the IANA special-purpose registries.
NOT_PUBLIC_V4 = tuple(
    IPv4Network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        "168.63.129.16/32",  # a public number, but the metadata service inside every Azure machine
    )
)
# IPv6 space outside 2000::/3 is loopback, local, multicast, unassigned, or carries an IPv4 address (mapped,
# compatible, translated, NAT64).
PUBLIC_V6 = IPv6Network("2000::/3")
NOT_PUBLIC_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID, AMT
        "2001:db8::/32",
        "2002::/16",  # 6to4 carries an IPv4 address
        "2620:4f:8000::/48",
        "3fff::/20",
    )
)

# Below 1024 the hub calls only ports 80 and 443, because system services use the others. Above, it refuses the ports
# that browsers refuse: other protocols there could misread an HTTP request. Source: WHATWG Fetch, "Port blocking".
WEB_PORTS = (80, 443)
OTHER_PROTOCOLS = (
    *(1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697),
    10080,
)
_NUMBER = re.compile(r"\d+|0[xX][0-9a-fA-F]*", re.ASCII)
_HOST_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", re.ASCII)
_CREDENTIALS = re.compile(r"//[^/]*@")
_NO_URL = re.compile(r"[\x00-\x20\x7f\\]")
_BEARER = re.compile(r"[!-~]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # forbidden in users and passwords by RFC 7617


_also_allowed: ContextVar[tuple[str, ...]] = ContextVar("also_allowed", default=())


@contextmanager
def allowing(host: str) -> Iterator[None]:
    """Allow one more host, by its name or address, to the calls of this block, such as the hub itself."""
    token = _also_allowed.set((*_also_allowed.get(), host))
    try:
        yield
    finally:
        _also_allowed.reset(token)


@dataclass(frozen=True, slots=True)
class AllowList:
    """Host names and networks that the hub may call although they are not public."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def parse(cls, entries: Iterable[str]) -> Self:
        """Read host names, addresses and networks. Raises `ValueError`, which names the first invalid entry."""
        hosts, networks = set(), []
        for entry in filter(None, (entry.strip() for entry in entries)):
            if "/" in entry or ":" in entry or _ends_in_number(entry):
                networks.append(ip_network(entry.strip("[]")))
            else:
                hosts.add(entry.lower().rstrip("."))
        return cls(frozenset(hosts), tuple(networks))

    @classmethod
    def from_settings(cls) -> Self:
        """Read ``A2A_OUTBOUND_ALLOW``, and the host that a block of `allowing` adds."""
        return cls.parse([*settings.A2A_OUTBOUND_ALLOW, *_also_allowed.get()])

    def admits(self, host: str, address: Address | None = None) -> bool:
        """Whether the list has the host's name, or a network with the address."""
        return host in self.hosts or (address is not None and any(address in network for network in self.networks))


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """A remote agent's base URL, without final slashes and without the credentials of the given URL.

    ``authorization`` is the header for these credentials: ``https://user:password@host`` gives Basic,
    ``https://:key@host`` gives a Bearer key. None: no credentials.
    """

    text: str
    authorization: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a URL. Raises `BlockedUrlError` if the hub may not call it; judges the text and resolves no name."""
        url = _parsed(text)
        if url.query or url.fragment:
            raise _invalid(text)
        authorization = None
        if url.userinfo:
            authorization = _authorization(url.username, url.password)
            url = url.copy_with(username=None, password=None)
        base = str(url).rstrip("/")
        if len(base) > LONGEST_URL:  # percent-encoding may have made it longer
            raise _invalid(text)
        return cls(base, authorization)

    @property
    def host(self) -> str:
        """The host, with the port unless it is the default: the part of the URL that other agents may see."""
        return urlsplit(self.text).netloc


def judge(text: str, *, longest: int) -> None:
    """Raise `BlockedUrlError` if the hub may not call the URL, or if it has more than ``longest`` characters.

    Judges the text and resolves no name.
    """
    _parsed(text, longest)


def receiver(text: str) -> str:
    """Return the server of a URL in one spelling for all spellings of its scheme, host and port."""
    parts = urlsplit(text)
    return _server(f"{parts.scheme}://{parts.netloc}")


@lru_cache(maxsize=4096)
def _server(text: str) -> str:
    from httpx import URL, InvalidURL  # imported late, as in `_parsed`

    try:
        url = URL(text)
        name = url.raw_host.decode("ascii").lower().removesuffix(".")
    except (InvalidURL, ValueError):
        return text
    return f"{url.scheme}://{_literal(name) or name}:{url.port or WEB_PORTS[url.scheme == 'https']}"


def addresses(host: str, port: int) -> Sequence[Address]:
    """Resolve the host once and return its addresses in the resolver's order.

    Raises `BlockedUrlError` if the hub may not call even one of them, and `OSError` if the host has no address.
    """
    allow = AllowList.from_settings()
    name = host.lower().removesuffix(".")
    _check_port(port, name, allow)
    _check_name(name, allow)
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    resolved = list(dict.fromkeys(ip_address(entry[4][0]) for entry in entries))
    for address in resolved:
        if not (is_public(address) or allow.admits(name, address)):
            raise BlockedUrlError(_refusal(name, literal=_literal(name) is not None))
    return resolved[:MOST_ADDRESSES]


def is_public(address: Address) -> bool:
    """Whether this is the address of a host on the public Internet, with no other address embedded in it."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in NOT_PUBLIC_V4)
    return address in PUBLIC_V6 and not any(address in network for network in NOT_PUBLIC_V6)


def _parsed(text: str, longest: int = LONGEST_URL) -> URL:
    from httpx import URL, InvalidURL  # imported late: it is slow, and most processes check no URL

    if _NO_URL.search(text) or len(text) > longest:
        raise _invalid(text)
    try:
        url = URL(text)
        host = url.raw_host.decode("ascii").lower()
        _ = url.host  # the HTTP client reads it; it fails for some names that begin with xn--
    except (InvalidURL, ValueError) as error:
        raise _invalid(text) from error
    if url.scheme and url.scheme not in ("http", "https"):
        raise BlockedUrlError(f"Blocked URL scheme: {url.scheme}: — only http and https are allowed")
    name = host.removesuffix(".")
    literal = _literal(name)
    if not url.scheme or not (literal or _HOST_NAME.fullmatch(name)):
        raise _invalid(text)
    allow = AllowList.from_settings()
    _check_name(name, allow)
    if literal is not None and not (is_public(literal) or allow.admits(name, literal)):
        raise BlockedUrlError(_refusal(name, literal=True))
    _check_port(80 if url.port is None else url.port, name, allow)
    return url


def _check_name(name: str, allow: AllowList) -> None:
    """Raise `BlockedUrlError` for names of this machine or this network, and for odd spellings of IPv4 addresses."""
    if allow.admits(name):
        return
    literal = _literal(name)
    if name == "localhost" or name.endswith(".localhost") or (literal and _is_this_host(literal)):
        if literal is None or not allow.admits(name, literal):
            raise BlockedUrlError(f"Blocked URL: {name} is not allowed")
    elif name.endswith(".local"):
        raise BlockedUrlError(f"Blocked URL: {name} is a local network hostname")
    elif literal is None and _ends_in_number(name):
        kind = "hex" if "0x" in name else "numeric"
        raise BlockedUrlError(f"Blocked URL: {kind} IP address {name} is not allowed")


def _check_port(port: int, name: str, allow: AllowList) -> None:
    if allow.admits(name) or port in WEB_PORTS or (1024 <= port < 65536 and port not in OTHER_PROTOCOLS):
        return
    raise BlockedUrlError(f"Blocked URL: port {port} is not allowed")


def _literal(name: str) -> Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None


def _is_this_host(address: Address) -> bool:
    return str(address) in ("127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 (named to be refused)


def _ends_in_number(name: str) -> bool:
    """Whether resolvers may read the name as an IPv4 address in some notation. Source: WHATWG URL, host parsing."""
    return bool(_NUMBER.fullmatch(name.rpartition(".")[2]))


def _refusal(name: str, *, literal: bool) -> str:
    what = "is a private/reserved IP address" if literal else "resolves to a private/reserved IP range"
    return f"Blocked URL: {name} {what}"


def _invalid(text: str) -> BlockedUrlError:
    return BlockedUrlError(f"Invalid URL: {_CREDENTIALS.sub('//', text)[:LONGEST_URL]}")


def _authorization(username: str, password: str) -> str:
    """Return the header. Raises `BlockedUrlError` for credentials that no header can carry, without showing them."""
    if _CONTROL.search(username + password) or not (username or _BEARER.fullmatch(password)):
        raise BlockedUrlError("Invalid URL: its credentials contain characters that an HTTP header cannot carry")
    if not username:
        return f"Bearer {password}"
    return f"Basic {b64encode(f'{username}:{password}'.encode()).decode()}"
