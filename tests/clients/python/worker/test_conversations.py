"""A whole conversation with the commands of the command line: two workers, a question, chunks and a result."""

import sys
from pathlib import Path

import pytest

from mailbox.models import Lease, Task
from tests.support.hub import wait_until
from tests.support.workers import await_heartbeat, await_lease, result_of, text_of

pytestmark = [pytest.mark.one_database, pytest.mark.processes]

PAINTER = """
import json, os, sys

def say(**fields):
    print(os.environ["A2A_CONTROL"], json.dumps(fields), flush=True)

if os.environ["A2A_TURN"] == "1":
    say(status="input_required", message="Which colour?")
else:
    *_, colour = sys.stdin.read().splitlines()
    for number, part in enumerate(("a house", " in ", colour)):
        say(artifact={"artifact_id": "picture", "content": part}, append=number > 0, last_chunk=number == 2)
    say(status="ok", message="It is drying.")
"""

# Waits until the conversation has three messages of the sender, and prints the last two.
LISTENER = """
import json, os, time

heard = []
while len(heard) < 3:
    time.sleep(0.05)
    with open(os.environ["A2A_CONVERSATION"]) as lines:
        said = [json.loads(line) for line in lines]
    heard = [message["content"][0]["text"] for message in said if message["role"] == "user"]
    print("waiting", flush=True) if len(said) == 1 else None
print(", ".join(heard[1:]))
"""


@pytest.mark.parametrize("options", [("--messages", "none"), ("--messages", "all"), ("--batch", "2")])
def test_a_running_program_reads_what_its_sender_says(desk, a2a, alice, bob, options):
    sent = a2a("send", "--from", "alice", "--to", "bob", "Paint a house")
    task = Task.objects.get(uuid=sent)

    with desk.process(sys.executable, "-c", LISTENER, options=("--once", *options)) as worker:
        await_lease(task)
        a2a("say", sent, "green")
        a2a("say", sent, "with a door")
        result = result_of(task)
        assert worker.code() == 0

    assert text_of(result) == "green, with a door"
    assert Lease.objects.count() == 1


def test_a_program_that_waited_for_its_turn_reads_what_came_meanwhile(desk, a2a, alice, bob, tmp_path):
    first, second = (a2a("send", "--from", "alice", "--to", "bob", text) for text in ("one", "two"))
    gate = tmp_path / "gate"
    waits = f"read text; while [ ! -e {gate} ]; do sleep 0.05; done; cat"

    with desk.process("sh", "-c", waits, options=("--max-tasks", "2", "--batch", "2", "--concurrency", "1")) as worker:
        lease = await_lease(Task.objects.get(uuid=second))
        a2a("say", second, "more")
        await_heartbeat(lease)
        gate.touch()
        assert worker.code() == 0

    assert result_of(Task.objects.get(uuid=first)).status == "ok"
    assert text_of(result_of(Task.objects.get(uuid=second))) == "more"


def test_another_worker_goes_on_after_the_answer(desk, a2a, a2a_json, alice, bob, tmp_path):
    painter = Path(tmp_path / "painter.py")
    painter.write_text(PAINTER)
    options = ("--protocol", "lines", "--once")
    sent = a2a("send", "--from", "alice", "--to", "bob", "Paint a house")
    task = Task.objects.get(uuid=sent)

    with desk.process(sys.executable, str(painter), options=options) as first:
        wait_until(lambda: Task.objects.get().state == Task.State.INTERRUPTED)
        assert first.code() == 0
    assert a2a("messages", sent).endswith("bob@local\nWhich colour?")
    a2a("say", sent, "green")
    with desk.process(sys.executable, str(painter), options=options) as second:
        result = result_of(task)
        assert second.code() == 0

    assert (result.status, result.blocks) == ("ok", [])
    assert a2a("artifacts", sent) == "picture\na house\n in \ngreen"
    assert a2a("messages", sent, "--after", "5").endswith("bob@local\nIt is drying.")
    assert a2a_json("drain", "alice", "--json")["result"]["task_id"] == sent
    assert list(Lease.objects.order_by("pk").values_list("attempt", "end")) == [(1, "asked"), (2, "result")]
