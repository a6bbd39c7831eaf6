"""Rare courses of a task's life. The stateful test must reach each of them."""

import re
from collections.abc import Iterator

from tests.support.model_rows import Task

_BACK = r"\b(?:requeued|auto-requeued|released) "
_STILL = r" (?:reopened |\S+-refused:\S+ )*"
_LOST = rf"(\S+ )*{_BACK}(\S+ )*leased (said )*"
_MORE = r" (?:noted |placed |added |reopened )*"
_ENDED = r"(?:posted|forced|cancelled|expired|replayed) "

# Each pattern matches a task's story: its events in order, each followed by a space.
PASSAGES = {
    name: re.compile(pattern)
    for name, pattern in {
        "requeued, then leased again": r" requeued (.* )?leased ",
        "requeued by the retry gate, then leased again": r" auto-requeued (.* )?leased ",
        "released, then leased again": r" released (.* )?leased ",
        "a lease is given again to the same attempt": r" leased-again ",
        "an attempt whose lease ended takes no task": r" (posted|released|requeued) (\S+ )*not-leased-again ",
        "leased a third time": r"( leased .*){3}",
        "a late result of a requeued task that nobody holds is its result": r" (auto-)?requeued ([^l]\S+ )*posted ",
        "a fenced holder is refused while another holds the task": (
            r" (requeued|auto-requeued|released) (\S+ )*leased (skipped\S* |reopened )*post-refused:lease_mismatch "
        ),
        "the next holder resolves after a fenced one was refused": r" post-refused:lease_mismatch (\S+ )*posted ",
        "a result after a forced error is refused": r" forced (\S+ )*post-refused:already_resolved ",
        "a result after a cancellation is refused": r" leased (\S+ )*cancelled (\S+ )*post-refused:already_resolved ",
        "a result after the work's time is refused": r" leased (\S+ )*expired (\S+ )*post-refused:already_resolved ",
        "another result after the first is refused": r" posted (\S+ )*post-refused:result_conflict ",
        "the same result is acknowledged again": r" posted (\S+ )*posted-again ",
        "a result is posted of a task that was never leased": r"^ sent ([^l]\S+ )*posted ",
        "a duplicate waits, then takes the first one's result": r" waits ([^w]\S+ )*replayed ",
        "a duplicate waits, is promoted and leased": r" waits (\S+ )*woken (\S+ )*leased ",
        "a duplicate waits, is promoted and resolves": r" waits (\S+ )*woken (\S+ )*posted ",
        "a duplicate waits for one, then for another": r" waits (\S+ )*waits ",
        "a duplicate is cancelled while it waits": r" waits ([^w]\S+ )*cancelled ",
        "a duplicate is answered from the cache": r"^ sent replayed ",
        "a duplicate is answered after its source was compacted": r" replayed-the-compacted ",
        "a duplicate runs after its cached result was dropped": r"^ sent runs-again (\S+ )*leased ",
        "a result is given again to the same attempt, then acknowledged": r" delivered-again (\S+ )*acked ",
        "an attempt whose result was acknowledged gets none": r" acked (\S+ )*not-delivered-again ",
        "a result is acknowledged twice": r" acked (\S+ )*acked-again ",
        "acknowledged work is compacted": r" acked (\S+ )*compacted ",
        "delivered work is compacted though never acknowledged": r" delivered (?!(\S+ )*acked )(\S+ )*compacted ",
        "a compacted result is acknowledged again": r" compacted (\S+ )*acked-after-compaction ",
        "the result of compacted work is posted again": r" compacted (\S+ )*posted-again ",
        "another result of compacted work is refused": (
            r" compacted (\S+ )*post-refused:(result_conflict|already_resolved) "
        ),
        "a lease outlives a new connection, then its result is posted": r" leased reopened (\S+ )*posted ",
        "a duplicate waits through a new connection, then goes on": r" waits reopened (\S+ )*(woken|replayed) ",
        "a delivered result outlives a new connection and is given again": r" reopened (\S+ )*delivered-again ",
        "a deadline passes in the queue": r"^ sent ([^l]\S+ )*expired ",
        "a task runs out of its working time": r" leased (skipped\S* |reopened )*expired ",
        "a release is said again": r" released-again ",
        "a cancellation is said again": r" cancelled-again ",
        "a dry run would requeue": r" would-requeue ",
        "a lease is too young to retry": r" skipped:lease_too_young ",
        "a lease without a key is not retried": r" skipped:missing_idempotency ",
        "unsafe work is not retried": r" skipped:unsafe_duplicate_safety ",
        "attempts are used up": r" skipped:max_attempts_reached ",
        "a pass stops at its limit": r" skipped:limit_reached ",
        "a requeue of unsafe work as idempotent is refused": r" requeue-refused:duplicate_risk_mismatch ",
        "a requeue under a stale lease is refused": r" leased (\S+ )*requeue-refused:lease_mismatch ",
        "a requeue of a queued task is refused": r" requeue-refused:not_in_flight ",
        "a requeue of a resolved task is refused": r" requeue-refused:already_resolved ",
        "a forced error under a stale lease is refused": r" leased (\S+ )*force-refused:lease_mismatch ",
        "a question is answered, then the task is leased again": rf" asked{_STILL}said (\S+ )*leased ",
        "an interrupted task is leased out of turn": rf" asked{_STILL}out-of-turn leased ",
        "a task is asked about twice": r" asked (\S+ )*asked ",
        "an interrupted task is cancelled": rf" asked{_STILL}cancelled ",
        "an interrupted task is forced to an error": rf" asked{_STILL}forced ",
        "an interrupted task expires": rf" asked{_STILL}expired ",
        "a result without a lease ends an interrupted task": rf" asked{_STILL}posted ",
        "a requeue of an interrupted task is refused": rf" asked{_STILL}requeue-refused:not_in_flight ",
        "a holder that has asked posts no update": rf" asked{_STILL}update-refused:not_in_flight ",
        "a sender sends more to a holder": r" leased (\S+ )*said (\S+ )*posted ",
        "a message to a resolved task is refused": r" say-refused:already_resolved ",
        "a question about a task that does not converse is refused": r" update-refused:not_askable ",
        "an artifact is placed, added to, and replaced": r" placed added (\S+ )*placed ",
        "a sender sends more while a holder works": rf" leased{_MORE}said ",
        "the next holder replaces an artifact of a lost attempt": rf" placed {_LOST}placed ",
        "the next holder adds to an artifact of a lost attempt": rf" placed {_LOST}added ",
        "a chunk without its artifact is refused": r" update-refused:invalid_request ",
        "a release under a stale lease is refused": r" release-refused:lease_mismatch ",
        "a holder rejects its task": r" leased (\S+ )*rejected posted ",
        "a rejection is repeated": r" rejected posted (\S+ )*posted-again ",
        "an error after a rejection is refused": r" rejected posted (\S+ )*post-refused:result_conflict ",
        "a rejection without a reason is refused": r" reject-refused:invalid_request ",
        "a rejection under a stale lease is refused": r" reject-refused:lease_mismatch ",
        "a rejected task is acknowledged and compacted": r" rejected posted (\S+ )*acked (\S+ )*compacted ",
        "the rejection of a compacted task is repeated": r" rejected posted (\S+ )*compacted (\S+ )*posted-again ",
        "a direct answer is the result": r" leased (\S+ )*direct posted ",
        "a direct answer is repeated": r" direct posted (\S+ )*posted-again ",
        "the same answer without direct is refused": r" direct posted (\S+ )*post-refused:result_conflict ",
        "the direct answer to a compacted task is repeated": r" direct posted (\S+ )*compacted (\S+ )*posted-again ",
        "a direct answer without content is refused": r"^ sent leased direct-refused:invalid_request ",
        "a direct answer after words of the holder is refused": r" leased noted (\S+ )*direct-refused:invalid_request ",
        "a direct answer after an artifact is refused": r" leased placed (\S+ )*direct-refused:invalid_request ",
        "a direct answer in a second turn is refused": r" said (\S+ )*direct-refused:invalid_request ",
        "a direct answer under a stale lease is refused": r" direct-refused:lease_mismatch ",
        "a batch sends work, which is leased": r"^ sent sent-in-a-batch (\S+ )*leased ",
        "a batch sends a duplicate, which waits": r"^ sent waits sent-in-a-batch ",
        "a batch sends a duplicate, which the cache answers": r"^ sent replayed sent-in-a-batch ",
        "a batch repeats a send": r"^ sent (\S+ )*sent-again ",
        "a batch repeats the send of a compacted task": r" compacted (\S+ )*sent-again ",
        "a batch repeats the send of a task that is overdue": r"^ sent ([^l]\S+ )*expired sent-again ",
        "other work under the id of a task is refused in a batch": r"^ sent (\S+ )*send-refused:task_conflict ",
        "a batch delivers a result, and the next acknowledges it": r" batch-delivered (\S+ )*acked batch-acked ",
        "a batch delivers a result again to its attempt": r" batch-delivered (\S+ )*delivered-again batch-delivered ",
        "an acknowledged batch leaves its attempt spent": r" batch-delivered (\S+ )*batch-acked not-delivered-again ",
        "a batch acknowledges a pending result": r" posted acked batch-acked ",
        "a batch acknowledges a result twice": r" acked-again batch-acked ",
        "a batch acknowledges a compacted result": r" acked-after-compaction batch-acked ",
        "a batch reports a task without a result as unknown": r" batch-ack-unknown ",
        "a batch delivers a result that is out of time": r" expired delivered batch-delivered ",
    }.items()
}


def of(task: Task) -> Iterator[str]:
    """Return the names of the passages in the task's story."""
    story = f" {' '.join(task.story)} "
    return (name for name, pattern in PASSAGES.items() if pattern.search(story))
