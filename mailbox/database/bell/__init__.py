"""The bell: wakes the threads that wait for a task, a result or a change of a task.

`ringing.ring` is called after each commit. `waiters` wakes the threads of this process. A ring is a hint. Each woken
thread looks for itself, or one of `shared_looks` looks for it. `watch` looks for all of them in case a ring was lost.
"""
