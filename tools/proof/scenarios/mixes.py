"""The kinds of work of loads that share a database with another load."""

from tools.proof.mix import SENDS, Mix

# Each load makes one of its workers the default agent of the whole hub, and checks only the tasks of its own senders.
TO_DEFAULT_AGENT = frozenset({"corvid", "submit", "workflow"})
BESIDE_ANOTHER = Mix(
    compacts=False, sends={kind: weight for kind, weight in SENDS.items() if kind not in TO_DEFAULT_AGENT}
)
