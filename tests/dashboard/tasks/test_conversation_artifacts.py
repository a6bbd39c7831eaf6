"""Artifacts and long or hostile words of a task, on its page and in its files."""

import json

import pytest

from dashboard.tasks import conversation
from mailbox.life import results, updates
from mailbox.words import content
from mailbox.words.conversation import Update
from tests.dashboard.conftest import path_of
from tests.support import factories, talking
from tests.support.hostile import BACKWARDS, MARKUP, SCRIPTS, Reader

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def test_an_artifact_is_folded_and_its_chunks_are_joined(ana, bob, lease):
    talking.made(bob, lease.task, "old")
    for number, text in enumerate(("one ", "two ", "three")):
        facts = {"name": "Offers", "description": "A list"} if not number else {}
        talking.made(bob, lease.task, text, append=number > 0, last_chunk=number == 2, **facts)
    talking.made(bob, lease.task, {"type": "json", "value": {"n": 2**60}}, artifact_id="data", metadata={"k": 1})

    page = ana.get(path_of(lease.task))

    report, data = page.context["made"].shown
    assert [(one.title, [part.text for part in one.parts]) for one in (report, data)] == [
        ("Offers", ["one two three"]),
        ("data", [f'{{\n  "n": {2**60}\n}}']),
    ]
    assert (report.description, len(report.artifact.rows), report.artifact.is_complete) == ("A list", 3, True)
    assert (data.details, data.artifact.is_complete) == ('{\n  "metadata": {\n    "k": 1\n  }\n}', False)
    assert "still growing" in page.text
    whole = ana.get(path_of(lease.task, f"parts/{report.whole}"))
    assert (whole["Content-Type"], whole.text) == ("text/plain; charset=utf-8", "one two three")


def test_an_artifact_of_an_ended_task_lacks_its_end_only_if_it_came_in_chunks(ana, bob, lease):
    talking.made(bob, lease.task, "whole")
    results.post_result(bob, factories.result_envelope(lease.task))
    assert "never completed" not in ana.get(path_of(lease.task)).text


def test_chunks_of_an_ended_task_without_a_last_one_are_marked(ana, bob, lease):
    talking.made(bob, lease.task, "one")
    talking.made(bob, lease.task, "two", append=True)
    results.post_result(bob, factories.result_envelope(lease.task))
    assert "never completed" in ana.get(path_of(lease.task)).text


def test_a_replaced_artifact_and_an_unknown_part_are_not_found(ana, bob, lease):
    replaced = talking.made(bob, lease.task, "old")
    talking.made(bob, lease.task, "new")

    for part in (f"artifact-{replaced}", f"artifact-{replaced + 1}-1", "artifact-0", "message-1", "message-x"):
        assert ana.get(path_of(lease.task, f"parts/{part}")).status_code == 404
    assert ana.get(path_of(lease.task, f"parts/artifact-{replaced + 1}")).text == "new"


def test_files_of_an_artifact_are_downloaded_and_cannot_run(ana, bob, lease):
    picture = {"type": "image", "data": "aGk=", "mimeType": "text/html"}
    seq = talking.made(bob, lease.task, picture, artifact_id="a.html")

    response = ana.get(path_of(lease.task, f"parts/artifact-{seq}"))

    assert (response["Content-Type"], response.content) == ("application/octet-stream", b"hi")
    assert response["Content-Disposition"].startswith("attachment")


@pytest.mark.parametrize(("chunks", "text"), [(10_000, "x" * 60 + "\n"), (16, "y" * 2**20), (1, "z" * 3 * 2**20)])
def test_a_large_artifact_is_bounded_on_the_page_and_whole_in_its_file(
    ana, bob, lease, chunks, text, django_assert_max_num_queries
):
    talking.many_chunks(bob, lease.task, [text] * chunks)

    with django_assert_max_num_queries(13):
        page = ana.get(path_of(lease.task))

    (artifact,) = page.context["made"].shown
    assert len(page.content) < 250_000
    assert artifact.is_cut
    assert "Open all" in page.text
    if chunks < 100:
        assert len(ana.get(path_of(lease.task, f"parts/{artifact.whole}")).content) == len(text) * chunks


def test_many_artifacts_are_counted_and_the_newest_shown(ana, bob, lease):
    for number in range(conversation.ARTIFACTS + 3):
        talking.made(bob, lease.task, "text", artifact_id=f"file-{number}")

    page = ana.get(path_of(lease.task))

    assert len(page.context["made"].shown) == conversation.ARTIFACTS
    assert page.context["made"].shown[-1].title == f"file-{conversation.ARTIFACTS + 2}"
    assert "3 earlier artifacts" in page.text


def test_long_words_are_cut_and_open_alone(ana, bob, lease):
    talking.told(bob, lease.task, f"{'x' * 100_000} end")
    seq = talking.now(lease.task).journal_seq

    page = ana.get(path_of(lease.task))

    assert f"{conversation.MESSAGE_SHOWN // 1000}\N{NARROW NO-BREAK SPACE}000 of" in page.text
    assert len(page.content) < 100_000
    assert ana.get(path_of(lease.task, f"parts/message-{seq}")).text.endswith("x end")


def test_hostile_words_and_artifacts_are_escaped_and_bounded(ana, alice, bob, lease):
    talking.told(bob, lease.task, MARKUP)
    talking.made(
        bob, lease.task, MARKUP, artifact_id=MARKUP[:500], name=MARKUP, description=MARKUP, metadata={MARKUP: 1}
    )
    talking.made(bob, lease.task, "y" * 200_000, artifact_id="long")
    task = talking.asked(bob, lease, MARKUP, message_id=MARKUP[:500], metadata={MARKUP: SCRIPTS})

    page = ana.get(path_of(task))

    reader = Reader(page.text)
    assert not reader.handlers
    assert "<script>alert" not in page.text
    assert not [text for text in reader.loose if BACKWARDS in text]
    assert len(page.content) < 300_000


def test_redacted_fields_are_hidden_in_words_and_artifacts(ana, bob, lease, settings):
    settings.A2A_REDACTED_FIELDS = ["api_key"]
    secret = {"type": "json", "value": {"api_key": "a secret"}}
    updates.post_updates(bob, lease.task.uuid, [Update(message=[secret])])
    seq = talking.made(bob, lease.task, secret, metadata={"api_key": "a secret"})

    texts = [
        ana.get(path_of(lease.task, part)).text for part in ("", f"parts/artifact-{seq}", f"parts/message-{seq - 1}")
    ]

    assert not any("a secret" in text for text in texts)
    assert all("[redacted]" in text for text in texts)


def test_the_json_of_a_task_has_its_conversation_and_its_artifacts(ana, bob, talk):
    talking.made(bob, talk, "one ", name="Offers")
    talking.made(bob, talk, "two", append=True, last_chunk=True)

    whole = json.loads(ana.get(path_of(talk, "json")).getvalue())

    assert [one["role"] for one in whole["messages"]] == ["agent", "agent", "user"]
    (artifact,) = whole["artifacts"]
    assert (artifact["artifact_id"], artifact["name"], artifact["is_complete"]) == ("report", "Offers", True)
    assert artifact["content"] == [talking.block("one "), talking.block("two")]
    assert whole["journal"][-1]["kind"] == "a2a_task_updated"


def test_texts_in_a_row_are_joined_and_other_blocks_are_not():
    marked = {**talking.block("b"), "metadata": {}}
    table = {"type": "json", "value": 1}
    blocks = [talking.block("a"), talking.block("b"), marked, table, talking.block("c"), talking.block("d")]

    assert list(content.joined(blocks)) == [talking.block("ab"), marked, table, talking.block("cd")]


def test_a_result_without_content_leads_to_its_artifacts_and_closing_words(ana, bob, lease):
    talking.made(bob, lease.task, "the offers")
    closing = [talking.block("that is all")]
    results.post_result(bob, factories.result_envelope(lease.task, content=(), message=closing))

    page = " ".join(ana.get(path_of(lease.task)).text.split())

    assert page.index("the offers") < page.index("No content beside the messages and artifacts above")
    assert page.index("that is all") < page.index("No content beside the messages and artifacts above")
