"""The steps of a round of the sender of remote tasks, run in the thread of the test."""

from django.utils import timezone

from agentcards import remote_calls
from agentcards.models import RemoteCall
from mailbox.models import Result, Task


def take_all() -> list[RemoteCall]:
    """Lease as many tasks of remote agents as the limits allow; return their calls."""
    calls = []
    for profile in remote_calls.agents_with_work():
        while (call := remote_calls.take_on(profile)) is not None:
            calls.append(call)
    return calls


def claim_all() -> list[RemoteCall]:
    """Claim the due polls; return their calls."""
    now = timezone.now()
    return [call for call in remote_calls.due(now) if call.claim(now + remote_calls.LOOK_LASTS)]


def submit_all() -> list[RemoteCall]:
    """Lease and submit as many tasks as the limits allow; return their calls."""
    calls = take_all()
    for call in calls:
        remote_calls.submit(call)
    return calls


def look_all() -> list[RemoteCall]:
    """Make the due polls, and delete ended calls; return the polled calls."""
    calls = claim_all()
    for call in calls:
        remote_calls.look(call)
    remote_calls.forget_ended()
    return calls


def result_of(task: Task) -> Result:
    return Result.objects.get(task=task)
