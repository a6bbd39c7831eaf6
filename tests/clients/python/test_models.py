from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from a2a_hub_client.models.conversation import Update
from a2a_hub_client.models.tasks import Answer, Lease, NewTask, Result, Task
from a2a_hub_client.models.wire import (
    Block,
    ImageBlock,
    JsonBlock,
    TextBlock,
    blocks_of,
    epoch_ms,
    milliseconds,
    read,
    to_json,
)
from mailbox.words import content

pytestmark = pytest.mark.one_database

ID = UUID("00000000-0000-4000-8000-000000000000")


def test_times_and_spans_are_those_of_python():
    lease = read(
        Lease, f'{{"lease_id":"{ID}","attempt":1,"leased_at_ms":1500,"last_seen_at_ms":2500,"work_timeout_ms":9}}'
    )

    assert lease.leased_at == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)
    assert lease.last_seen_at - lease.leased_at == timedelta(seconds=1)
    assert lease.work_timeout == timedelta(milliseconds=9)


@pytest.mark.parametrize(("ms", "year"), [(253_402_300_799_999, 9999), (2**63 - 1, 9999), (0, 1970)])
def test_each_time_that_a_hub_takes_is_read(ms, year):
    agent = '{"display":"bob","pubkey":"P"}'

    task = read(Task, f'{{"id":"{ID}","sender":{agent},"recipient":{agent},"intent_text":"a","deadline_ms":{ms}}}')

    assert task.deadline
    assert task.deadline.year == year
    assert epoch_ms(task.deadline) == min(ms, 253_402_300_799_999)


def test_a_model_is_written_as_the_hub_wrote_it():
    text = f'{{"task_id":"{ID}","status":"ok","content":[{{"type":"text","text":"a","more":1}}],"message":[]}}'.encode()

    assert to_json(read(Result, text)) == text


def test_unknown_fields_words_and_blocks_of_a_later_hub_are_read():
    text = f'{{"task_id":"{ID}","status":"new","content":[{{"type":"new","x":1}}],"new":1}}'

    result = read(Result, text)

    assert (result.status, result.content, type(result.content[0])) == ("new", [{"type": "new", "x": 1}], Block)


def test_content_has_a_class_for_each_type_of_block():
    text = f'{{"task_id":"{ID}","status":"ok","content":[{{"type":"text","text":"a"}},{{"type":"json","value":[1]}},'
    text += '{"type":"image","data":"aa","mimeType":"image/png"},{"type":"text","text":"b"}]}'

    result = read(Result, text)

    assert [type(block) for block in result.content] == [TextBlock, JsonBlock, ImageBlock, TextBlock]
    assert (result.text, result.values) == ("a\nb", [[1]])
    match result.content[2]:
        case ImageBlock(data=data, mime_type=mime_type):
            assert (data, mime_type) == ("aa", "image/png")


@pytest.mark.parametrize("block", [TextBlock("a"), JsonBlock(None), ImageBlock("aa", "image/png", alt="x")])
def test_the_hub_takes_the_blocks(block):
    assert list(content.problems([block])) == []


@pytest.mark.parametrize("given", ["a", TextBlock("a"), [TextBlock("a")], [{"type": "text", "text": "a"}]])
def test_content_is_given_as_text_or_blocks(given):
    assert blocks_of(given) == [TextBlock("a")]


def test_a_new_task_names_only_what_was_given():
    task = NewTask(to="bob", text="a")

    assert task.body() == {"id": task.id, "recipient": "bob", "intent_text": "a"}


def test_a_new_task_has_its_times_in_milliseconds():
    deadline = datetime(2030, 1, 1, tzinfo=UTC)

    body = NewTask(to="bob", text="a", deadline=deadline, work_timeout=timedelta(seconds=2)).body()

    assert (body["deadline_ms"], body["work_timeout_ms"]) == (epoch_ms(deadline), 2000)


def test_a_deadline_by_a_span_counts_from_now():
    before = datetime.now(UTC)

    body = NewTask(to="bob", text="a", deadline=timedelta(hours=1)).body()

    assert epoch_ms(before) <= body["deadline_ms"] - 3_600_000 <= epoch_ms(datetime.now(UTC))


def test_a_deadline_without_a_time_zone_is_refused():
    with pytest.raises(ValueError, match="time zone"):
        NewTask(to="bob", text="a", deadline=datetime(2030, 1, 1)).body()  # noqa: DTZ001


def test_an_answer_names_only_what_was_given():
    assert Answer(task_id=ID).body() == {"task_id": ID, "status": "ok", "content": []}


def test_updates_have_the_hub_s_form():
    assert Update.saying("a").fields == {"message": [TextBlock("a")]}
    assert Update.of_progress(0.5, "half").fields == {"progress": {"fraction": 0.5, "note": "half"}}
    assert Update.with_artifact("a", append=True).fields == {"artifact": {"content": [TextBlock("a")]}, "append": True}
    assert Update.asking("why?").fields == {"status": "input_required", "message": [TextBlock("why?")]}


def test_no_wait_is_rounded_to_none():
    assert (milliseconds(0.0001), milliseconds(1.5), milliseconds(timedelta(seconds=50))) == (1, 1500, 50_000)
