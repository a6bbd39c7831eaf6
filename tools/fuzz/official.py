"""Parsers of the official protocol: its requests, ids of events, page tokens, and the profiles that make its cards."""

from collections.abc import Callable, Mapping
from itertools import count
from types import SimpleNamespace
from typing import Any

from a2a.types import Message
from hypothesis import strategies as st

from agentcards import official_card, profiles
from agentcards.models import AgentProfile
from mailbox.database import paging
from mailbox.dialects.a2a import requests
from mailbox.dialects.a2a.calls import Version, target_of, version_of
from mailbox.dialects.a2a.errors import InvalidEnvelopeError, VersionNotSupportedError, rest_error, rpc_error
from mailbox.dialects.a2a.operations import OPERATIONS
from mailbox.dialects.a2a.requests import generation
from mailbox.dialects.a2a.views import RpcRequest
from mailbox.dialects.base.bodies import encoded
from mailbox.dialects.base.view import parse
from mailbox.dialects.corvid.views import RegisterAgentBody
from mailbox.inspection import official_tasks
from mailbox.inspection.official_tasks import TaskFilter
from mailbox.models import Agent
from mailbox.words import json_text, secret_box
from mailbox.words.a2a import v0_3, v1_0
from mailbox.words.a2a.fold import EventPosition, LifeMessage, opening_of
from mailbox.words.a2a.states import TaskState
from mailbox.words.a2a.v0_3_requests import OldRequest
from mailbox.words.envelopes import AgentRef
from mailbox.words.errors import InvalidRequestError, MailboxError
from tests.support import official
from tools.fuzz.bodies import checked, json_values, stored
from tools.fuzz.mutation import Mutator, as_json
from tools.fuzz.official_examples import CALLS, ENVELOPES, OLD_CALLS, PROFILE
from tools.fuzz.parser import INVALID, Parser

ALICE, BOB = (Agent(pk=pk, local=name, display=f"{name}@local") for pk, name in ((1, "alice"), (2, "bob")))
EXECUTED = 5  # of so many lists, the database runs one
_turns = count()


def in_its_shape(read: Callable[[Any], object]) -> Callable[[Any], None]:
    """Return the reader with a check of its refusals, which both bindings must be able to tell."""

    def check(given: Any) -> None:
        try:
            read(given)
        except MailboxError as refusal:
            told, answered = rpc_error(refusal), rest_error(refusal)["error"]
            assert told["code"] in (-32700, -32600, -32601, -32602, -32009)
            assert answered["status"] in ("INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION")
            encoded([told, v0_3.error_out(told), answered])
            raise

    return check


def read_call(given: tuple[str, Any]) -> None:
    """Read the params of a method of 1.0 or 0.3, and use what they ask for."""
    method, params = given[0], stored(given[1])
    if method in OPERATIONS:
        if not isinstance(params, dict):
            raise InvalidRequestError({"params": "must be a JSON object"})
        used(parse(OPERATIONS[method].shape, params))
        return
    old = OldRequest.read(method, params)
    try:
        body = parse(OPERATIONS[old.method].shape, old.params)
    except InvalidRequestError as error:
        raise old.problem(error) from error
    used(body)


def used(body: Any) -> None:
    """Use the params of an operation as the operation does, up to its verb."""
    match body:
        case requests.SendMessageRequest():
            _sent(body)
        case requests.ListTasksRequest():
            state = None if body.status is None else TaskState(body.status)
            _listed(TaskFilter(context_id=body.context_id, state=state, since=body.status_timestamp_after), None)
        case requests.CreatePushConfigRequest():
            _target(body).check()
        case requests.GetTaskRequest():
            generation(body.current_generation, "currentGeneration")


def _sent(body: requests.SendMessageRequest) -> None:
    configuration = body.configuration
    given = configuration.task_push_notification_config
    push = None if given is None else _target(given)
    generation(configuration.if_generation_match, "configuration.ifGenerationMatch")
    envelope = body.envelope(AgentRef("bob@local"), task_id=None, context_id="c", extensions=[], push=push)
    checked(envelope)
    body.words().check()
    opened = opening_of(envelope.intent_text, json_text.loads(json_text.dumps(dict(envelope.metadata))))
    shown = v1_0.message(
        LifeMessage(seq=1, message_id=opened.message_id, blocks=opened.blocks, extra=opened.extra), {"contextId": "c"}
    )
    assert json_text.same(v0_3.message_in(v0_3.message_out(shown))["messageId"], body.message.message_id)
    if json_text.problem_in(shown, level=READ_BY_THE_SDK) is None:
        official.read(shown, Message)


# The SDK reads messages of 100 levels, of which each level of a value takes two.
READ_BY_THE_SDK = json_text.MAX_DEPTH - 40


def _target(given: requests.PushConfigFields) -> Any:
    return target_of(SimpleNamespace(version=Version.V1_0), given)  # type: ignore[arg-type]


def _listed(wanted: TaskFilter, cursor: str | None) -> None:
    if cursor is not None or next(_turns) % EXECUTED == 0:
        official_tasks.listing(ALICE, BOB, wanted, limit=1, cursor=cursor)


def read_envelope(value: Any) -> None:
    body = stored(value)
    rpc = RpcRequest.read(body, None)
    assert isinstance(rpc.params, Mapping)
    encoded({"jsonrpc": "2.0", "id": body.get("id")})


def read_headers(text: str) -> None:
    """Read a version, and the id of an event, which are headers."""
    position = EventPosition.parse(text)
    if position is not None:
        assert EventPosition.parse(str(position)) == position
        assert position.seq < 2**31
    version_of(text)


LIST = "official tasks 1 2"
_ROWS = ([1_700_000_000.5, 3], [0, 0], [1, "x"], [-1.0, 2**63], [1e300, 1], [1.5])
TOKENS = [secret_box.seal(as_json([LIST, *row]), purpose=paging.CURSORS) for row in _ROWS]


def draw_token(mutator: Mutator) -> str:
    if mutator.random.randrange(3):
        plain = mutator.raw([as_json([LIST, *row]) for row in _ROWS]).decode(errors="replace")
        return secret_box.seal(plain, purpose=paging.CURSORS)
    return mutator.text(TOKENS)


def read_token(token: str) -> None:
    _listed(TaskFilter(), token)


def read_profile(value: Any) -> None:
    """Read an agent's profile. The SDK reads the card of each accepted profile."""
    body = parse(RegisterAgentBody, stored(value))
    profile = AgentProfile(**body.profile(), agent=BOB)
    profiles.check(profile, profiles.FIELDS)
    profile.tool_permissions = profile.extended_tools = []
    official.parsed(official_card.for_clients(profile, is_open=False, version="1.0"))


def draw_call(mutator: Mutator) -> tuple[str, Any]:
    calls = {**CALLS, **OLD_CALLS}
    method = mutator.random.choice(list(calls))
    return method, mutator.value(calls[method])


PARSERS = (
    Parser(
        name="params of the official protocol",
        share=70,
        draw=draw_call,
        strategy=st.tuples(st.sampled_from([*CALLS, *OLD_CALLS]), json_values),
        check=in_its_shape(read_call),
    ),
    Parser(
        name="envelopes of JSON-RPC",
        share=20,
        draw=lambda mutator: mutator.value(ENVELOPES),
        strategy=json_values,
        check=in_its_shape(read_envelope),
        refusals=(*INVALID, InvalidEnvelopeError),
    ),
    Parser(
        name="versions and ids of events",
        share=20,
        draw=lambda mutator: mutator.text(["1.0", "0.3", "0.3.0", "1.0.17", "12", "7.1", "000000001"]),
        strategy=st.text(max_size=30),
        check=in_its_shape(read_headers),
        refusals=(VersionNotSupportedError,),
    ),
    Parser(
        name="page tokens",
        share=20,
        draw=draw_token,
        strategy=st.text(max_size=200),
        check=in_its_shape(read_token),
    ),
    Parser(
        name="profiles with their cards",
        share=30,
        draw=lambda mutator: mutator.value([PROFILE, {"name": "bob"}]),
        strategy=json_values,
        check=in_its_shape(read_profile),
    ),
)
