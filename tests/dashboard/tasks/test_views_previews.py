"""Markdown previews on the page of a task."""

import pytest

from dashboard.wording import payload
from mailbox.life import results
from tests.dashboard.conftest import path_of
from tests.support import factories, talking
from tests.support.hostile import Reader
from tests.support.markup import squeezed

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

PLAN = "# Plan\n\n- **book** it\n"
SHOWN = "<p><b>Plan</b></p>"


def declared(text, media_type="text/markdown"):
    return {"type": "text", "text": text, "mediaType": media_type}


def resource(text):
    return {"type": "resource", "resource": {"uri": "file:///plan.md", "mimeType": "text/markdown", "text": text}}


@pytest.fixture
def answered(alice, bob):
    """Return a function that answers a new task with blocks and returns the path of the task."""

    def answer(*blocks, **fields):
        lease = factories.leased_task(alice, bob, **fields)
        results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id, content=list(blocks)))
        return path_of(lease.task)

    return answer


@pytest.mark.parametrize("block", [declared(PLAN), resource(PLAN)])
def test_declared_markdown_is_rendered_beside_its_text(ana, answered, block):
    text = squeezed(ana.get(answered(block)).text)

    assert SHOWN in text
    assert "<li><strong>book</strong> it</li>" in text
    assert "<summary>As text" in text
    assert "# Plan - **book** it" in text


def test_other_words_are_rendered_when_a_person_asks(ana, answered):
    path = answered(talking.block(PLAN), talking.block("no signs"), intent_text="Write **now**")

    plain = squeezed(ana.get(path).text)
    asked = squeezed(ana.get(f"{path}?markdown=0").text)
    intent = squeezed(ana.get(f"{path}?before=x&markdown=intent").text)

    assert SHOWN not in plain
    assert plain.count("Preview as Markdown") == 2
    assert '<a href="?markdown=0#part-0">' in plain
    assert SHOWN in asked
    assert '<div class="markdown" id="part-0" dir="auto">' in asked
    assert "<strong>now</strong>" in intent
    assert SHOWN not in intent
    assert '<a href="?before=x&amp;markdown=0#part-0">' in intent


@pytest.mark.parametrize("asked", ["", "9", "metadata", "content", "error", "\x00", "x" * 3_000])
def test_an_odd_part_is_shown_as_text(ana, answered, asked):
    page = ana.get(answered(talking.block(PLAN)), {"markdown": asked})

    assert page.status_code == 200
    assert 'class="markdown"' not in page.text


def test_messages_and_artifacts_have_previews_too(ana, bob, lease):
    talking.told(bob, lease.task, PLAN)
    talking.made(bob, lease.task, declared(PLAN))
    (said,) = ana.get(path_of(lease.task)).context["talk"].sayings

    page = ana.get(path_of(lease.task, f"?markdown=message-{said.seq}-0"))

    assert page.text.count('class="markdown"') == 2


def test_a_page_renders_declared_markdown_up_to_a_length(ana, answered):
    text = "- a\n" * (payload.MOST_RENDERED // 8)

    page = ana.get(
        answered(declared(text), declared(text), declared("- b"), declared("- " + "a" * payload.MOST_RENDERED))
    )

    assert page.text.count('class="markdown"') == 2
    assert page.text.count("Preview as Markdown") == 1
    again = ana.get(page.request["PATH_INFO"], {"markdown": "2"})
    assert again.text.count('class="markdown"') == 3


def test_a_large_text_stays_text(ana, answered):
    path = answered(declared("**a** " * 2**17))

    page = ana.get(f"{path}?markdown=0")

    assert 'class="markdown"' not in page.text
    assert "Preview as Markdown" not in page.text


def test_hostile_markdown_stays_harmless(ana, answered):
    hostile = (
        "<script>alert(1)</script> [a](javascript:alert(1)) ![b](https://spy.example/b.png)\n\n<img src=x onerror=y>"
    )

    page = ana.get(answered(declared(hostile)))
    read = Reader(page.text)

    assert 'class="markdown"' in page.text
    assert "<script>alert" not in page.text
    assert "<img" not in page.text
    assert read.handlers == []
    assert [target for target in read.targets if target.startswith("javascript")] == []
    assert '<a href="https://spy.example/b.png" rel="noopener noreferrer nofollow">b</a>' in page.text


def test_hidden_payloads_hide_previews_too(ana, answered):
    ana.cookies["ops_hide_payloads"] = "on"

    text = squeezed(ana.get(f"{answered(talking.block(PLAN))}?markdown=0").text)

    assert "<details> <summary>Show the conversation</summary>" in text
    assert text.index("Show the conversation") < text.index(SHOWN)
    assert text.count(SHOWN) == 1
