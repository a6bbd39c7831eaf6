"""Parsers of text: the JSON reader, the query language, cursors, `@delegate` lines, times, tokens and names."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from django.core.exceptions import EmptyResultSet
from hypothesis import strategies as st

from mailbox.database import paging
from mailbox.dialects.marianne.wire import delegations
from mailbox.inspection.search import keys, queries, terms
from mailbox.models import Task
from mailbox.words import json_text, names, secret_box, times, tokens
from mailbox.words.errors import InvalidRequestError
from tools.fuzz.examples import DOCUMENTS
from tools.fuzz.mutation import Mutator, as_json
from tools.fuzz.parser import INVALID, Parser

NOW = datetime(2026, 3, 29, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))  # a moment that the clocks skip
AT = terms.Moment(now=NOW, stale_after=timedelta(minutes=5))
EXECUTED = 20  # of so many queries and cursors, the database runs one
_turns = count()

TEXTS = [*map(as_json, DOCUMENTS), "[[[]]]", '{"a":[1,2.5,-0.0,1e5,"\\u00e9\\ud83d\\ude00",null,true]}', '"x"', "12"]


def read_json(raw: bytes) -> None:
    value = json_text.loads(raw)
    assert json_text.problem_in(value) is None
    assert json_text.same(json_text.loads(json_text.dumps(value)), value)
    assert json_text.same(json.loads(raw), value)
    strict = without_large_integers(value)
    assert orjson.loads(orjson.dumps(strict)) == strict  # an independent reader and writer of strict JSON


def without_large_integers(value: Any) -> Any:
    """Return the value with 0 for integers beyond 64 bits, which that reader takes for doubles."""
    if isinstance(value, dict):
        return {key: without_large_integers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [without_large_integers(part) for part in value]
    return 0 if isinstance(value, int) and abs(value) >= 2**63 else value


LISTS = (
    *(queries.tasks, queries.leases, queries.attempts, queries.results, queries.agents, queries.scans, queries.events),
    *(queries.plans, queries.replay_entries, queries.deliveries),
)
QUERIES = [
    *(
        'agent:hotels state:stale key:inv-* age:>10m -to:writer "some words"',
        "state:waiting,stale -state:ok attempt:>=3",
    ),
    *(
        "finished:02:14..02:15",
        "posted:2026-01-31T02:14Z..",
        "id:6f1c0c54-5e0c-4f5b-9d5f-0a6f5a3a8f11",
        "safety:unsafe",
    ),
    *(
        "kind:a2a_task_* actor:bob@local since:24h source:cli request:x",
        "outcome:failed since:<7d",
        "state:quiet,paused",
    ),
    *("status:error,partial delivery:pending from:alice@local,bob*", 'context:"a, b",c parent:' + "0" * 32, "word"),
    *("sender:alice* recipient:bob@local key:k status:ok hit:>1d source:" + "1" * 32, "verb:requeue actor:user:olga"),
    *(
        "state:open,done attempts:<4 sender:alice",
        "-word -" + '"two words"',
        "name:hotel* state:stale",
        "age:<=999999999s",
    ),
]
# The longest queries, with as many values or terms as fit.
QUERIES += [
    f"{start}{','.join([value] * (490 // (len(value) + 1)))}"
    for start, value in (
        *(
            ("agent:", "a"),
            ("agent:", "a*"),
            ("agent:", "a@b"),
            ("-from:", "a"),
            ("state:", "stale"),
            ("state:", "quiet"),
        ),
        *(
            ("key:", "a*"),
            ("kind:", "a*"),
            ("age:", ">1m"),
            ("finished:", "02:14.."),
            ("attempt:", ">1"),
            ("actor:", "a@b"),
        ),
    )
]
QUERIES += [
    " ".join([term] * (490 // (len(term) + 1))) for term in ("-state:ok", "agent:a", "-agent:a@b", "key:a", "-a", "b")
]


def search_lists(query: tuple[int, str]) -> None:
    number, text = query
    found = LISTS[number](text, AT)
    try:
        found.query.sql_with_params()
    except EmptyResultSet:
        return
    if next(_turns) % EXECUTED == 0:
        list(found[:2])


def write_terms(text: str) -> None:
    """Check that the language can spell a term that it wrote for any text."""
    if json_text.problem_with(text) is None and text.strip():
        query = terms.parse(terms.term("key", text), keys.TASK_KEYS)
        assert len(query.terms) == 1
        assert not query.words


POSITIONS: Sequence[tuple[str, Any]] = (("sent_at", datetime), ("pk", int), ("intent_text", str))
_ROWS: Sequence[tuple[Any, ...]] = ((1700000000.5, 3), (17,), ("alice@local",), (0, 0), (2**63 - 1,), (-1.0, 1))
CURSORS = [secret_box.seal(as_json(["tasks", *row]), purpose=paging.CURSORS) for row in _ROWS]


def draw_cursor(mutator: Mutator) -> tuple[int, str]:
    number = mutator.random.randrange(len(POSITIONS))
    if mutator.random.randrange(3):
        plain = mutator.raw([as_json(["tasks", *row]) for row in _ROWS])
        return number, secret_box.seal(plain.decode(errors="replace"), purpose=paging.CURSORS)
    return number, mutator.text(CURSORS)


def read_cursor(given: tuple[int, str]) -> None:
    number, cursor = given
    field, kind = POSITIONS[number]
    types = (kind,) if field == "pk" else (kind, int)
    position = paging.after(cursor, "tasks", types)
    assert position is not None
    again = paging.after(paging._encode("tasks", position), "tasks", types)
    assert again == position
    if next(_turns) % EXECUTED == 0:
        found = Task.objects.all()
        paging.keyset(found, field, kind, is_unique=field == "pk", limit=1, cursor=cursor, name="tasks")


OUTPUTS = [
    "Some text\n@delegate bob: write the summary\n@delegate carol@local : check it\n",
    "> - @delegate bob: a\n> ```py\n> @delegate x: no\n> ```\n1. @delegate y: yes\n",
    "~~~~\n@delegate a: b\n~~~\n@delegate c: d\n~~~~ \n@delegate e: f",
    "- a\n\n  - b\n\t```\n\t@delegate a: b\n@delegate\tx\t:\tdone\r\n\r@delegate z:   \n",
]


def read_delegations(text: str) -> None:
    read = delegations(text)
    for name, description in read.lines:
        assert names_fit(name)
        assert description
        assert description == description.strip()
    fence = read.unclosed_fence
    assert fence is None or 1 <= fence <= len(text) + 1
    if fence is None and "`" not in text and "~" not in text:
        assert len(read.lines) <= text.count("@delegate")


def names_fit(name: str) -> bool:
    return bool(name) and name.isascii() and all(letter.isalnum() or letter in "_.@-" for letter in name)


SPANS = ["90s", "5m", "2h", "1d", " 10 m ", "999999999s", "11574d", "02:14..02:15", "2026-01-31T02:14Z..", "02:14.."]
SPANS += ["2026-03-29T02:30..2026-03-29T03:30", "9998-12-31T23:59-23:59..", "1970-01-01T00:00+23:59..", "2026-W01-1.."]


def read_times(text: str) -> None:
    span = times.parse(text)
    if span is not None:
        assert timedelta(0) <= span <= times.LONGEST
        times.write(span)
    for zone in (NOW.tzinfo, UTC):
        found = times.parse_range(text, NOW.astimezone(zone))
        if found is not None:
            start, end = found
            assert end is None or start <= end
            times.epoch_ms(start.astimezone(UTC))


MINTED = [tokens.mint(kind).key for kind in (tokens.KEY, tokens.ROUTE)]
TOKENS = [*MINTED, f"GET /p/{MINTED[1]}/a2a/tasks?key={MINTED[0]}", f"Bearer {MINTED[0]}", "a2a_x_y_z"]


def read_tokens(text: str) -> None:
    for kind in (tokens.KEY, tokens.ROUTE):
        public = tokens.public_id(text, kind)
        assert public is None or (len(public) == 8 and text.startswith(f"{kind}_{public}_"))
    shown = tokens.redact(text)
    assert not any(key in shown for key in MINTED)
    assert tokens.redact(shown) == shown


def spell(name: str) -> None:
    assert names.name_of(names.spelled(name)) == name


def read_spelling(display: str) -> None:
    names.name_of(display)


any_text = st.text(max_size=300)
PARSERS = (
    Parser(
        name="JSON reader",
        share=230,
        draw=lambda mutator: mutator.raw(TEXTS),
        strategy=st.binary(max_size=200) | any_text.map(lambda text: text.encode(errors="surrogatepass")),
        check=read_json,
    ),
    Parser(
        name="query language",
        share=130,
        draw=lambda mutator: (mutator.random.randrange(len(LISTS)), mutator.text(QUERIES)),
        strategy=st.tuples(st.integers(0, len(LISTS) - 1), any_text),
        check=search_lists,
    ),
    Parser(
        name="terms of the query language",
        share=40,
        draw=lambda mutator: mutator.text(QUERIES),
        strategy=any_text,
        check=write_terms,
    ),
    Parser(
        name="cursors",
        share=100,
        draw=draw_cursor,
        strategy=st.tuples(st.integers(0, len(POSITIONS) - 1), any_text),
        check=read_cursor,
    ),
    Parser(
        name="`@delegate` lines",
        share=120,
        draw=lambda mutator: mutator.text(OUTPUTS),
        strategy=any_text,
        check=read_delegations,
        refusals=(),
    ),
    Parser(
        name="times",
        share=50,
        draw=lambda mutator: mutator.text(SPANS),
        strategy=any_text,
        check=read_times,
        refusals=(),
    ),
    Parser(
        name="keys and tokens",
        share=50,
        draw=lambda mutator: mutator.text(TOKENS),
        strategy=any_text,
        check=read_tokens,
        refusals=(),
    ),
    Parser(
        name="spelled names",
        share=30,
        draw=lambda mutator: mutator.text(["Code Reviewer", "hotels", "Zoë", "a-b_c.d"]),
        strategy=any_text,
        check=spell,
        refusals=(InvalidRequestError,),
    ),
    Parser(
        name="spellings of names",
        share=20,
        draw=lambda mutator: mutator.text(["_code-_reviewer@inbox", ".c3.a9@inbox", "bob@local"]),
        strategy=any_text,
        check=read_spelling,
        refusals=INVALID,
    ),
)
