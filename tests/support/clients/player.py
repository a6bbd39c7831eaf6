"""A worker that plays what the text of a task says: "chunks", "ask", "slow 8". It works over the hub's own API.

Any other text is a task to complete. A task with the text "hold" goes to the test, which plays it by hand.
"""

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from tests.support.hub import PATIENCE

Json = dict[str, Any]
CHUNKS = ("one ", "two ", "three")
QUESTIONS = ("Which colour?", "Which size?")
SIGN_IN = "Sign in at the door."
LAST_WORDS = "That was all."
AWHILE_MS = 1_000  # of a long poll, so that the player notices soon that the tests are over


def text_blocks(text: str) -> list[Json]:
    return [{"type": "text", "text": text}]


@dataclass(frozen=True, slots=True)
class Held:
    """A task that this worker has leased, and the means to answer it."""

    http: httpx.Client
    leased: Json

    @property
    def id(self) -> str:
        return str(self.leased["task"]["id"])

    @property
    def turn(self) -> int:
        return int(self.leased["turn"])

    @property
    def text(self) -> str:
        """The text that made the task."""
        return str(self.leased["task"]["intent_text"])

    @property
    def blocks(self) -> list[Json]:
        """The content of the sender's newest message."""
        message = self.leased.get("message")
        return message["content"] if message else text_blocks(self.text)

    @property
    def words(self) -> str:
        """The text of the sender's newest message."""
        return " ".join(block["text"] for block in self.blocks if block["type"] == "text")

    def update(self, *updates: Json) -> httpx.Response:
        body = {"lease_id": self.leased["lease"]["lease_id"], "updates": list(updates)}
        return self.http.post(f"/a2a/tasks/{self.id}/updates", json=body)

    def result(self, **fields: Any) -> httpx.Response:
        body = {"task_id": self.id, "lease_id": self.leased["lease"]["lease_id"], **fields}
        return self.http.post("/a2a/results", json=body)

    def succeed(self, text: str) -> None:
        """Post the result, which the hub must accept."""
        self.result(status="ok", content=text_blocks(text)).raise_for_status()


class Player:
    """Plays the tasks of one agent. ``held`` are the tasks that it leaves to the test."""

    def __init__(self, hub_url: str, key: str) -> None:
        self.http = httpx.Client(
            base_url=hub_url, headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE, trust_env=False
        )
        self.held: queue.Queue[Held] = queue.Queue()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def next_held(self) -> Held:
        return self.held.get(timeout=PATIENCE)

    def lease(self, task_id: str) -> Held:
        """Lease the task out of turn, as an agent does whose authorization has come by another way."""
        return Held(self.http, self.http.post(f"/a2a/tasks/{task_id}/lease", json={}).raise_for_status().json())

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join(PATIENCE)
        self.http.close()

    def _work(self) -> None:
        while not self._over.is_set():
            answer = self.http.post("/a2a/tasks/lease", json={"max": 20, "wait_ms": AWHILE_MS}).raise_for_status()
            for leased in answer.json()["leases"]:
                held = Held(self.http, leased)
                threading.Thread(target=self._play, args=(held,), daemon=True).start()

    def _play(self, held: Held) -> None:
        role, *rest = held.text.split()
        if role == "hold":
            self.held.put(held)
        elif role == "slow":
            self._over.wait(float(rest[0]))
            held.succeed("slow but sure")
        else:
            ROLES.get(role, _complete)(held)


def _complete(held: Held) -> None:
    held.succeed(f"done: {held.words}")


def _chunks(held: Held) -> None:
    for number, chunk in enumerate(CHUNKS):
        artifact = {"artifact_id": "poem", "name": "A poem", "content": chunk}
        last = number == len(CHUNKS) - 1
        held.update({"artifact": artifact, "append": number > 0, "last_chunk": last}).raise_for_status()
    held.result(status="ok", message=LAST_WORDS).raise_for_status()


def _ask(held: Held) -> None:
    """Ask as many questions as the text says, "ask" or "ask twice", then answer with the last answer."""
    questions = QUESTIONS if held.text.endswith("twice") else QUESTIONS[:1]
    if held.turn <= len(questions):
        question = questions[held.turn - 1]
        held.update({"status": "input_required", "message": question}).raise_for_status()
    else:
        held.succeed(f"painted {held.words}")


def _auth(held: Held) -> None:
    if held.turn == 1:
        held.update({"status": "auth_required", "message": SIGN_IN}).raise_for_status()
    else:
        held.succeed(f"let in with {held.words}")


def _reject(held: Held) -> None:
    held.result(status="rejected", error_message="Not my kind of work.").raise_for_status()


def _fail(held: Held) -> None:
    held.result(status="error", error_message="The oven is cold.").raise_for_status()


def _direct(held: Held) -> None:
    held.result(status="ok", direct=True, content=text_blocks("Hello yourself.")).raise_for_status()


def _parts(held: Held) -> None:
    """Say back what came, and produce it as an artifact too."""
    held.update({"message": held.blocks}, {"artifact": {"artifact_id": "echo", "content": held.blocks}})
    held.result(status="ok", message=LAST_WORDS).raise_for_status()


ROLES: dict[str, Callable[[Held], None]] = {
    "chunks": _chunks,
    "ask": _ask,
    "auth": _auth,
    "reject": _reject,
    "fail": _fail,
    "direct": _direct,
    "parts": _parts,
}


@contextlib.contextmanager
def playing(hub_url: str, key: str) -> Iterator[Player]:
    """Run a player until the block ends."""
    player = Player(hub_url, key)
    player.start()
    try:
        yield player
    finally:
        player.stop()
