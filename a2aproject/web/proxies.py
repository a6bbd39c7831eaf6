"""The client behind a trusted proxy: its address and scheme, as the proxy reports them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

CHAIN, SCHEME = "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO"
REPORTS = ("HTTP_X_FORWARDED", "HTTP_FORWARDED", "HTTP_X_REAL_IP")  # how the names of such headers begin
MOST_HOPS = 32
# An address as proxies write it: 192.0.2.1, 192.0.2.1:5678, 2001:db8::1, [2001:db8::1] or [2001:db8::1]:5678.
_HOP = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::\d{1,5})?|([\d.]+):\d{1,5}|([0-9A-Fa-f:.]+)", re.ASCII)


class ProxyMiddleware:
    """Takes the client's address and scheme from a trusted proxy, and drops what other clients report of themselves.

    The address is the right-most one of ``X-Forwarded-For`` that is no trusted proxy. Addresses further left are the
    client's own words. The scheme is the right-most one of ``X-Forwarded-Proto``. No later code sees other headers of
    this kind: ``X-Forwarded-*``, ``Forwarded`` and ``X-Real-IP``. The client certificate of ``A2A_CLIENT_CERT_HEADER``
    is taken from a trusted proxy alone, too.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        meta = request.META
        reports = {name: meta.pop(name) for name in [name for name in meta if name.startswith(REPORTS)]}
        certificate = reports.pop(settings.A2A_CLIENT_CERT_META, "") or meta.pop(settings.A2A_CLIENT_CERT_META, "")
        peer = address_in(meta.get("REMOTE_ADDR", ""))
        if peer is not None:
            by_proxy = is_trusted(peer)
            meta["REMOTE_ADDR"] = str(_client(peer, reports.get(CHAIN, "")) if by_proxy else peer)
            if by_proxy and certificate:
                meta[settings.A2A_CLIENT_CERT_META] = certificate
            if by_proxy and SCHEME in reports:
                meta[SCHEME] = reports[SCHEME].rpartition(",")[2].strip().lower()
        return self.get_response(request)


def _client(peer: IPv4Address | IPv6Address, chain: str) -> IPv4Address | IPv6Address:
    """Return the address of the client. The proxy's own address stands for a client that it does not name."""
    client = peer
    for hop in reversed(chain.split(",")[-MOST_HOPS:]):
        address = address_in(hop.strip())
        if address is None:
            break
        client = address
        if not is_trusted(address):
            break
    return client


@lru_cache(maxsize=4096)
def address_in(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address without port, brackets and zone; None for other text. An IPv4 address in IPv6 is IPv4."""
    whole = _HOP.fullmatch(text.partition("%")[0])
    if whole is None:
        return None
    try:
        address = ip_address(whole[1] or whole[2] or whole[3])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_trusted(address: IPv4Address | IPv6Address) -> bool:
    """Whether ``A2A_TRUSTED_PROXIES`` holds the address."""
    return _is_in(address, tuple(settings.A2A_TRUSTED_PROXIES))


@lru_cache(maxsize=4096)
def _is_in(address: IPv4Address | IPv6Address, networks: tuple[object, ...]) -> bool:
    return any(address in network for network in networks)  # type: ignore[operator]
