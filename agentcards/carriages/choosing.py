"""Which way of carrying a call takes."""

from __future__ import annotations

from collections.abc import Mapping

from agentcards.carriages.carriage import Carriage
from agentcards.carriages.corvid import CorvidCarriage
from agentcards.carriages.official import OfficialCarriage
from agentcards.models import RemoteCall

CARRIAGES: Mapping[str, Carriage] = {
    RemoteCall.Protocol.CORVID: CorvidCarriage(),
    RemoteCall.Protocol.OFFICIAL: OfficialCarriage(),
}


def carriage_of(call: RemoteCall) -> Carriage:
    return CARRIAGES[call.protocol]
