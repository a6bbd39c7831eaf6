"""A signed request that was changed on its way is refused, and the request itself is then still accepted, once.

The program draws 1,000 changes of one request from a seed. A change that spells the same request is not drawn.
"""

import random
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from mailbox.access.limits import rates
from mailbox.models import AuditEvent, SpentNonce, Task
from mailbox.words.kinds import Kind
from tests.support.signing import SignedRequest, Signer

pytestmark = pytest.mark.django_db

CHANGES, REPLAYS = 1000, 50
ATTEMPT = "A2A-Receive-Attempt-Id"
INPUT, SIGNATURE, DIGEST = "Signature-Input", "Signature", "Content-Digest"


def with_header(request: SignedRequest, name: str, value: str | None) -> SignedRequest:
    kept = {other: text for other, text in request.headers.items() if other != name}
    return replace(request, headers=kept if value is None else {**kept, name: value})


def with_character(text: str, draw: random.Random) -> str:
    """Return ``text`` with one character replaced, inserted or dropped."""
    place, letter = draw.randrange(len(text)), draw.choice("aZ09:;=\"'() ,")
    return text[:place] + draw.choice([letter + text[place + 1 :], letter + text[place:], text[place + 1 :]])


def a_header(name: str) -> Callable[[SignedRequest, random.Random], SignedRequest]:
    return lambda request, draw: with_header(request, name, with_character(request.headers[name], draw))


def without_a_header(request: SignedRequest, draw: random.Random) -> SignedRequest:
    return with_header(request, draw.choice(sorted(request.headers)), None)


def a_body(request: SignedRequest, draw: random.Random) -> SignedRequest:
    place = draw.randrange(len(request.body))
    byte = bytes([draw.randrange(32, 127)])
    return replace(request, body=request.body[:place] + byte + request.body[place + draw.randrange(2) :])


def a_method(request: SignedRequest, draw: random.Random) -> SignedRequest:
    return replace(request, method=draw.choice(["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "post"]))


def a_path(request: SignedRequest, draw: random.Random) -> SignedRequest:
    path, _, query = request.target.partition("?")
    others = [path + "/", path.upper(), "/a2a/results", "/a2a/queue", "/tasks/send", f"{path}/{draw.randrange(99)}"]
    return replace(request, target=f"{draw.choice(others)}?{query}")


def a_query(request: SignedRequest, draw: random.Random) -> SignedRequest:
    path, _, query = request.target.partition("?")
    parts = query.split("&")
    draw.shuffle(parts)
    others = ["&".join(parts), with_character(query, draw), f"{query}&x={draw.randrange(99)}", ""]
    return replace(request, target=f"{path}?{draw.choice(others)}")


def a_parameter(request: SignedRequest, draw: random.Random) -> SignedRequest:
    """Change the value of one parameter: the times, the nonce, the key, the algorithm."""
    name, value = draw.choice(re.findall(r';(\w+)=("[^"]*"|\d+)', request.headers[INPUT]))
    if value.isdigit():
        changed = str(int(value) + draw.choice([-1, 1]) * draw.randrange(1, 400))
    else:
        changed = f'"{with_character(value[1:-1], draw)}"'
    return with_header(request, INPUT, request.headers[INPUT].replace(f";{name}={value}", f";{name}={changed}"))


def an_order(request: SignedRequest, draw: random.Random) -> SignedRequest:
    """Reorder, repeat or drop components and parameters."""
    ((label, components, parameters),) = re.findall(r"(\w+)=\(([^)]*)\);(.*)", request.headers[INPUT])
    lists = [components.split(" "), parameters.split(";")]
    chosen = draw.choice(lists)
    match draw.choice(["shuffle", "repeat", "drop"]):
        case "shuffle":
            draw.shuffle(chosen)
        case "repeat":
            chosen.insert(draw.randrange(len(chosen)), draw.choice(chosen))
        case "drop":
            chosen.remove(draw.choice(chosen))
    return with_header(request, INPUT, f"{label}=({' '.join(lists[0])});{';'.join(lists[1])}")


def another_key(request: SignedRequest, draw: random.Random) -> SignedRequest:
    (pubkey,) = re.findall(r'keyid="([^"]+)"', request.headers[INPUT])
    changed = request.headers[INPUT].replace(pubkey, OTHER["pubkey"])
    return with_header(request, INPUT, changed)


def a_second_signature(request: SignedRequest, draw: random.Random) -> SignedRequest:
    both = {name: f"{request.headers[name]}, b{request.headers[name]}" for name in (INPUT, SIGNATURE)}
    return replace(request, headers={**request.headers, **both})


KINDS: Mapping[str, Callable[[SignedRequest, random.Random], SignedRequest]] = {
    **{f"the header {name}": a_header(name) for name in (INPUT, SIGNATURE, DIGEST, ATTEMPT)},
    "a missing header": without_a_header,
    "the body": a_body,
    "the method": a_method,
    "the path": a_path,
    "the query": a_query,
    "a parameter": a_parameter,
    "the order": an_order,
    "another key": another_key,
    "a second signature": a_second_signature,
}
OTHER: dict[str, str] = {}


def is_the_same(one: SignedRequest, other: SignedRequest) -> bool:
    """Whether two requests are the same to HTTP, which drops spaces around a value.

    A label is no part of a signature, so both headers may have another one.
    """
    labels = {name: text.strip().partition("=")[2] for name, text in one.headers.items() if name in (INPUT, SIGNATURE)}
    plain = {name: text.strip() for name, text in one.headers.items()}
    return (one.method, one.target, one.body) == (other.method, other.target, other.body) and (
        plain == other.headers
        or (
            {**plain, **labels} == {**other.headers, **{n: other.headers[n].partition("=")[2] for n in labels}}
            and one.headers[INPUT].partition("=")[0] == one.headers[SIGNATURE].partition("=")[0]
        )
    )


def changed(request: SignedRequest, draw: random.Random) -> tuple[str, SignedRequest]:
    while True:
        name = draw.choice(sorted(KINDS))
        other = KINDS[name](request, draw)
        if not is_the_same(other, request):
            return name, other


@pytest.mark.deep
def test_no_changed_request_is_accepted_and_no_replay(alice, bob, settings):
    settings.A2A_AGENT_REQUESTS_PER_S = settings.A2A_ADDRESS_REQUESTS_PER_S = 0
    rates.forget()
    signer, draw = Signer(alice), random.Random(9421)  # noqa: S311 (a seeded run, not a secret)
    OTHER["pubkey"] = Signer(bob).pubkey
    body = {"recipient": "bob@local", "intent_text": "summarise the report"}
    request = signer.request("POST", "/a2a/tasks?one=1&two=2", body, headers={ATTEMPT: str(uuid.uuid4())})
    drawn, accepted = set(), []

    for _ in range(CHANGES):
        name, other = changed(request, draw)
        drawn.add(name)
        answer = other.send()
        if answer.status_code < 400:
            accepted.append((name, other, answer.content))

    assert accepted == []
    assert drawn == KINDS.keys()
    assert not Task.objects.exists()
    assert not SpentNonce.objects.exists()
    assert {row.kind for row in AuditEvent.objects.all()} <= {Kind.AUTHENTICATION_FAILED}
    answers = [request.send() for _ in range(1 + REPLAYS)]
    assert [answer.status_code for answer in answers[1:]] == [401] * REPLAYS
    assert answers[0].status_code == 200, answers[0].content
    assert Task.objects.count() == SpentNonce.objects.count() == 1
