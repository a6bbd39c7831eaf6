"""Text of strangers moves no cursor, hides nothing and turns no line around, wherever a command prints it."""

import pytest

from a2a_hub_client.cli.commands import doctor, work
from a2a_hub_client.cli.commands.doctor import Finding
from tests.support import factories

pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE = "\x1b[2J \x9b31m \x7f \u202eback\u2066 \U000e0041 end"
SHOWN = "\\x1b[2J \\x9b31m \\x7f \\u202eback\\u2066 \\U000e0041 end"


def controls(text):
    return [char for char in text if not char.isprintable() and char != "\n"]


@pytest.mark.parametrize("words", [("task", "list"), ("task", "show", "{task}"), ("task", "watch", "{task}")])
def test_a_task_is_shown_to_people_with_escapes(a2a, alice, bob, words):
    task = factories.resolved_task(alice, bob, content=factories.text(HOSTILE)).task
    type(task).objects.update(intent_text=HOSTILE)

    shown = a2a(*(word.format(task=task.uuid) for word in words), by=alice)

    assert controls(shown.out) == []
    assert SHOWN in shown.out


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_json_holds_the_text_with_escapes(a2a, alice, bob, form):
    factories.sent_task(alice, bob, intent_text=HOSTILE)

    printed = a2a("task", "list", "-o", form, by=alice)

    (entry,) = printed.json["entries"] if form == "json" else printed.jsonl
    assert controls(printed.out) == []
    assert entry["task"]["intent_text"] == HOSTILE


def test_letters_of_all_scripts_stay_as_they_are(a2a, alice, bob):
    text = "na\u00efve \u00bb\u00a0\u65e5\u672c\u8a9e \u05e2\u05d1\u05e8\u05d9\u05ea \U0001f600"
    task = factories.sent_task(alice, bob, intent_text=text)

    assert a2a("task", "show", task.uuid, by=alice).out.splitlines()[-1].endswith(text)


def test_a_line_of_the_log_of_a_worker_has_escapes(capsys):
    work._say(f"task 1: the hub refused the result:\n{HOSTILE}")

    (line,) = capsys.readouterr().err.splitlines()
    assert controls(line) == []
    assert "result: \\x1b[2J \\x9b31m" in line


def test_a_finding_of_the_doctor_has_escapes(a2a, monkeypatch):
    monkeypatch.setattr(doctor, "check_config", lambda: Finding("config", "bad", f"{HOSTILE}\nok  all  is well"))

    examined = a2a("doctor")

    assert controls(examined.out) == []
    assert len(examined.out.splitlines()) == 1
