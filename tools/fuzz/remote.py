"""Parsers of what agents elsewhere answer in the official protocol: cards, answers, and streams of events."""

from collections.abc import Sequence
from unittest import mock
from uuid import UUID

import httpx
from hypothesis import strategies as st

from agentcards import client
from agentcards.carriages import official
from agentcards.carriages.official import OfficialSnapshot
from agentcards.carriages.reporting import RemoteEnding
from agentcards.models import RemoteConversation
from agentcards.official_client.bindings import SENDS, RemoteOperation, wire_of
from agentcards.official_client.client import AgentAddress, discover
from agentcards.official_client.interfaces import Binding
from agentcards.official_client.reading import Json
from agentcards.official_client.shown import ShownArtifact, ShownMessage, ShownTask, answer_of
from mailbox.life.updates import MAX_UPDATES
from mailbox.outbound import exchange
from mailbox.outbound.errors import BlockedUrlError, ExternalServiceError, ValidationError
from mailbox.outbound.event_streams import EventStream
from mailbox.words import json_text
from mailbox.words.a2a import v0_3
from mailbox.words.conversation import ArtifactUpdate, Update, check_updates
from mailbox.words.envelopes import ResultEnvelope
from tools.fuzz.bodies import checked, json_values
from tools.fuzz.examples import ID
from tools.fuzz.mutation import Mutator, as_json
from tools.fuzz.official_examples import CARDS, EVENTS, MESSAGE, REMOTE_TASK
from tools.fuzz.parser import Parser

ADDRESS = "https://agent.example/.well-known/agent-card.json"
REFUSALS = (ExternalServiceError, ValidationError, BlockedUrlError)
PARAMS: Json = {"message": MESSAGE, "configuration": {"returnImmediately": True}}


def read_card(raw: bytes) -> None:
    """Read a card. Both databases can store what the hub keeps of it, and its requests can be written."""
    answer = exchange.ServerResponse(status=200, reason="OK", body=raw)
    client.forget_cards()
    with mock.patch.object(exchange, "exchange", return_value=answer):
        offered = discover(AgentAddress.parse(ADDRESS))
    used = offered.interface
    for text in (offered.name, offered.description, used.url, used.tenant, used.key_header):
        assert json_text.problem_with(text) is None
    wire = wire_of(used.binding)
    for operation in RemoteOperation:
        asked = wire.request(used, operation, PARAMS if operation in SENDS else {"id": "t"})
        httpx.Request(asked.method, asked.url, headers={**asked.headers, used.key_header: "k"}, content=asked.content)


def read_answer(given: tuple[Binding, RemoteOperation, bytes]) -> None:
    """Read an answer to a message or to a poll over a binding, and post what it shows."""
    binding, operation, raw = given
    answer = exchange.ServerResponse(status=200 if len(raw) % 8 else 400, reason="OK", body=raw)
    result = wire_of(binding).result(operation, answer)
    posted(answer_of(result) if operation in SENDS else ShownTask.of(result))


def read_stream(given: tuple[Binding, bytes]) -> None:
    """Read a stream of events over a binding, and post what the task shows after each."""
    binding, raw = given
    response = httpx.Response(200, headers={"content-type": "text/event-stream"}, content=iter([raw[:40], raw[40:]]))
    wire, shown = wire_of(binding), ShownTask.of(REMOTE_TASK)
    for event in EventStream(response, ADDRESS, 10**6).events():
        shown = shown.after(wire.event(event))
        posted(shown)


def posted(shown: ShownTask | ShownMessage) -> None:
    """Check the updates and the result that the hub makes of what an agent shows."""
    if isinstance(shown, ShownMessage):
        _checked([official._update(shown)] if shown.blocks or shown.progress is not None else [])
        for is_direct in (True, False):
            _ended(official.ending_of_answer(shown, is_direct=is_direct))
        return
    snapshot = OfficialSnapshot(RemoteConversation(asked=""), shown)
    news = [official._update(said) for said in shown.words if said.blocks or said.progress is not None]
    question = snapshot._question()
    made = map(_whole, shown.artifacts.values())
    _checked([*news, *filter(None, made), *([question] if question else [])])
    if ending := snapshot.ending:
        _ended(ending)
    texts = (shown.task_id, shown.context_id, shown.status_at, shown.question)
    assert all(json_text.problem_with(text) is None for text in texts)


def _ended(ending: RemoteEnding) -> None:
    checked(
        ResultEnvelope(
            task_id=UUID(ID),
            status=ending.status,
            content=ending.content,
            error_message=ending.error,
            message=ending.closing,
            direct=ending.is_direct,
            details=ending.details,
        )
    )


def _whole(artifact: ShownArtifact) -> ArtifactUpdate | None:
    return official._change(artifact, None, is_last=False)


def _checked(updates: Sequence[Update | ArtifactUpdate]) -> None:
    for update in updates:
        check_updates([update], MAX_UPDATES)


OPERATIONS = (RemoteOperation.SEND, RemoteOperation.GET)
ANSWERS = {RemoteOperation.SEND: EVENTS[:2], RemoteOperation.GET: EVENTS[:1]}


def _answer(event: Json, operation: RemoteOperation, binding: Binding) -> Json:
    """Return an answer as an agent of this binding carries it. 1.0 answers a poll with the bare task."""
    is_bare = operation == RemoteOperation.GET and binding != Binding.JSONRPC_0_3
    return _carried(event["task"] if is_bare else event, binding)


def _carried(event: Json, binding: Binding) -> Json:
    """Return an event as an agent of this binding carries it."""
    if binding == Binding.REST_1_0:
        return event
    result = v0_3.event_out(event) if binding == Binding.JSONRPC_0_3 else event
    return {"jsonrpc": "2.0", "id": 1, "result": result}


ERRORS: Sequence[Json] = (
    {"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "gone", "data": [{"reason": "TASK_NOT_FOUND"}]}},
    {"error": {"code": 404, "status": "NOT_FOUND", "message": "gone", "details": [{"reason": "TASK_NOT_FOUND"}]}},
)
BODIES = {one: [as_json(_carried(event, one)) for event in EVENTS] + [*map(as_json, ERRORS)] for one in Binding}
STREAMS = {one: ["".join(f"event: message\ndata: {body}\n\n" for body in bodies)] for one, bodies in BODIES.items()}


def draw_answer(mutator: Mutator) -> tuple[Binding, RemoteOperation, bytes]:
    binding = mutator.random.choice(list(Binding))
    operation = mutator.random.choice(OPERATIONS)
    bodies = [*(_answer(event, operation, binding) for event in ANSWERS[operation]), *ERRORS]
    if mutator.random.randrange(3):
        return binding, operation, as_json(mutator.value(bodies)).encode()
    return binding, operation, mutator.raw([as_json(body) for body in bodies])


def draw_stream(mutator: Mutator) -> tuple[Binding, bytes]:
    binding = mutator.random.choice(list(Binding))
    if not mutator.random.randrange(3):
        return binding, mutator.raw(STREAMS[binding])
    events = [as_json(mutator.value([_carried(event, binding) for event in EVENTS])) for _ in range(3)]
    return binding, "".join(f"data: {event}\r\n\r\n" for event in events).encode()


def draw_card(mutator: Mutator) -> bytes:
    if mutator.random.randrange(3):
        return as_json(mutator.value(CARDS)).encode()
    return mutator.raw([*map(as_json, CARDS)])


raw_json = json_values.map(lambda value: as_json(value).encode())
PARSERS = (
    Parser(
        name="cards of remote agents", share=30, draw=draw_card, strategy=raw_json, check=read_card, refusals=REFUSALS
    ),
    Parser(
        name="official answers of remote agents",
        share=40,
        draw=draw_answer,
        strategy=st.tuples(st.sampled_from(Binding), st.sampled_from(OPERATIONS), raw_json),
        check=read_answer,
        refusals=REFUSALS,
    ),
    Parser(
        name="official streams of remote agents",
        share=40,
        draw=draw_stream,
        strategy=st.tuples(st.sampled_from(Binding), st.binary(max_size=200)),
        check=read_stream,
        refusals=REFUSALS,
    ),
)
