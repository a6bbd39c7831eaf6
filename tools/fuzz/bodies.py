"""Parsers of JSON documents: the bodies of each dialect, envelopes, URLs, and the answers of remote A2A agents."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from unittest import mock
from uuid import UUID

from hypothesis import strategies as st
from pydantic import BaseModel

from agentcards import client
from mailbox.dialects.base.bodies import JSONRenderer
from mailbox.dialects.base.view import parse
from mailbox.dialects.corvid import handler
from mailbox.dialects.corvid import views as corvid
from mailbox.dialects.covenant import access_views, repair_views
from mailbox.dialects.covenant import requests as covenant
from mailbox.dialects.marianne import registry_views
from mailbox.dialects.marianne import views as marianne
from mailbox.dialects.yeoman import requests as yeoman
from mailbox.dialects.yeoman import wire
from mailbox.life.updates import MAX_UPDATES
from mailbox.outbound import exchange
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import BlockedUrlError, ExternalServiceError
from mailbox.words import json_text
from mailbox.words.conversation import check_updates
from mailbox.words.envelopes import AgentRef, DuplicateSafety, Idempotency, ResultEnvelope, TaskEnvelope
from mailbox.words.errors import MailboxError
from tools.fuzz import examples
from tools.fuzz.mutation import Mutator, as_json
from tools.fuzz.parser import INVALID, Parser

MODULES = (
    covenant,
    access_views,
    repair_views,
    marianne,
    registry_views,
    corvid,
)
SHAPES: Mapping[str, type[BaseModel]] = {
    name: next(getattr(module, name) for module in MODULES if hasattr(module, name)) for name in examples.BODIES
}
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


def read_body(given: tuple[str, Any]) -> None:
    """Read a body of the hub's own routes, and check the envelope that it becomes."""
    name, value = given
    shape = SHAPES[name]
    try:
        found = parse(shape, stored(value))
        if isinstance(found, covenant.TaskBody | covenant.ResultBody):
            checked(found.envelope())
        if isinstance(found, covenant.SayBody):
            found.words().check()
        if isinstance(found, covenant.UpdatesBody):
            check_updates([update.update() for update in found.updates], MAX_UPDATES)
        if isinstance(found, corvid.RegisterAgentBody):
            AgentRef.parse(found.address)
    except MailboxError as refusal:
        JSONRenderer().render({"message": refusal.message, **vars(refusal).get("fields", {})})
        raise


def checked(envelope: TaskEnvelope | ResultEnvelope) -> None:
    """Check an envelope. Both databases can store the texts of an accepted envelope."""
    envelope.check()
    texts = [value for name in envelope.__slots__ if isinstance(value := getattr(envelope, name), str)]
    assert all(json_text.problem_with(text) is None for text in texts)
    kept = envelope.metadata if isinstance(envelope, TaskEnvelope) else list(envelope.content)
    assert json_text.same(json_text.loads(json_text.dumps(kept)), kept)


def stored(value: Any) -> Any:
    """Return the value as a view reads it from a request."""
    return json_text.loads(as_json(value).encode())


def draw_body(mutator: Mutator) -> tuple[str, Any]:
    name = mutator.random.choice(list(examples.BODIES))
    return name, mutator.value(examples.BODIES[name])


def check_envelope(given: Any) -> None:
    """Check an envelope of any values, as code in the hub's process may build one."""
    if not isinstance(given, dict):
        given = {"intent_text": given, "metadata": given}
    fields = {name: given.get(name, default) for name, default in ENVELOPE.items()}
    checked(TaskEnvelope(**fields))


ENVELOPE: Mapping[str, Any] = {
    "recipient": AgentRef("bob@local"),
    "intent_text": "do it",
    "id": UUID(examples.ID),
    "task_kind": "a",
    "deadline_ms": 5,
    "context_id": "c",
    "metadata": {"a": 1},
    "work_timeout": timedelta(seconds=1),
    "idempotency": Idempotency(duplicate_safety=DuplicateSafety.UNSAFE, key="k"),
    "callback_url": "https://example.org",
    "callback_secret": "s",
    "dialect": "mailbox",
}


def read_tasks_send(value: Any) -> None:
    sent = handler.parse_send(stored(value))
    assert sent.message.strip()
    assert handler.MIN_TIMEOUT_MS <= sent.timeout_ms <= handler.MAX_TIMEOUT_MS
    assert 1 <= sent.depth <= handler.MAX_DEPTH_VALUE
    assert type(sent.timeout_ms) is type(sent.depth) is int


def read_message(value: Any) -> None:
    """Read a message of YEOMAN's peers, with the payload of each type."""
    try:
        message = yeoman.parse(yeoman.Envelope, stored(value))
        if tasks := yeoman.batch(message.content, "tasks", dict):
            for number, task in enumerate(tasks):
                yeoman.delegated(task, "body", "payload", "tasks", number)
        yeoman.batch(message.content, "task_ids", str)
        work = yeoman.delegated(message.content, "body", "payload")
        assert work.intent.strip()
        yeoman.check_result(message.content)
        with yeoman.placed("body", "payload"):
            checked(wire.result_envelope(UUID(examples.ID), message.content))
    except yeoman.UnprocessableError as refusal:
        JSONRenderer().render({"detail": refusal.problems})
        raise


def read_submitted(value: Any) -> None:
    """Read a document as each of the other shapes of YEOMAN's senders. One refusal ends the input."""
    document = stored(value)
    refusals = []
    for shape in (yeoman.TaskSubmit, yeoman.WorkflowTask, yeoman.LocalPeer):
        try:
            found = yeoman.parse(shape, document)
            if isinstance(found, yeoman.TaskSubmit):
                assert yeoman.submitted(found).intent.strip()
            if isinstance(found, yeoman.WorkflowTask):
                assert yeoman.delegated(found.model_dump()).intent.strip()
        except yeoman.UnprocessableError as refusal:
            JSONRenderer().render({"detail": refusal.problems})
            refusals.append(refusal)
    if len(refusals) == 3:
        raise refusals[0]


def read_remote(raw: bytes) -> None:
    """Read the answers of a remote agent. Both databases can store the texts that the hub keeps of them."""
    answer = exchange.ServerResponse(status=200, reason="OK", body=raw)
    base = BaseUrl("https://agent.example")
    with mock.patch.object(exchange, "exchange", return_value=answer):
        seen = client.look(base, "remote-1")
        if seen is not None:
            texts = [text for text in (*seen.texts, seen.response_text, seen.error) if text is not None]
            assert all(json_text.problem_with(text) is None for text in texts)
        task_id = client.submit(base, "do it", skill=None, timeout_ms=1000)
    assert json_text.problem_with(task_id) is None


def read_agent(value: Any) -> None:
    ref = AgentRef.parse(stored(value))
    assert json_text.problem_with(str(ref)) is None


def read_url(text: str) -> None:
    base = BaseUrl.parse(text)
    assert "@" not in base.host
    assert BaseUrl.parse(base.text).text == base.text


UNPROCESSABLE = (*INVALID, yeoman.UnprocessableError)
PARSERS = (
    Parser(
        name="bodies of the hub's own routes",
        share=70,
        draw=draw_body,
        strategy=st.tuples(st.sampled_from(list(SHAPES)), json_values),
        check=read_body,
    ),
    Parser(
        name="envelopes",
        share=40,
        draw=lambda mutator: mutator.value([examples.TASK, {"metadata": {"a": [1]}, "context_id": "c"}, {}]),
        strategy=json_values,
        check=check_envelope,
    ),
    Parser(
        name="`tasks/send` (corvid-agent)",
        share=40,
        draw=lambda mutator: mutator.value(examples.TASKS_SEND),
        strategy=json_values,
        check=read_tasks_send,
        refusals=(*INVALID, handler.ValidationFailedError),
    ),
    Parser(
        name="messages (YEOMAN)",
        share=40,
        draw=lambda mutator: mutator.value(examples.MESSAGES),
        strategy=json_values,
        check=read_message,
        refusals=UNPROCESSABLE,
    ),
    Parser(
        name="tasks and peers (YEOMAN)",
        share=20,
        draw=lambda mutator: mutator.value(examples.SUBMITTED),
        strategy=json_values,
        check=read_submitted,
        refusals=UNPROCESSABLE,
    ),
    Parser(
        name="A2A parts of remote agents",
        share=40,
        draw=lambda mutator: mutator.raw([as_json(one) for one in examples.REMOTE]),
        strategy=json_values.map(lambda value: as_json(value).encode()),
        check=read_remote,
        refusals=(ExternalServiceError,),
    ),
    Parser(
        name="agents' names and keys",
        share=20,
        draw=lambda mutator: mutator.value(["bob@local", {"display": "bob@local", "pubkey": examples.PUBKEY}]),
        strategy=json_values,
        check=read_agent,
    ),
    Parser(
        name="URLs of remote agents",
        share=20,
        draw=lambda mutator: mutator.text(examples.URLS),
        strategy=st.text(max_size=200),
        check=read_url,
        refusals=(BlockedUrlError,),
    ),
)
