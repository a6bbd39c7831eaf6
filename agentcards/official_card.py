"""The card of one agent in the official protocol: version 1.0, the form that serves 0.3 too, and the extended card.

Source: A2A specification 1.0, "Agent discovery"; 0.3, "AgentCard".
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from agentcards import card_signing
from agentcards.card_document import UNTAGGED, describe, humanise, tools_of
from agentcards.models import AgentProfile, Tool
from mailbox.words import json_text
from mailbox.words.a2a.v1_0 import GENERATION

_NUMBERED = {"uri": GENERATION, "description": "Numbers the events of a task, and lets a read wait for the next one."}
DEFAULT_MODES = ("text/plain", "application/json", "*/*")
BEARER, API_KEY = "bearer", "apiKey"
_SCHEMES: Mapping[str, Mapping[str, Any]] = {
    BEARER: {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
    API_KEY: {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}},
}
# The SDK of 1.0 reads these keys in place of the keys above, so they name the schemes alike.
_SCHEMES_FOR_0_3: Mapping[str, Mapping[str, Any]] = {
    BEARER: {"type": "http", "scheme": "Bearer"},
    API_KEY: {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}


def base_url(display: str) -> str:
    """Return the base URL that a client of the agent is given. It ends in a slash, which some clients need."""
    return f"{settings.PUBLIC_URL}/agents/{display}/"


def document(profile: AgentProfile, *, is_open: bool) -> dict[str, Any]:
    """Return the unsigned card of version 1.0. ``is_open``: the agent takes requests without a key."""
    return _document(profile, tools_of(profile), is_open=is_open)


def extended(profile: AgentProfile, *, is_open: bool, is_for_0_3: bool = False) -> dict[str, Any]:
    """Return the signed card for callers with a key. Its skills are also the profile's `extended_tools`.

    ``is_for_0_3``: the request was one of 0.3, so the card serves 0.3 too, even against the profile.
    """
    shown = tools_of(profile)
    card = _document(profile, [*shown, *_extended_tools(profile, shown)], is_open=is_open)
    return _with_0_3(card) if is_for_0_3 else card_signing.signed(card)


def for_clients(profile: AgentProfile, *, is_open: bool, version: str) -> dict[str, Any]:
    """Return the signed card that a client reads. ``version`` is its ``A2A-Version``, "" without one.

    A client that names no version 1.x gets the card that serves 0.3 too, if the profile has `card_for_0_3`.
    """
    card = document(profile, is_open=is_open)
    if not profile.card_for_0_3 or is_version_1(version):
        return card_signing.signed(card)
    return _with_0_3(card)


def _with_0_3(card: Mapping[str, Any]) -> dict[str, Any]:
    """Return the signed card that serves clients of 0.3 too. Its signature is of its fields of version 1.0."""
    rpc = next(one["url"] for one in card["supportedInterfaces"] if one["protocolBinding"] == "JSONRPC")
    older = {"url": rpc, "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}
    merged = card_signing.signed({**card, "supportedInterfaces": [*card["supportedInterfaces"], older]})
    merged |= {
        "protocolVersion": "0.3.0",
        "url": rpc,
        "preferredTransport": "JSONRPC",
        "supportsAuthenticatedExtendedCard": card["capabilities"]["extendedAgentCard"],
        "securitySchemes": {name: {**_SCHEMES_FOR_0_3[name], **scheme} for name, scheme in _SCHEMES.items()},
    }
    if "securityRequirements" in card:
        merged["security"] = [{name: []} for name in _SCHEMES]
    return merged


def is_version_1(version: str) -> bool:
    """Whether ``version`` is 1.0 or a later 1.x, with or without a patch."""
    return version.strip().partition(".")[0] == "1"


def tag_of(card: Mapping[str, Any]) -> str:
    """Return the ETag of a card. Its signatures do not count, because each process signs anew."""
    unsigned = {name: value for name, value in card.items() if name != "signatures"}
    return f'"{hashlib.sha256(json_text.dumps(unsigned).encode()).hexdigest()[:32]}"'


def input_modes(profile: AgentProfile) -> list[str]:
    return list(profile.input_modes or DEFAULT_MODES)


def output_modes(profile: AgentProfile) -> list[str]:
    return list(profile.output_modes or DEFAULT_MODES)


def _document(profile: AgentProfile, tools: Sequence[Tool], *, is_open: bool) -> dict[str, Any]:
    base = base_url(profile.agent.display)
    card: dict[str, Any] = {
        "name": profile.shown_name,
        "description": describe(profile),
        "version": profile.card_version or settings.A2A_VERSION,
        "supportedInterfaces": [
            {"url": f"{base}a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": f"{base}rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
        ],
        "provider": {
            "organization": settings.A2A_PROVIDER_ORG or settings.PUBLIC_URL,
            "url": settings.A2A_PROVIDER_URL,
        },
        "capabilities": _capabilities(profile),
        "defaultInputModes": input_modes(profile),
        "defaultOutputModes": output_modes(profile),
        "skills": [_skill(tool) for tool in tools] or [_only_skill(profile)],
        "securitySchemes": {name: dict(scheme) for name, scheme in _SCHEMES.items()},
    }
    if not is_open:
        card["securityRequirements"] = [{"schemes": {name: {"list": []}}} for name in _SCHEMES]
    links = {"documentationUrl": profile.documentation_url, "iconUrl": profile.icon_url}
    return {**card, **{name: url for name, url in links.items() if url}}


def _capabilities(profile: AgentProfile) -> dict[str, Any]:
    own = [_NUMBERED] if all(extension["uri"] != GENERATION for extension in profile.extensions) else []
    return {
        "streaming": profile.streaming,
        "pushNotifications": profile.push_notifications,
        "extendedAgentCard": profile.extended_card,
        "extensions": [*map(_extension, profile.extensions), *own],
    }


def _extension(extension: Mapping[str, Any]) -> dict[str, Any]:
    """Return the extension without its empty fields. A client reads an absent ``required`` as false."""
    return {name: extension[name] for name in ("uri", "description", "required", "params") if extension.get(name)}


def _skill(tool: Tool) -> dict[str, Any]:
    return {
        "id": tool.name,
        "name": humanise(tool.name),
        "description": tool.description or f"Tool: {tool.name}",
        "tags": list(tool.tags or UNTAGGED),
    }


def _only_skill(profile: AgentProfile) -> dict[str, Any]:
    """Return the skill of an agent without tools. A card must have one."""
    return {"id": "task", "name": profile.shown_name, "description": describe(profile), "tags": list(UNTAGGED)}


def _extended_tools(profile: AgentProfile, shown: Sequence[Tool]) -> list[Tool]:
    """Return the registered tools that only the extended card shows, in the profile's order."""
    names = [name for name in dict.fromkeys(profile.extended_tools) if name not in {tool.name for tool in shown}]
    known = {tool.name: tool for tool in Tool.objects.filter(name__in=names)}
    return [known[name] for name in names if name in known]
