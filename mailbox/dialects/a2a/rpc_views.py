"""JSON-RPC of the official protocol, 1.0 and 0.3 on one URL. Source: JSON-RPC 2.0; A2A 1.0, JSON-RPC binding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.dialects.a2a import answers, requests
from mailbox.dialects.a2a.calls import Version, version_of
from mailbox.dialects.a2a.errors import (
    InvalidEnvelopeError,
    MethodNotFoundError,
    VersionNotSupportedError,
    rpc_error,
)
from mailbox.dialects.a2a.operations import OPERATIONS, Operation
from mailbox.dialects.a2a.requests import Tenanted
from mailbox.dialects.a2a.view import VERSION, OfficialView
from mailbox.dialects.base.bodies import encoded
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.base.view import parse
from mailbox.words.a2a import v0_3, v0_3_requests
from mailbox.words.a2a.v0_3_requests import OldRequest
from mailbox.words.errors import InvalidRequestError, MailboxError

TAG = "A2A by JSON-RPC"
RpcId = str | int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcRequest:
    """The envelope of a call. ``id`` None also stands for an absent id."""

    id: RpcId
    method: str
    params: Mapping[str, Any]

    @classmethod
    def read(cls, body: object, rpc_id: RpcId) -> Self:
        """Read the envelope, whose id was read before. Raises `InvalidEnvelopeError`, also for a batch."""
        if isinstance(body, list):
            raise InvalidEnvelopeError("The hub takes no batches. Send one request at a time.")
        if not isinstance(body, dict):
            raise InvalidEnvelopeError("The body must be a JSON object.")
        if body.get("jsonrpc") != "2.0":
            raise InvalidEnvelopeError('"jsonrpc" must be "2.0".')
        if not is_rpc_id(body.get("id")):
            raise InvalidEnvelopeError('"id" must be text, a whole number or null.')
        method, params = body.get("method"), body.get("params")
        if not isinstance(method, str):
            raise InvalidEnvelopeError('"method" must be text.')
        if params is not None and not isinstance(params, dict):
            raise InvalidEnvelopeError('"params" must be a JSON object.')
        return cls(id=rpc_id, method=method, params=params or {})


def is_rpc_id(value: object) -> bool:
    return value is None or isinstance(value, str) or type(value) is int


class RpcView(OfficialView):
    """The JSON-RPC URL of an agent."""

    http_method_names = ("post", "options")
    is_rpc = True
    rpc_id: RpcId = None
    version = Version.V1_0
    is_old = False  # whether the call is one of 0.3
    old: OldRequest | None = None  # its parameters, once they were read

    @describe(
        summary="Call an operation of the official A2A protocol by JSON-RPC",
        tag=TAG,
        body=requests.RpcBody,
        answer=answers.RpcAnswer,
        refusal=answers.RpcRefusal,
        errors=(403, 404),
        operation_id="a2a_json_rpc",
        media_types=("application/json", "text/event-stream"),
    )
    def post(self, request: Request, agent: str | None = None) -> HttpResponseBase:
        sent = self.json()
        if isinstance(sent, dict) and is_rpc_id(sent.get("id")):
            self.rpc_id = sent.get("id")
        rpc = RpcRequest.read(sent, self.rpc_id)
        official = self.official()
        self.version = version_of(self.named_version())
        self._check_method(rpc.method)
        call = self.call(official, self.version)
        return self.run(call, *self._read(rpc))

    def _check_method(self, method: str) -> None:
        """Raise `MethodNotFoundError` or `VersionNotSupportedError` for a method that the version lacks."""
        if method in OPERATIONS:
            if self.version != Version.V1_0:
                raise VersionNotSupportedError(f"{method} is a method of A2A 1.0. Send {VERSION}: 1.0.")
        elif method not in v0_3_requests.METHODS or self.version != Version.V0_3:
            raise MethodNotFoundError(f'A2A {self.version} has no method "{method[:50]}".')
        self.is_old = method not in OPERATIONS

    def _read(self, rpc: RpcRequest) -> tuple[Operation[Any], Tenanted]:
        """Return the operation with its parameters. Raises `InvalidRequestError` with paths of the call's version."""
        if not self.is_old:
            operation = OPERATIONS[rpc.method]
            return operation, parse(operation.shape, rpc.params)
        self.old = OldRequest.read(rpc.method, rpc.params)
        operation = OPERATIONS[self.old.method]
        try:
            return operation, parse(operation.shape, self.old.params)
        except InvalidRequestError as error:
            raise self.old.problem(error) from error

    def answer(self, result: object) -> Response:
        return Response({"jsonrpc": "2.0", "id": self.rpc_id, "result": result})

    def result(self, found: object) -> object:
        return self.old.answer(found) if self.old else found

    def wrap(self, result: bytes) -> bytes:
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encoded(self.rpc_id), result)

    def fault(self, error: Exception) -> object:
        told = rpc_error(error)
        return {
            "jsonrpc": "2.0",
            "id": self.rpc_id,
            "error": v0_3.error_out(told) if self.is_old else told,
        }


class TenantRpcView(RpcView):
    """The JSON-RPC URL of all agents: ``tenant`` in the parameters names the agent."""

    def named_agent(self, path: Mapping[str, str]) -> str | None:
        try:
            body = self.json()
        except MailboxError:  # reported once the caller is known
            return None
        params = body.get("params") if isinstance(body, dict) else None
        tenant = params.get("tenant") if isinstance(params, dict) else None
        return tenant if isinstance(tenant, str) else None
