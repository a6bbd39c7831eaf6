"""Sends requests to a served hub, as its OpenAPI document allows and forbids them, and judges each answer."""

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

PATIENCE = 30.0  # seconds within which every answer comes, beyond the wait that a request may name
LONGEST_WAIT = 50  # milliseconds that a receive may wait
ALLOWED: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    response_schema_conformance,
    content_type_conformance,
]
FORBIDDEN: list[Any] = [not_a_server_error]
UUID_TEXT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NAMES = ("recipient", "agent", "subject", "toAgentId", "agent_name", "toPeerId", "name")
IDS = re.compile(r"(^|_)(id|ids|task|parent|ack|delivery)$")
MOST_OF_A_TURN = 8  # requests of one operation in a row; later rounds meet the rows of earlier rounds
KEPT = 400  # ids of earlier answers that later requests may name


@dataclass(slots=True, kw_only=True)
class Answers:
    """The answers so far. ``unsent`` counts requests that the client itself cannot write, such as odd headers."""

    sent: int = 0
    unsent: int = 0
    slowest: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    defects: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)


class Sender:
    """Draws requests from the document, and names known tasks and agents in half of them."""

    def __init__(self, url: str, keys: Mapping[str, str | None], agents: Sequence[str], seed: int) -> None:
        """``keys`` holds a key by the name of its party; a party with None sends none."""
        self.url, self.keys, self.agents, self.seed = url, keys, agents, seed
        self.document = schemathesis.openapi.from_url(f"{url}/api/schema/?format=json")
        self.random = Random(seed)  # noqa: S311
        self.session, self.answers = requests.Session(), Answers()

    def send(self, inputs: int) -> None:
        """Send ``inputs`` requests: of each operation, by each party, allowed and forbidden."""
        turns = [
            (operation, party, mode)
            for operation in self._operations()
            for party in self.keys
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        ]
        many, few = MOST_OF_A_TURN, 1  # nearly all requests without a key get the same refusal
        for number in count():
            for turn, (operation, party, mode) in enumerate(turns):
                if self.answers.sent >= inputs:
                    return
                most = few if self.keys[party] is None else many
                self._turn(operation, party, mode, most, seed=self.seed + number * len(turns) + turn)

    def _operations(self) -> Iterator[Any]:
        results: Iterator[Any] = self.document.get_all_operations()
        for result in results:
            yield result.ok()

    def _turn(self, operation: Any, party: str, mode: GenerationMode, most: int, *, seed: int) -> None:
        @seeded(seed)
        @settings(
            max_examples=most,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def each(case: Case[Any]) -> None:
            self._call(case, party, is_allowed=mode == GenerationMode.POSITIVE)

        try:
            each()
        except Unsatisfiable:
            return  # no request of this operation is forbidden

    def _call(self, case: Case[Any], party: str, *, is_allowed: bool) -> None:
        answers, key = self.answers, self.keys[party]
        self._name_known(case)
        headers = {"A2A-Version": "1.0"} if key is None else {"A2A-Version": "1.0", "Authorization": f"Bearer {key}"}
        begun = time.monotonic()
        try:
            response = case.call(base_url=self.url, session=self.session, headers=headers, timeout=PATIENCE)
        except requests.Timeout:
            answers.defects.append(f"no answer within {PATIENCE:g} s: {case.method} {case.formatted_path}")
            return
        except (requests.exceptions.InvalidHeader, UnicodeError, ValueError):
            answers.unsent += 1
            return
        answers.sent += 1
        answers.statuses[response.status_code] += 1
        answers.slowest = max(answers.slowest, time.monotonic() - begun)
        answers.ids = [*answers.ids, *UUID_TEXT.findall(response.content.decode(errors="replace")[:4000])][-KEPT:]
        try:
            case.validate_response(response, checks=ALLOWED if is_allowed else FORBIDDEN)
        except (AssertionError, FailureGroup) as failure:
            answers.defects.append(f"{party}, {case.method} {case.path}: {failure}")

    def _name_known(self, case: Case[Any]) -> None:
        for part in (case.path_parameters, case.query, case.body):
            if isinstance(part, dict):
                for name, value in part.items():
                    part[name] = self._known(name, value)

    def _known(self, name: str, value: Any) -> Any:
        """Return the value, or in half of all cases a known id or agent. No request waits long."""
        if name == "wait_ms":
            return LONGEST_WAIT if isinstance(value, int) and value > LONGEST_WAIT else value
        if self.random.randrange(2):
            return value
        if name in NAMES and isinstance(value, str | dict):
            return self.random.choice(self.agents)
        if IDS.search(name) and self.answers.ids:
            found = self.random.choice(self.answers.ids)
            return [found] if isinstance(value, list) else found
        return value
