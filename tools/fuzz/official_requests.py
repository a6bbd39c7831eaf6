"""Sends mutated examples to the routes of the official protocol, over both bindings, and judges each answer."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import requests

from tools.fuzz.examples import ID
from tools.fuzz.mutation import Mutator, as_json
from tools.fuzz.official_examples import CALLS, ENVELOPES, RECEIVER
from tools.fuzz.requests import PATIENCE, UUID_TEXT

KEPT = 100  # ids of earlier answers that later requests may name
AGENT = "bob@local"
# The routes of HTTP+JSON below an agent: method, path, and an example of the body or the query.
ROUTES: Sequence[tuple[str, str, Any]] = (
    ("POST", "message:send", CALLS["SendMessage"][0]),
    ("POST", "message:stream", CALLS["SendMessage"][0]),
    ("GET", "tasks", CALLS["ListTasks"][0]),
    ("GET", f"tasks/{ID}", {"historyLength": 2}),
    ("POST", f"tasks/{ID}:cancel", {}),
    ("POST", f"tasks/{ID}:subscribe", {}),
    ("GET", f"tasks/{ID}:subscribe", {}),
    ("POST", f"tasks/{ID}/pushNotificationConfigs", RECEIVER),
    ("GET", f"tasks/{ID}/pushNotificationConfigs", {"pageSize": 3}),
    ("GET", f"tasks/{ID}/pushNotificationConfigs/mine", {}),
    ("DELETE", f"tasks/{ID}/pushNotificationConfigs/mine", {}),
    ("GET", "extendedAgentCard", {}),
)
HEADERS: Mapping[str, Sequence[str]] = {
    "A2A-Version": ["1.0", "1.0", "1.0", "1.0.3", "0.3", "", "2.0"],
    "A2A-Extensions": ["", "urn:a2a-hub:generation:v1", "urn:x, urn:a2a-hub:generation:v1"],
    "Last-Event-ID": ["", "1", "3.1", "x"],
    "Idempotency-Key": ["", "k-1", "k-2"],
}
STREAM = "text/event-stream"


class Wanted(NamedTuple):
    """A request. ``is_rpc``: it goes to the JSON-RPC URL."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None
    is_rpc: bool


class Got(NamedTuple):
    """An answer, read to its end."""

    status: int
    media_type: str
    body: bytes


@dataclass(slots=True, kw_only=True)
class OfficialSender:
    """Draws requests from one seed, and sends them by ``call``."""

    call: Callable[[Wanted], Got]
    seed: int
    statuses: Counter[int] = field(default_factory=Counter)
    defects: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    mutator: Mutator = field(init=False)

    def __post_init__(self) -> None:
        self.mutator = Mutator(Random(f"{self.seed} official"))  # noqa: S311

    def send(self, inputs: int) -> None:
        for _ in range(inputs):
            wanted = self._drawn()
            got = self.call(wanted)
            self.statuses[got.status] += 1
            self.ids = [*self.ids, *UUID_TEXT.findall(got.body.decode(errors="replace")[:4000])][-KEPT:]
            if problem := problem_of(wanted, got):
                self.defects.append(f"{problem}: {wanted.method} {wanted.path} {wanted.headers} {wanted.body!r}"[:2000])

    def _drawn(self) -> Wanted:
        random, known = self.mutator.random, self._known()
        headers = {name: text for name, values in HEADERS.items() if (text := random.choice(values))}
        if random.randrange(2):
            path = random.choice((f"/agents/{AGENT}/a2a", "/tenants/a2a"))
            examples = [json.loads(as_json(one).replace(ID, known)) for one in ENVELOPES]
            body = self._body(examples)
            return Wanted("POST", path, {**headers, "Content-Type": "application/json"}, body, is_rpc=True)
        method, route, example = random.choice(ROUTES)
        route = self.mutator.text([route]) if not random.randrange(6) else route
        base = random.choice((f"/agents/{AGENT}/rest", f"/tenants/rest/{AGENT}"))
        path = f"{base}/{quote(route.replace(ID, known), safe='/:', errors='replace')}"
        if method == "POST":
            body = self._body([json.loads(as_json(example).replace(ID, known))])
            return Wanted(method, path, {**headers, "Content-Type": "application/a2a+json"}, body, is_rpc=False)
        query = self.mutator.value([example])
        asked = urlencode(query, errors="replace") if isinstance(query, dict) else ""
        return Wanted(method, f"{path}?{asked}" if asked else path, headers, None, is_rpc=False)

    def _known(self) -> str:
        return self.mutator.random.choice(self.ids) if self.ids and self.mutator.random.randrange(4) else ID

    def _body(self, examples: Sequence[Any]) -> bytes:
        if self.mutator.random.randrange(4):
            return as_json(self.mutator.value(examples)).encode()
        return self.mutator.raw([as_json(one) for one in examples])


def over_http(url: str, key: str | None) -> Callable[[Wanted], Got]:
    """Return the way of requests with this key to a served hub."""
    session = requests.Session()

    def call(wanted: Wanted) -> Got:
        headers = dict(wanted.headers) if key is None else {**wanted.headers, "Authorization": f"Bearer {key}"}
        answer = session.request(wanted.method, url + wanted.path, headers=headers, data=wanted.body, timeout=PATIENCE)
        media_type = answer.headers.get("Content-Type", "").partition(";")[0]
        return Got(answer.status_code, media_type, answer.content)

    return call


def problem_of(wanted: Wanted, got: Got) -> str | None:
    """Return what is wrong with an answer; None if it has the form of the protocol. JSON-RPC answers errors with it."""
    if got.status >= 500:
        return f"status {got.status}"
    if got.media_type == STREAM:
        return None if got.status == 200 else "a refusal is a stream"
    try:
        body = json.loads(got.body)
    except ValueError:
        return f"{got.media_type} of status {got.status} is not JSON"
    if not isinstance(body, dict):
        return "the answer is no JSON object"
    if not wanted.is_rpc:
        return None if (got.status < 400) == ("error" not in body) else f"status {got.status} with {sorted(body)}"
    if body.get("jsonrpc") != "2.0" or ("result" in body) == ("error" in body):
        return f"no answer of JSON-RPC: {sorted(body)}"
    return None if got.status < 400 or "error" in body else "a result has the status of an error"
