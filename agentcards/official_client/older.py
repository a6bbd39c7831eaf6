"""0.3 of the official protocol as its clients write and read it: 1.0 requests become 0.3, 0.3 answers become 1.0.

Source: A2A 0.3, "Protocol RPC Methods"; A2A 1.0, "Appendix A".
"""

from __future__ import annotations

from collections.abc import Mapping

from agentcards.official_client.reading import Json
from mailbox.outbound.errors import ExternalServiceError
from mailbox.words.a2a import v0_3

METHODS: Mapping[str, str] = {
    "SendMessage": "message/send",
    "SendStreamingMessage": "message/stream",
    "GetTask": "tasks/get",
    "CancelTask": "tasks/cancel",
    "SubscribeToTask": "tasks/resubscribe",
}


def request(operation: str, params: Json) -> tuple[str, Json]:
    """Return the 0.3 method and params of a 1.0 operation."""
    sent = dict(params)
    if "message" in sent:
        sent["message"] = v0_3.message_out(sent["message"])
    if "configuration" in sent:
        configuration = dict(sent["configuration"])
        configuration["blocking"] = not configuration.pop("returnImmediately", False)
        sent["configuration"] = configuration
    return METHODS[operation], sent


def event(found: Json) -> Json:
    """Return the StreamResponse of a 0.3 event, or of the answer to a message. Raises `ExternalServiceError`."""
    try:
        return v0_3.event_in(found)
    except ValueError as error:
        raise ExternalServiceError(f"the agent's answer {error}") from error
