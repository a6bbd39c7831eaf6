"""The client package under faults: its senders and workers lose nothing, and do nothing twice."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from a2a_hub_client import Answer, Hub, HubError, NewTask, Retry, TaskHandle, Update
from tools.proof.evidence import Violation
from tools.proof.forms import HANG_UPS, Part, Strike, staged
from tools.proof.history import History
from tools.proof.proxy import proxied
from tools.proof.scenarios.scenario import Scenario
from tools.proof.stage import Stage
from tools.proof.world import operator_key

SENDS = 150  # by each sender
BATCH = 10
WORKERS = 2
KILLS = 8
BETWEEN = 1.0  # seconds between two kills
PATIENT = Retry(patience=400.0, first_pause=0.05, longest_pause=1.0)
FINISHED_WITHIN = 300.0


@dataclass(kw_only=True)
class Diary:
    """The facts that the clients know. All ids are those of tasks. ``held`` is what the hub says is left in the end."""

    sent: Counter[UUID] = field(default_factory=Counter)
    done: Counter[UUID] = field(default_factory=Counter)
    drained: Counter[UUID] = field(default_factory=Counter)
    said: Counter[UUID] = field(default_factory=Counter)
    wrong: set[UUID] = field(default_factory=set)  # whose result is that of another task
    held: set[UUID] = field(default_factory=set)
    failures: list[BaseException] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    tries: int = 0

    def note(self, of: Counter[UUID], task_id: UUID) -> None:
        with self.lock:
            of[task_id] += 1

    def trouble(self, _: HubError) -> None:
        with self.lock:
            self.tries += 1


def run(database: str, folder: Path, seed: int) -> Sequence[Part]:
    """Send, work and drain through the proxy by the client package, while web workers are killed."""
    began, diary = time.monotonic(), Diary()
    with staged(database, folder, only_web=True) as stage:
        history = History(seed, folder / f"history-{seed}.jsonl")
        with proxied(("127.0.0.1", stage.port), history, HANG_UPS) as proxy:
            _play(stage, proxy.url, diary, seed)
        history.close()
    part = Part(name="the client package", database=database, seed=seed, seconds=time.monotonic() - began)
    part.operations.update(send=diary.sent.total(), post=diary.done.total(), drain=diary.drained.total())
    part.tries = part.operations.total() + diary.tries
    part.strikes = [Strike(name="killed: a web worker beside the client package", recovery=0.0, counted=KILLS)]
    for (kind, _), count in proxy.counts.items():
        part.faults[kind] += count
    part.violations = list(broken(diary))
    return [part]


def _play(stage: Stage, url: str, diary: Diary, seed: int) -> None:
    with Hub(stage.url, operator_key(stage), timeout=60, retry=PATIENT) as operator:
        senders = [_key(operator, f"package-sender-{number}@proof", "a2a.send.*") for number in range(2)]
        workers = [_key(operator, f"package-worker-{number}@proof", "a2a.respond.*") for number in range(WORKERS)]
    ended = threading.Event()
    retry = Retry(patience=PATIENT.patience, first_pause=0.05, longest_pause=1.0, on_trouble=diary.trouble)
    clients = [Hub(url, key, retry=retry) for key in (*senders, *workers)]
    acts: list[Callable[[Hub], None]] = [lambda hub: _send_and_drain(hub, diary)] * len(senders)
    acts += [lambda hub: _work(hub, diary, ended)] * len(workers)
    threads = [
        threading.Thread(target=_watched, args=[diary, act, hub], daemon=True)
        for act, hub in zip(acts, clients, strict=True)
    ]
    for thread in threads:
        thread.start()
    _kill_web_workers(stage, random.Random(seed))
    give_up_at = time.monotonic() + FINISHED_WITHIN
    for thread in threads[: len(senders)]:
        thread.join(max(0.0, give_up_at - time.monotonic()))
    ended.set()
    for thread in threads[len(senders) :]:
        thread.join(max(1.0, give_up_at - time.monotonic()))
    if diary.failures:
        raise diary.failures[0]
    _look_again(diary, clients[: len(senders)], clients[len(senders) :])
    for hub in clients:
        hub.close()


def _key(operator: Hub, name: str, action: str) -> str:
    made = operator.add_agent(name)
    operator.grant(name, action)
    return made.api_key


def _watched(diary: Diary, act: Callable[[Hub], None], hub: Hub) -> None:
    try:
        act(hub)
    except BaseException as failure:
        diary.failures.append(failure)
        raise


def _send_and_drain(hub: Hub, diary: Diary) -> None:
    """Send half of the tasks alone and half of them in batches, and drain the results of all."""
    for number in range(SENDS // 2):
        task = hub.send(f"package-worker-{number % WORKERS}", f"alone {number}")
        diary.note(diary.sent, task.id)
    for start in range(0, SENDS // 2, BATCH):
        new = [NewTask(to=f"package-worker-{n % WORKERS}", text=f"batch {start} {n}") for n in range(BATCH)]
        for sent in hub.send_many(new):
            if not isinstance(sent, TaskHandle):
                raise sent
            diary.note(diary.sent, sent.id)
    left = SENDS // 2 + len(range(0, SENDS // 2, BATCH)) * BATCH
    while left > 0:
        for result in hub.results(batch=3, wait=2):
            diary.note(diary.drained, result.task_id)
            if result.text != str(result.task_id):
                diary.wrong.add(result.task_id)
            left -= 1


def _work(hub: Hub, diary: Diary, ended: threading.Event) -> None:
    answers: list[Answer] = []
    while not ended.is_set() or answers:
        received = hub.receive(most=4, wait=0.5, answers=answers)
        answers = []
        for leased in received.leases:
            task_id, lease_id = leased.task.id, leased.lease.id
            diary.note(diary.done, task_id)
            hub.post_updates(task_id, [Update.saying("begun")], lease_id=lease_id)
            answers.append(Answer(task_id=task_id, lease_id=lease_id, content=str(task_id)))


def _kill_web_workers(stage: Stage, rng: random.Random) -> None:
    """Kill a web worker again and again. The web server starts another one."""
    for _ in range(KILLS):
        time.sleep(BETWEEN)
        if workers := stage.hub.web_workers():
            rng.choice(workers).kill()


def _look_again(diary: Diary, senders: Sequence[Hub], workers: Sequence[Hub]) -> None:
    """Note all that the hub still has for the clients, and count the messages of each task."""
    for hub in senders:
        diary.held |= {result.task_id for result in (*hub.pending_results(), *hub.delivered_results())}
        for entry in hub.tasks():
            said = [message for message in hub.task(entry.task.id).messages() if message.role == "agent"]
            diary.said[entry.task.id] += len(said)
    for hub in workers:
        diary.held |= {held.task.id for held in hub.leases()}


def broken(diary: Diary) -> Iterator[Violation]:
    """Yield the promises that the clients' diary shows as broken."""
    for name, counted in {"done": diary.done, "drained": diary.drained, "said": diary.said}.items():
        for task_id in diary.sent.keys() - counted.keys():
            yield Violation("package_lost", str(task_id), f"not {name}")
        for task_id in counted.keys() - diary.sent.keys():
            yield Violation("package_unexpected_task", str(task_id), name)
        for task_id, times in counted.items():
            if times > 1:
                yield Violation("package_doubled", str(task_id), f"{name} {times} times")
    for task_id in diary.wrong:
        yield Violation("package_result_of_another", str(task_id))
    for task_id in diary.held:
        yield Violation("package_left_something", str(task_id))


CLIENT_PACKAGE = Scenario(
    name="the client package",
    covers="Senders and workers of the Python client through cuts, while web workers are killed. They lose nothing "
    "and do nothing twice.",
    run=run,
)
