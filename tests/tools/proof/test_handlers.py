"""The check of handlers names each broken promise."""

from collections import Counter
from uuid import uuid4

import pytest

from a2a_hub_client import Result, TextBlock
from tests.support.clients import environments
from tools.proof.handlers import Diary, broken, javascript

pytestmark = pytest.mark.one_database

TASK = uuid4()


def result_of(text: str) -> Result:
    return Result(task_id=TASK, status="ok", content=[TextBlock(text)])


def named(diary: Diary) -> list[str]:
    return [violation.name for violation in broken(diary)]


def test_a_diary_of_one_result_for_each_task_is_whole():
    diary = Diary(sent={TASK})
    diary.note(result_of(str(TASK)), ["attempt 1", "attempt 2"])

    assert (named(diary), diary.repeated) == ([], 1)


BROKEN = [
    (Diary(sent={TASK}), "handler_result_lost"),
    (Diary(sent={TASK}, drained=Counter({TASK: 2})), "handler_result_doubled"),
    (Diary(drained=Counter({TASK: 1})), "handler_result_doubled"),
    (Diary(wrong={TASK: "another"}), "handler_result_wrong"),
    (Diary(doubled={TASK}), "handler_message_doubled"),
    (Diary(redone={TASK}), "unsafe_task_redone"),
    (Diary(left=["lease of task 1"]), "handler_left_something"),
]
NAMED = {name for _, name in BROKEN}


@pytest.mark.parametrize(("diary", "name"), BROKEN)
def test_a_broken_promise_is_named(diary, name):
    assert named(diary) == [name]


@pytest.mark.parametrize(("is_safe", "names"), [(True, []), (False, ["unsafe_task_redone"])])
def test_only_a_task_with_a_key_may_be_begun_again(is_safe, names):
    diary = Diary(sent={TASK}, unsafe=set() if is_safe else {TASK})
    diary.note(result_of(str(TASK)), ["attempt 1", "attempt 2"])

    assert named(diary) == names


def test_a_result_of_another_task_and_a_repeated_message_are_named():
    diary = Diary(sent={TASK})
    diary.note(result_of("another"), ["attempt 1", "attempt 1"])

    assert named(diary) == ["handler_result_wrong", "handler_message_doubled"]


def test_without_the_javascript_client_no_worker_in_javascript_is_proved(monkeypatch, tmp_path):
    monkeypatch.setattr(environments, "PLACE", tmp_path)

    assert javascript() == {}
