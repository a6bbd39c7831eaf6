"""The kinds of work of the actors, by weight, and the contracts of clients. A control run breaks one contract."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

SENDS: Mapping[str, float] = {
    "unsafe": 36,
    "unique": 8,  # idempotent, with a key of its own
    "duplicate": 20,  # idempotent, with a key that other tasks have
    "deadline": 7,
    "callback": 8,
    "batch": 4,  # several tasks in one request
    "child": 3,
    "corvid": 5,
    "marianne": 6,
    "delegate": 6,  # YEOMAN, also several tasks in one message
    "submit": 2,
    "workflow": 2,
}
WORK: Mapping[str, float] = {
    "ok": 46,
    "partial": 6,
    "error": 7,
    "release": 8,
    "unfenced": 7,
    "twice": 5,
    "conflict": 3,
    "updates": 4,
    "artifact": 4,  # an artifact in chunks, and then the result
    "question": 7,  # the sender answers it, and the task is leased again
    "complete": 5,  # Marianne
    "fail": 2,
    "message": 4,  # YEOMAN
    "refence": 6,  # the result of a lease that the worker has released, and that another worker may have now
    "late": 4,
    "die": 5,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """The weights of the kinds of work, and the contracts that the clients keep."""

    sends: Mapping[str, float] = field(default_factory=lambda: SENDS)
    work: Mapping[str, float] = field(default_factory=lambda: WORK)
    names_tasks: bool = True  # a send names its task
    names_attempts: bool = True  # a receive names its attempt
    converses: bool = True  # workers ask and produce, and senders answer
    batches: bool = True  # some workers and senders receive, post and acknowledge several at once
    acknowledges: bool = True  # a sender acknowledges its results
    looks: bool = True  # workers and senders look at the lists of leases and results after a cut
    official: bool = True  # some senders speak the official protocol
    compacts: bool = True  # operators compact beside the load
    retries: bool = True  # operators run passes of the retry gate beside the load
    cancels: float = 0.07  # share of sends that are cancelled
    repeats: float = 0.04  # share of sends that are sent again later, under the same id
    reads: float = 0.12  # share of sends after which an earlier task is read, in any dialect
    waits: float = 0.3  # share of receives that wait
    accepts: float = 0.08  # share of receives through an inbox


def chosen(rng: random.Random, weights: Mapping[str, float]) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]
