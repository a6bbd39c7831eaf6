"""Control lines in a program's output. A line is one only if it begins with the token of its run."""

import json
import threading

import pytest

from a2a_hub_client.worker import job
from a2a_hub_client.worker.output import LINE_BYTES, ControlledOutput

pytestmark = pytest.mark.one_database

TOKEN = "aab1"
ASK = {"status": "input_required", "message": "Which colour?"}


def line(**fields: object) -> bytes:
    return f"{TOKEN} {json.dumps(fields)}\n".encode()


def written(*parts: bytes) -> ControlledOutput:
    output = ControlledOutput(TOKEN)
    for part in parts:
        output.feed(part)
    output.close()
    return output


def updates_of(output: ControlledOutput) -> list[object]:
    found: list[object] = []
    while batch := output.take():
        found += batch
    return found


MIXED = b"one\n" + line(message="two") + b"aa\n\n" + line(progress={"fraction": 0.5}) + b"  aab1 {}\nthree"
EXPECTED = [
    {"message": "one"},
    {"message": "two"},
    {"message": "aa"},
    {"progress": {"fraction": 0.5}},
    {"message": "  aab1 {}"},
    {"message": "three"},
]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1_000])
def test_control_lines_and_output_keep_their_order_wherever_the_reads_split_them(size):
    output = written(*(MIXED[start : start + size] for start in range(0, len(MIXED), size)))

    assert updates_of(output) == EXPECTED
    assert (output.fault, output.conclusion) == (None, None)
    assert (output.last, output.whole) == ("three", "one\naa\n\n  aab1 {}\nthree")


def test_a_control_line_needs_no_line_break_at_the_end_of_the_output():
    assert updates_of(written(line(message="two").rstrip())) == [{"message": "two"}]


def test_the_start_of_a_token_is_output_if_the_line_ends():
    assert updates_of(written(b"aab", b"\naa", b"b2\n", b"aab")) == [
        {"message": "aab"},
        {"message": "aab2"},
        {"message": "aab"},
    ]


def test_control_lines_count_beyond_the_limit_of_other_lines():
    long = "x" * 100_000
    output = written(b"1\n" * 1_001, line(message=long))

    assert updates_of(output)[-1] == {"message": long}


@pytest.mark.parametrize("status", ["input_required", "auth_required", "ok", "partial", "error", "rejected"])
def test_a_line_that_ends_the_attempt_is_kept_as_the_conclusion(status):
    output = written(line(message="first"), line(status=status, message="last"))

    assert output.conclusion == {"status": status, "message": "last"}
    assert updates_of(output) == [{"message": "first"}]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "not JSON"),
        (b" {", "not JSON"),
        (b' {"message": "a", "message": "b"}', "duplicate key"),
        (b' ["message"]', "must be an object"),
        (b" {}", "exactly one of message, progress, artifact, status"),
        (b' {"message": "a", "progress": {"fraction": 1}}', "exactly one of"),
        (b' {"message": "\\u0000"}', "NUL"),
        (b' {"message": "\xff"}', "not UTF-8"),
        (b' {"message": "' + b"x" * LINE_BYTES + b'"}', f"at most {LINE_BYTES} bytes"),
    ],
)
def test_a_faulty_line_is_reported_and_quoted(text, problem):
    output = written(TOKEN.encode() + text + b"\nafter\n")

    assert output.fault is not None
    assert output.fault.startswith("faulty control line: ")
    assert problem in output.fault
    assert len(output.fault) < 500
    assert updates_of(output) == [{"message": "after"}]


def test_a_control_line_after_the_conclusion_is_faulty():
    output = written(line(**ASK), line(message="more"))

    assert "the last" in str(output.fault)
    assert output.conclusion == ASK


def test_an_endless_control_line_takes_little_memory():
    output = ControlledOutput(TOKEN)
    output.feed(TOKEN.encode())
    for _ in range(100):
        output.feed(b"x" * 65_536)

    assert output._control is not None
    assert len(output._control) == LINE_BYTES + 1


def test_an_output_is_full_until_its_updates_are_taken(monkeypatch):
    monkeypatch.setattr(job, "MOST_WAITING", 50)
    output = ControlledOutput(TOKEN)
    output.feed(line(message="x" * 60))
    assert output.is_full

    output.take()

    assert not output.is_full


def test_a_control_line_ends_the_wait_for_updates_and_other_output_does_not():
    output = ControlledOutput(TOKEN)
    output.feed(b"plain\n")
    assert not output.await_update(0)

    late = threading.Timer(0.05, output.feed, [line(message="now")])
    late.start()

    assert output.await_update(30)
    late.join()
