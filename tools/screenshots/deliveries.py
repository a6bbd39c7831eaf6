"""A hub whose callbacks arrived, fail, and were given up."""

from mailbox.life import outbox
from mailbox.life.outbox import DeliveryOutcome
from mailbox.models import PushDelivery
from tools.screenshots import hub

ARRIVED = DeliveryOutcome(status=204)
BUSY = DeliveryOutcome(status=503, problem="the receiver answered 503: busy")
REFUSED = DeliveryOutcome(status=None, problem="connection refused")
ATTEMPTS = {50: [ARRIVED], 40: [ARRIVED], 30: [BUSY, ARRIVED], 20: [REFUSED] * 6, 12: [BUSY]}


def calling_back() -> PushDelivery:
    """An hour of work with callbacks; return the callback that was given up."""
    scene = hub.on_fire()
    for minutes, outcomes in ATTEMPTS.items():
        with scene.ago(minutes=minutes):
            url = f"https://hooks.example.org/fares/{minutes}"
            task = scene.send("orchestrator", "flights", f"Watch the fare of flight {minutes}", callback_url=url)
            scene.answer(scene.lease(task))
        for number, outcome in enumerate(outcomes):
            with scene.ago(minutes=minutes - number):
                PushDelivery.objects.filter(task_uuid=task.uuid).update(next_attempt_at=scene.now.replace(year=2000))
                outbox.report(outbox.claim(outbox.due(limit=1).callbacks)[0], outcome)
    return PushDelivery.objects.get(state=PushDelivery.State.DISABLED)
