from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from dashboard.base.page import DashboardView
from dashboard.figures import thresholds

STATES = {
    "queued": "Waiting for its recipient to lease it, first in, first out.",
    "waiting": "Queued behind the same idempotent work, whose result it will get.",
    "in_flight": "Being worked on by its holder; survives restarts.",
    "interrupted": "Its holder asked the sender a question. Nobody holds it until the sender answers.",
    "stale": "In flight past the threshold. It stays so until somebody decides.",
    "ok": "Finished with a result.",
    "partial": "Finished with a partial result.",
    "error": "Failed; the sender receives the error.",
    "cancelled": "Cancelled by its sender.",
    "rejected": "Refused by its recipient.",
    "expired": "Ended by its deadline or work timeout.",
}
WORDS = {
    "Task": "A request from one agent, the sender, to another, the recipient.",
    "Lease": "One attempt at a task by its holder. Every repair names the lease you saw and changes nothing else.",
    "Question": "Put by an agent to the sender of its task, which alone can answer. Meanwhile nobody holds the task.",
    "Artifact": "What an agent makes for a task while it works, whole or in chunks. It is deleted with its task.",
    "Attempt": "How often a task has been leased. A requeue keeps the count.",
    "Requeue": "Return a leased task to the back of the queue, under the same id. It does not stop the holder.",
    "Force error": "End a lease and resolve its task as an error, for good.",
    "Repair in bulk": "A frozen list of leases: looked at, applied lease by lease on what was seen, kept as a receipt.",
    "Idempotent": "Declared by the sender, with a key: doing it twice does no harm. All else counts as unsafe.",
    "Result": "How a task ended. It waits until the sender drains it, and is kept until it is compacted.",
    "Replay": "A cached result that answered a later duplicate; nothing was leased for it.",
    "Journal": "The append-only record of every decision, refusals too. It outlives what it tells of.",
    "Tree": "A task with all that name it as their parent, level by level.",
    "Capability": "An action somebody may take. People hold those of their group: viewer, operator or admin.",
}
TASK_KEYS = {
    "state": "a state from the list above",
    "awaits": "input or authorization: what an interrupted task waits for",
    "agent": "its sender or recipient; hotels, or hotels@local",
    "from": "its sender",
    "to": "its recipient",
    "key": "its idempotency key; inv-* for all that begin so",
    "kind": "what kind of work it declares",
    "safety": "idempotent or unsafe",
    "age": "since it was sent; >10m is older, <1h younger",
    "finished": "when its result was posted; 02:14..02:15, or 2026-01-31T02:14.. until now",
    "attempt": "how often it was leased; >1",
    "id": "its ID, or the first 4 characters or more",
    "parent": "the ID of its parent task",
    "source": "agent, or user: sent by hand",
    "context": "the conversation it belongs to",
    "failure": "the fingerprint of its error, as the failures page names it",
    "text": "words of its instructions or its error; the key can be left out; inv* for all that begin so",
}
LEASE_KEYS = {
    "state": "in_flight, or stale: past the threshold",
    "agent": "who holds it",
    "from": "the sender of its task",
    "to": "the recipient of its task",
    "key": "the idempotency key of its task",
    "kind": "what kind of work its task declares",
    "safety": "idempotent or unsafe",
    "age": "since it was leased; >10m",
    "attempt": "which attempt at its task it is; >1",
    "id": "its ID, or the first 4 characters or more",
    "task": "the ID of its task, or its first characters",
    "text": "words of its task's instructions, or names of agents; the key can be left out",
}
EVENT_KEYS = {
    "kind": "what was decided; a2a_repair_* for all that begin so",
    "actor": "who decided; ana, hotels@local, scheduler@hub",
    "task": "the ID of its task, or its first characters",
    "since": "how long ago; 24h",
    "at": "when; 02:14..02:15, or 2026-01-31T02:14.. until now",
    "source": "the way in: api, dashboard, cli, scheduler or local",
    "request": "the ID of its request",
    "address": "the network address of the client",
    "text": "words of its reason; the key can be left out",
}
REPLAY_KEYS = {
    "sender": "whose tasks it answers",
    "recipient": "who answered first",
    "key": "its idempotency key",
    "kind": "what kind of work",
    "status": "ok, partial or error",
    "source": "the ID of the task whose result it is",
    "age": "since it was kept; >1d",
    "hit": "since it last answered",
}
RESULT_KEYS = {
    "status": "ok, partial or error",
    "delivery": "pending, delivered or acked",
    "agent": "who sent its task, or was to do it",
    "from": "who sent its task, and drains it",
    "to": "who was to do it",
    "key": "the idempotency key of its task",
    "kind": "what kind of work its task declares",
    "posted": "when; 02:14..02:15, or 2026-01-31T02:14.. until now",
    "age": "since it was posted; >10m",
    "task": "the ID of its task, or its first characters",
    "text": "words of its error or its task's instructions; the key can be left out",
}
AGENT_KEYS = {
    "state": "quiet: has work and doesn't poll; unserved: has a late queue; or paused",
    "name": "its name; hotels, hotels@local, or hot*",
    "key": "its public key",
    "age": "since it was registered; <1d",
    "text": "part of its name; the key can be left out",
}
SCAN_KEYS = {
    "outcome": "failed, requeued or unchanged",
    "actor": "who made it; scheduler@hub, or user:ana by hand",
    "source": "scheduler, or dashboard: by hand",
    "since": "how long ago; 24h",
}
DELIVERY_KEYS = {
    "state": "pending, failing, delivered, or disabled: failed permanently",
    "sender": "whose task it tells of",
    "task": "the ID of that task, or its first characters",
    "id": "its ID, or the first 4 characters or more",
    "attempts": "how often it was tried; >2",
    "age": "since it was written; <1h",
}
PLAN_KEYS = {
    "state": "preview, applying, done or discarded",
    "verb": "requeue or force_error",
    "actor": "who made it, or decided on it",
    "age": "since it was made; <1d",
}
KEYS = {
    "/": "search; also Ctrl+K",
    "g o": "overview",
    "g l": "leases",
    "g t": "tasks",
    "g f": "failures",
    "g m": "map",
    "g a": "agents",
    "g u": "audit log",
    "g p": "repairs",
    "j k": "next or previous row",
    "o": "open the row",
    "x": "select the row",
    "r f": "requeue or force error",
    "e": "next row with an error",
    "[ ]": "collapse or expand tree",
    ".": "pause or resume live updates",
    "t": "light or dark theme",
    "?": "this help",
}
LANGUAGES = (
    ("Tasks", "ops:tasks", TASK_KEYS, "state:error to:hotels age:<1d"),
    ("Leases", "ops:leases", LEASE_KEYS, "state:stale -safety:unsafe"),
    ("Results", "ops:results", RESULT_KEYS, "from:planner status:error age:<1d"),
    ("Agents", "ops:agents", AGENT_KEYS, "state:quiet"),
    ("Audit", "ops:audit", EVENT_KEYS, "kind:a2a_repair_* since:24h"),
    ("Idempotency", "ops:idempotency", REPLAY_KEYS, "key:inv-* hit:<1d"),
    ("Passes of the retry gate", "ops:scheduler", SCAN_KEYS, "outcome:failed since:24h"),
    ("Callbacks", "ops:deliveries", DELIVERY_KEYS, "state:disabled age:<1d"),
    ("Repairs in bulk", "ops:plans", PLAN_KEYS, "verb:requeue age:<1d"),
)


class Help(DashboardView):
    """The help page: the words, the states, the query language and the keys. In a dialog it is only the keys."""

    def get(self, request: HttpRequest) -> HttpResponse:
        context = {
            "states": STATES,
            "words": WORDS,
            "languages": LANGUAGES,
            "keys": KEYS,
            "stale_after": thresholds.stale_after(),
            "has_manual": settings.A2A_SITE.exists(),
        }
        return self.page("ops/help.html#panel" if self.is_fragment else "ops/help.html", context)
