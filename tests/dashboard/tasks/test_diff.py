"""Two texts of a task line by line: results of the same work, messages, artifacts and the request."""

from uuid import uuid4

import pytest

from dashboard.tasks import diff
from mailbox.life import leasing, results
from mailbox.models import AuditEvent, Task
from mailbox.words.kinds import Kind
from tests.dashboard.conftest import path_of
from tests.support import factories, talking
from tests.support.markup import squeezed

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def answered(alice, bob, *lines, key=None, **fields):
    promise = factories.idempotent(key) if key else None
    task = factories.sent_task(alice, bob, intent_text="report", idempotency=promise)
    lease = leasing.lease_task(bob, task.uuid)
    answer = {"content": [talking.block("\n".join(lines))], **fields}
    results.post_result(bob, factories.result_envelope(lease.task, **answer))
    return Task.objects.get(pk=task.pk)


def signed(page):
    return [f"{line.sign}{line.text}" for line in page.context["difference"].lines]


def test_results_of_the_same_work_are_compared_first(ana, alice, bob):
    old = answered(alice, bob, "one", "two", key="inv-7", status="partial")
    new = answered(alice, bob, "one", "<three>", key="inv-7")

    page = ana.get(path_of(new, "diff/"))

    assert signed(page) == ["-Status: ok", "+Status: partial", " ", " one", "-<three>", "+two"]
    assert "<del>- &lt;three&gt;</del>" in page.text
    assert f'<option value="result-of-{old.uuid}" selected>' in page.text
    assert path_of(new, "diff/") in ana.get(path_of(new)).text


def test_messages_and_artifacts_are_compared_by_name(ana, bob, lease):
    for text in ("first\ndraft", "second\ndraft"):
        talking.told(bob, lease.task, text)
    seq = talking.made(bob, lease.task, {"type": "json", "value": {"eur": 412}})

    said = ana.get(path_of(lease.task, f"diff/?a=message-{seq - 2}&b=message-{seq - 1}"))
    made = ana.get(path_of(lease.task, f"diff/?a=artifact-{seq}&b=artifact-{seq}"))

    assert signed(said) == ["-first", "+second", " draft"]
    assert "No differences." in made.text


def test_a_copy_with_a_long_journal_is_compared_with_its_original(ana, alice, bob):
    original = answered(alice, bob, "one")
    form = {"recipient": "bob", "intent_text": "report", "form_token": uuid4(), "copy_of": original.uuid}
    ana.post("/ops/send/", form)
    copy = Task.objects.get(uuid=form["form_token"])
    leasing.lease_task(bob, copy.uuid)
    sent = AuditEvent.objects.of_task(copy.uuid).get(kind=Kind.TASK_SENT)
    beside = {"actor": "x", "data": "{}", "at": sent.at, "source": "api", "task_id": copy.uuid}
    AuditEvent.objects.bulk_create(AuditEvent(kind=Kind.CAPABILITY_CHECK, **beside) for _ in range(400))
    results.post_result(bob, factories.result_envelope(copy, content=[talking.block("two")]))

    page = ana.get(path_of(copy, "diff/"))

    assert f'value="result-of-{original.uuid}" selected' in page.text
    assert {"-two", "+one"} <= set(signed(page))
    assert f'<a href="{path_of(original)}">' in ana.get(path_of(copy)).text


def test_a_task_with_its_request_alone_has_nothing_to_compare(ana, alice, bob):
    page = ana.get(path_of(factories.sent_task(alice, bob), "diff/"))

    assert "only its request so far" in page.text


@pytest.mark.parametrize(
    "name",
    ["message-99", "artifact-1", "message-x", "result", "junk", "result-of-cd530000-0000-4000-8000-000000000000"],
)
def test_an_unknown_text_is_not_found(ana, alice, bob, name):
    task = factories.sent_task(alice, bob)

    assert ana.get(path_of(task, f"diff/?a={name}&b=request")).status_code == 404


def test_hidden_fields_are_hidden_in_a_comparison(ana, alice, bob, settings):
    settings.A2A_REDACTED_FIELDS = ["api_key"]
    task = factories.resolved_task(alice, bob, content=[{"type": "json", "value": {"api_key": "a secret"}}]).task

    page = ana.get(path_of(task, "diff/?a=request&b=result"))

    assert "[redacted]" in page.text
    assert "a secret" not in page.text


def test_a_long_text_is_compared_up_to_a_number_of_lines_and_says_so(ana, alice, bob):
    many = [f"line {number}" for number in range(diff.MOST + 50)]
    task = answered(alice, bob, *many)

    page = ana.get(path_of(task, "diff/?a=request&b=result"))

    assert page.context["difference"].is_cut
    assert "Only the first" in page.text
    assert len(page.context["difference"].lines) <= 2 * diff.MOST


def test_equal_lines_far_from_a_change_are_counted():
    lines = [str(number) for number in range(20)]

    found = diff.compare("\n".join(lines), "\n".join([*lines[:10], "new", *lines[10:]]))

    assert [line.text for line in found.lines] == [
        "7 equal lines",
        *("7", "8", "9", "new", "10", "11", "12"),
        "7 equal lines",
    ]
    assert (found.added, found.removed) == (1, 0)
    assert diff.compare("a\nb", "a\nb").lines == []


def test_a_viewer_may_compare(vic, alice, bob):
    page = vic.get(path_of(answered(alice, bob, "one"), "diff/"))

    assert "Compare</button>" in squeezed(page.text)
