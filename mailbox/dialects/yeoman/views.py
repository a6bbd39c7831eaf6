"""The routes of YEOMAN's peers: messages, capabilities, discovery, peers. Source: Agnostic ADR-019; SecureYeoman."""

from __future__ import annotations

from http import HTTPStatus

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.access.agents import peers
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.yeoman import answers, discovery, messages, requests, tasks, wire
from mailbox.dialects.yeoman.view import REPEATABLE, PublicYeomanView, YeomanView
from mailbox.words import json_text
from mailbox.words.errors import WrongPartyError

TAG = "YEOMAN"
ITSELF = "self"  # the id of every node in its own messages


class ReceiveView(YeomanView):
    http_method_names = ("post",)
    open_to_routes = frozenset({"POST"})

    @describe(
        summary="Receive a message of any type",
        tag=TAG,
        body=requests.Envelope,
        answer=answers.MessageAccepted,
        refusal=answers.Refusal,
        errors=(403, 404, 409, 422, 429),
        operation_id="receive_message",
    )
    def post(self, request: Request) -> Response:
        self.count()
        return Response(messages.receive(self.caller, self.fitting(requests.Envelope)))


class CapabilitiesView(PublicYeomanView):
    http_method_names = ("get",)
    open_to_routes = frozenset({"GET"})

    @describe(
        summary="List the hub's capabilities",
        tag=TAG,
        answer=answers.PeerCapabilities,
        refusal=answers.Refusal,
        errors=(429,),
        public=True,
        operation_id="read_capabilities",
    )
    def get(self, request: Request) -> Response:
        return Response({"capabilities": discovery.capabilities(to_anyone=True)})


class DiscoveryView(PublicYeomanView):
    http_method_names = ("get",)
    open_to_routes = frozenset({"GET"})

    @describe(
        summary="Describe the hub as a peer",
        tag=TAG,
        answer=answers.DiscoveryAnswer,
        refusal=answers.Refusal,
        errors=(429,),
        public=True,
        operation_id="discover",
    )
    def get(self, request: Request) -> Response:
        return Response(discovery.document(to_anyone=True))


class LocalPeersView(YeomanView):
    http_method_names = ("post",)
    open_to_routes = frozenset({"POST"})

    @describe(
        summary="Register a node as the peer of your key",
        tag=TAG,
        body=requests.LocalPeer,
        answer=answers.RegisteredPeer,
        refusal=answers.Refusal,
        errors=(403, 422, 429),
        status=201,
        operation_id="register_local_peer",
    )
    def post(self, request: Request) -> Response:
        self.count()
        node = self.fitting(requests.LocalPeer)
        capabilities = json_text.dumps(node.capabilities)
        peer = peers.announced(self.caller, ITSELF, name=node.name, url=node.url, capabilities=capabilities)
        if peer is None:
            raise WrongPartyError("Only agents register peers. Use an agent's key.")
        return Response({"peer": {**wire.peer(peer, timezone.now()), "id": peer.agent.display}}, HTTPStatus.CREATED)


class WorkflowTasksView(YeomanView):
    """The route of a SecureYeoman workflow step, which reads the task's id and does not poll."""

    http_method_names = ("post",)
    open_to_routes = frozenset({"POST"})

    @describe(
        summary="Send a task as a workflow step",
        tag=TAG,
        body=requests.WorkflowTask,
        answer=answers.WorkflowAccepted,
        refusal=answers.Refusal,
        headers=(REPEATABLE,),
        errors=(403, 404, 409, 422, 429),
        operation_id="send_workflow_task",
    )
    def post(self, request: Request) -> Response:
        self.count()
        work = requests.delegated(self.fitting(requests.WorkflowTask).model_dump(), "body")
        record = tasks.taken(self.caller, work, message_id=self.repeated_as())
        return Response({"taskId": record["task_id"], **record})
