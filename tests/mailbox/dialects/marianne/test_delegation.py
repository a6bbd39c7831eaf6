"""The lines of an agent's output that are delegations, and examples in code that are not."""

import time

import pytest

from mailbox.dialects.marianne.wire import delegations

REAL = "@delegate bob: REAL"
EXAMPLE = "@delegate bob: EXAMPLE"


def found(*lines):
    return [description for _, description in delegations("\n".join(lines)).lines]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_each_line_is_one_delegation_at_any_place_in_the_line(ending):
    text = ending.join(
        ["@delegate a: one", "so @delegate deep-thought@far : two  ", "- @delegate c:three", "@delegate d:"]
    )

    assert delegations(text).lines == [("a", "one"), ("deep-thought@far", "two"), ("c", "three")]


@pytest.mark.parametrize(
    "fenced",
    [
        ["```", EXAMPLE, "```"],
        ["~~~", EXAMPLE, "~~~~"],
        ["```", "```python", EXAMPLE, "```"],
        ["````", "```", EXAMPLE, "````"],
        ["```", "~~~", EXAMPLE, "```  "],
        ["   ```", EXAMPLE, " ```"],
        ["``` python", "    ```", EXAMPLE, "```"],
        ["> ```", f"> {EXAMPLE}", "> ```"],
        ["> ```", f"> {EXAMPLE}"],
        ["- ```", f"  {EXAMPLE}", "  ```"],
        ["1. ```", "", f"   {EXAMPLE}", "   ```"],
        ["- one", "  - two", "", "    ```", f"    {EXAMPLE}", "    ```"],
        ["> - ```", f">   {EXAMPLE}", ">", f">   {EXAMPLE}", ">   ```"],
        ["10. ten", "\t```", f"\t{EXAMPLE}", "\t```"],
    ],
    ids=" / ".join,
)
def test_text_in_a_fence_is_code(fenced):
    assert found(*fenced, REAL) == ["REAL"]
    assert delegations("\n".join([*fenced, REAL])).unclosed_fence is None


@pytest.mark.parametrize(
    "lines",
    [
        ["    ```", REAL],
        ["``` `", REAL],
        ["``", REAL],
        ["text ```", REAL],
        ["- ```", REAL],
    ],
    ids=" / ".join,
)
def test_lines_that_look_like_fences_hide_no_delegation(lines):
    assert found(*lines) == ["REAL"]


@pytest.mark.parametrize("almost", ["~~~", "``", "``` x", "    ```", "> ```"])
def test_a_fence_that_never_closes_is_reported_by_its_line(almost):
    told = delegations(f"{REAL}\n\n```\n{EXAMPLE}\n{almost}\n{EXAMPLE}\n")

    assert [description for _, description in told.lines] == ["REAL"]
    assert told.unclosed_fence == 3


@pytest.mark.processes  # it measures CPU time
@pytest.mark.parametrize(
    "text",
    [
        "@delegate a:" + " " * 1_000_000,
        "@delegate " + "a" * 1_000_000,
        "@delegate a" + " " * 1_000_000,
        "@delegate " * 100_000,
        "@delegate a: " + "\t " * 500_000 + "\u00a0",
        "> " * 500_000,
        "- " * 100 + "\n" * 900_000,
        ">- " + "- " * 100 + "\n>" * 450_000,
        "`" * 1_000_000,
        "```\n" * 250_000,
    ],
    ids=lambda text: repr(text[:15]),
)
def test_a_hostile_text_costs_no_more_than_its_length(text):
    started = time.process_time()

    delegations(text)

    assert time.process_time() - started < 5
