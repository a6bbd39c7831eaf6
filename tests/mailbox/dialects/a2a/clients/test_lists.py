"""Official clients list their tasks, page by page. Version 0.3 has no list."""

import pytest

from tests.support.clients import readings
from tests.support.clients.talk import NEW

pytestmark = pytest.mark.parametrize("sdk", NEW, ids=str)


@pytest.fixture
def context(talk, request):
    """Return a context of the client with five tasks: three complete, one failed, and one interrupted."""
    name = request.node.name
    for text in ("complete 1", "fail", "complete 2", "ask", "complete 3"):
        talk.task(text, context=name)
    return name


def listed(talk, **query):
    return talk.driven.do("list", query)


def ids(page):
    return [task["id"] for task in page["tasks"]]


def test_pages_follow_each_other_without_a_gap_or_a_repeat(talk, context):
    whole = listed(talk, contextId=context)
    pages = [listed(talk, contextId=context, pageSize=2)]
    while token := pages[-1]["nextPageToken"]:
        pages.append(listed(talk, contextId=context, pageSize=2, pageToken=token))

    assert [len(page["tasks"]) for page in pages] == [2, 2, 1]
    assert [task for page in pages for task in ids(page)] == ids(whole)
    assert {(page["pageSize"], page["totalSize"]) for page in pages} == {(2, 5)}
    assert (whole["pageSize"], whole["totalSize"], whole["nextPageToken"]) == (50, 5, "")


def test_the_newest_status_comes_first(talk, context):
    texts = [task["history"][0]["parts"][0]["text"] for task in listed(talk, contextId=context)["tasks"]]

    assert texts == ["complete 3", "ask", "complete 2", "fail", "complete 1"]


def test_an_answer_moves_its_task_to_the_front(talk, context):
    asked = listed(talk, contextId=context, status="TASK_STATE_INPUT_REQUIRED")["tasks"]
    (work,) = [readings.work(raw) for raw in asked]

    talk.task("red", of=work)

    assert ids(listed(talk, contextId=context))[0] == work.id


@pytest.mark.parametrize(
    ("status", "count"),
    [("COMPLETED", 3), ("FAILED", 1), ("INPUT_REQUIRED", 1), ("WORKING", 0), ("UNSPECIFIED", 5)],
)
def test_a_status_selects(talk, context, status, count):
    page = listed(talk, contextId=context, status=f"TASK_STATE_{status}")

    assert (len(page["tasks"]), page["totalSize"]) == (count, count)


def test_a_time_selects_inclusively(talk, context):
    whole = listed(talk, contextId=context)["tasks"]

    page = listed(talk, contextId=context, statusTimestampAfter=whole[1]["status"]["timestamp"])

    assert ids(page) == [task["id"] for task in whole[:2]]


def test_artifacts_come_only_if_they_are_wanted(talk, context):
    without, having = listed(talk, contextId=context), listed(talk, contextId=context, includeArtifacts=True)

    assert [task for task in without["tasks"] if task.get("artifacts")] == []
    assert len([task for task in having["tasks"] if task.get("artifacts")]) == 3


def test_a_direct_answer_is_in_no_list(talk, request):
    answer = talk.send("direct", context=request.node.name)

    assert answer.text == "Hello yourself."
    assert listed(talk, contextId=request.node.name)["tasks"] == []
