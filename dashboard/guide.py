from django.conf import settings
from django.http import HttpRequest, HttpResponse

from dashboard.base.page import DashboardView
from dashboard.figures import thresholds

STATES = {
    "queued": "Waiting for its recipient to lease it (first in, first out).",
    "waiting": "Queued behind a task with the same idempotency key; gets its result.",
    "in_flight": "Being worked on by its holder; survives restarts.",
    "interrupted": "Its holder asked the sender a question. Nobody holds it until the sender answers.",
    "stale": "In flight past the threshold. Stays leased until it is repaired.",
    "ok": "Finished with a result.",
    "partial": "Finished with a partial result.",
    "error": "Failed; the sender receives the error.",
    "cancelled": "Cancelled by its sender.",
    "rejected": "Rejected by its recipient.",
    "expired": "Ended by its deadline or work timeout.",
}
WORDS = {
    "Task": "A request from one agent (the sender) to another (the recipient).",
    "Lease": "One attempt at a task by its holder. A repair changes only the lease you saw.",
    "Question": "Asked by an agent to the sender of its task, who alone can answer. Nobody holds the task until then.",
    "Artifact": "Output that an agent adds to a task while it works, whole or in chunks. Deleted with its task.",
    "Attempt": "How often a task has been leased. A requeue keeps the count.",
    "Requeue": "Returns a leased task to the back of the queue, with the same ID. Does not stop the holder.",
    "Force error": "Ends a lease and closes its task as an error, permanently.",
    "Bulk repair": "A fixed list of leases: previewed, applied lease by lease, and kept as a receipt.",
    "Idempotent": "Declared by the sender, with a key: safe to run twice. All other tasks count as unsafe.",
    "Result": "How a task ended. Waits until the sender picks it up, and is kept until it is compacted.",
    "Replay": "A cached result that answered a later duplicate, without a new lease.",
    "Audit log": "The append-only record of every decision, including refusals. Kept after its tasks are removed.",
    "Saved view": "A named query of a page, one click away. Operators can share theirs with everyone.",
    "Tree": "A task with its children, their children, and so on.",
    "Capability": "A permission. People have those of their group: viewer, operator or admin; agents have grants.",
}
TASK_KEYS = {
    "state": "a state from the list above",
    "awaits": "input or authorization: what an interrupted task waits for",
    "agent": "its sender or recipient; hotels, or hotels@local",
    "from": "its sender",
    "to": "its recipient",
    "key": "its idempotency key; inv-* matches a prefix",
    "kind": "the kind of work",
    "safety": "idempotent or unsafe",
    "age": "since it was sent; >10m is older, <1h younger",
    "finished": "when its result was posted; 02:14..02:15, or 2026-01-31T02:14.. until now",
    "attempt": "the number of leases; >1",
    "id": "its ID, or the first 4 characters or more",
    "parent": "the ID of its parent task",
    "source": "agent, or user: sent by hand",
    "context": "the conversation it belongs to",
    "failure": "the fingerprint of its error, from the Failures page",
    "text": "words of its instructions or error; the key is optional; inv* matches a prefix",
}
LEASE_KEYS = {
    "state": "in_flight, or stale: past the threshold",
    "agent": "who holds it",
    "from": "the sender of its task",
    "to": "the recipient of its task",
    "key": "the idempotency key of its task",
    "kind": "the kind of work",
    "safety": "idempotent or unsafe",
    "age": "since it was leased; >10m",
    "attempt": "the number of the attempt; >1",
    "id": "its ID, or the first 4 characters or more",
    "task": "the ID of its task, or its first characters",
    "text": "words of its task's instructions, or agent names; the key is optional",
}
EVENT_KEYS = {
    "kind": "the kind of event; a2a_repair_* matches a prefix",
    "actor": "who did it; ana, hotels@local, scheduler@hub",
    "task": "the ID of its task, or its first characters",
    "since": "how long ago; 24h",
    "at": "when; 02:14..02:15, or 2026-01-31T02:14.. until now",
    "source": "the source: api, dashboard, cli, scheduler or local",
    "request": "the ID of its request",
    "address": "the network address of the client",
    "text": "words of its reason; the key is optional",
}
REPLAY_KEYS = {
    "sender": "the sender of the tasks it answers",
    "recipient": "the recipient that answered first",
    "key": "its idempotency key",
    "kind": "the kind of work",
    "status": "ok, partial or error",
    "source": "the ID of the task whose result it is",
    "age": "since it was cached; >1d",
    "hit": "since its last replay",
}
RESULT_KEYS = {
    "status": "ok, partial or error",
    "delivery": "pending, delivered or acked",
    "agent": "the sender or recipient of its task",
    "from": "the sender of its task",
    "to": "the recipient of its task",
    "key": "the idempotency key of its task",
    "kind": "the kind of work",
    "posted": "when; 02:14..02:15, or 2026-01-31T02:14.. until now",
    "age": "since it was posted; >10m",
    "task": "the ID of its task, or its first characters",
    "text": "words of its error or its task's instructions; the key is optional",
}
AGENT_KEYS = {
    "state": "quiet: has work and doesn't poll; unserved: has a backlog; or paused",
    "name": "its name; hotels, hotels@local, or hot*",
    "key": "its public key",
    "age": "since it was registered; <1d",
    "text": "part of its name; the key is optional",
}
SCAN_KEYS = {
    "outcome": "failed, requeued or unchanged",
    "actor": "who started it; scheduler@hub, or user:ana by hand",
    "source": "scheduler, or dashboard: by hand",
    "since": "how long ago; 24h",
}
DELIVERY_KEYS = {
    "state": "pending, failing, delivered, or disabled: failed permanently",
    "sender": "the sender of its task",
    "task": "the ID of its task, or its first characters",
    "id": "its ID, or the first 4 characters or more",
    "attempts": "the number of attempts; >2",
    "age": "since it was created; <1h",
}
PLAN_KEYS = {
    "state": "preview, applying, done or discarded",
    "verb": "requeue or force_error",
    "actor": "who planned, applied or discarded it",
    "age": "since it was planned; <1d",
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
    ("Scheduler runs", "ops:scheduler", SCAN_KEYS, "outcome:failed since:24h"),
    ("Callbacks", "ops:deliveries", DELIVERY_KEYS, "state:disabled age:<1d"),
    ("Bulk repairs", "ops:plans", PLAN_KEYS, "verb:requeue age:<1d"),
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
