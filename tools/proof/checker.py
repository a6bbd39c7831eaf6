"""The checker: it compares the history of a run with the tables and the journal, and names each broken promise."""

from collections.abc import Callable, Iterator, Sequence

from tools.proof import rows, rules_batches, rules_official, rules_requests, rules_results, rules_talk, rules_tasks
from tools.proof.evidence import Evidence, Violation
from tools.proof.history import History
from tools.proof.rows import Rows
from tools.proof.stage import Stage

Rule = Callable[[Evidence], Iterator[Violation]]

RULES: Sequence[Rule] = (
    rules_requests.answers,
    rules_requests.refusals,
    rules_requests.decisions,
    rules_requests.attempts,
    rules_requests.acknowledgements,
    rules_requests.sends,
    rules_batches.items,
    rules_batches.posted_with_a_lease,
    rules_batches.receives,
    rules_batches.whole_answers,
    rules_tasks.journal,
    rules_tasks.states,
    rules_tasks.lease_rows,
    rules_tasks.lease_answers,
    rules_tasks.leaders,
    rules_tasks.replays,
    rules_tasks.requeues,
    rules_tasks.plans,
    rules_tasks.expiries,
    rules_tasks.reads,
    rules_tasks.leftovers,
    rules_results.stored,
    rules_results.rows,
    rules_results.received,
    rules_results.erasures,
    rules_results.deliveries,
    rules_results.callbacks,
    rules_talk.questions,
    rules_talk.order,
    rules_talk.turns,
    rules_talk.artifacts,
    rules_official.streams,
    rules_official.webhooks,
)


def violations(history: History, found: Rows) -> list[Violation]:
    """Return the broken promises of a run, by its history and the rows that it left."""
    evidence = Evidence(history, found)
    return [violation for rule in RULES for violation in rule(evidence)]


def check(stage: Stage, history: History) -> list[Violation]:
    """Read the rows of the stage's database, and return the broken promises of the run."""
    return violations(history, rows.of_run(stage, history.seed))
