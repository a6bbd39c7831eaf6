"""The official Python SDK 1.x, driven by lines on stdin: python python_1.py BASE_URL BINDING. A2A_KEY is the key.

Parameters and answers are the JSON of version 1.0. The client has its default settings but for the key.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx
from a2a.client import A2ACardResolver, ClientCallContext, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as types
from a2a.utils.signing import create_signature_verifier
from google.protobuf.json_format import MessageToDict, ParseDict
from jwt import PyJWK
from lines import Line, converse


class Driver:
    def __init__(self, base_url: str, binding: str) -> None:
        key = os.environ.get("A2A_KEY")
        self.base_url = base_url
        self.binding = binding
        self.http = httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"} if key else {})
        self.clients: dict[bool, Any] = {}

    async def card(self, line: Line) -> Any:
        """Read the card and verify its signature by the keys at the signature's own address."""
        factory = self.factory(streaming=True)  # it sets the version header
        assert factory
        card = await A2ACardResolver(self.http, self.base_url).get_agent_card()
        if line.get("params", {}).get("verify"):
            create_signature_verifier(_key_of, ["ES256"])(card)
        return MessageToDict(card)

    def factory(self, *, streaming: bool) -> ClientFactory:
        bindings = [] if self.binding == "JSONRPC" else [self.binding]
        config = ClientConfig(httpx_client=self.http, streaming=streaming, supported_protocol_bindings=bindings)
        return ClientFactory(config)

    async def client(self, *, streaming: bool = True) -> Any:
        if streaming not in self.clients:
            self.clients[streaming] = await self.factory(streaming=streaming).create_from_url(self.base_url)
        return self.clients[streaming]

    async def send(self, line: Line) -> Any:
        client = await self.client(streaming=False)
        request = ParseDict(line["params"], types.SendMessageRequest())
        (answer,) = [each async for each in client.send_message(request, context=_context(line))]
        return MessageToDict(answer)

    async def stream(self, line: Line) -> AsyncIterator[Any]:
        client = await self.client()
        request = ParseDict(line["params"], types.SendMessageRequest())
        async for event in client.send_message(request, context=_context(line)):
            yield MessageToDict(event)

    async def subscribe(self, line: Line) -> AsyncIterator[Any]:
        client = await self.client()
        request = ParseDict(line["params"], types.SubscribeToTaskRequest())
        async for event in client.subscribe(request, context=_context(line)):
            yield MessageToDict(event)

    def call(self, method: str, shape: Any) -> Any:
        async def operation(line: Line) -> Any:
            client = await self.client()
            request = ParseDict(line.get("params", {}), shape())
            answer = await getattr(client, method)(request, context=_context(line))
            always = method.startswith("list_")
            return None if answer is None else MessageToDict(answer, always_print_fields_with_no_presence=always)

        return operation

    def operations(self) -> dict[str, Any]:
        config = types.TaskPushNotificationConfig
        return {
            "card": self.card,
            "send": self.send,
            "stream": self.stream,
            "subscribe": self.subscribe,
            "get": self.call("get_task", types.GetTaskRequest),
            "list": self.call("list_tasks", types.ListTasksRequest),
            "cancel": self.call("cancel_task", types.CancelTaskRequest),
            "extended": self.call("get_extended_agent_card", types.GetExtendedAgentCardRequest),
            "config_create": self.call("create_task_push_notification_config", config),
            "config_get": self.call("get_task_push_notification_config", types.GetTaskPushNotificationConfigRequest),
            "config_list": self.call(
                "list_task_push_notification_configs", types.ListTaskPushNotificationConfigsRequest
            ),
            "config_delete": self.call(
                "delete_task_push_notification_config", types.DeleteTaskPushNotificationConfigRequest
            ),
        }


def _context(line: Line) -> ClientCallContext:
    return ClientCallContext(service_parameters=line.get("headers") or None)


def _key_of(kid: str | None, jku: str | None) -> PyJWK:
    keys = httpx.get(str(jku)).raise_for_status().json()["keys"]
    (key,) = [key for key in keys if key["kid"] == kid]
    return PyJWK(key)


if __name__ == "__main__":
    asyncio.run(converse(Driver(*sys.argv[1:]).operations()))
