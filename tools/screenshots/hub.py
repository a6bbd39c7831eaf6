"""Hubs for the screenshots. The verbs send, lease, answer and repair their tasks at times in the past."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import time_machine
from django.utils import timezone

from agentcards import profiles
from mailbox.access.agents import grants, registration
from mailbox.access.callers import Caller, Role
from mailbox.life import leasing, results
from mailbox.models import Agent, AuditEvent, Lease, Task
from mailbox.repairs import repair
from mailbox.upkeep import rollups
from mailbox.words.envelopes import DuplicateSafety, Idempotency, ResultStatus
from tests.support import factories, media, talking
from tools.screenshots import measured

WORK = ("Compare three quotes", "Fetch page 4 of the catalogue", "Translate the summary", "Check the invoice total")


class Scene:
    """A hub with work in progress. ``ago`` travels back to the time of an event."""

    def __init__(self) -> None:
        self.now = timezone.now()
        every = ("a2a.send.*", "a2a.respond.*")
        names = ("orchestrator", "planner", "hotels", "flights", "scraper", "payments", "writer")
        self.agents = {name: factories.agent(name, *every) for name in names}
        person = factories.person("ana", Role.OPERATOR)
        self.operator = replace(person, source=AuditEvent.Source.DASHBOARD)

    def __getitem__(self, name: str) -> Caller:
        return self.agents[name]

    def ago(self, **span: float) -> time_machine.travel:
        return time_machine.travel(self.now - timedelta(**span), tick=False)

    def send(self, sender: str, recipient: str, text: str, **fields: object) -> Task:
        return factories.sent_task(self[sender], self[recipient], intent_text=text, **fields)

    def lease(self, task: Task) -> Lease:
        (lease,) = leasing.lease_tasks(self[task.recipient.local])
        assert lease.task_id == task.pk
        return lease

    def answer(self, lease: Lease, *, status: ResultStatus = ResultStatus.OK, error: str | None = None) -> None:
        content = [{"type": "text", "text": "Hotel Lisboa Plaza, 3 nights, 412 EUR"}]
        envelope = factories.result_envelope(
            lease.task,
            status=status,
            lease_id=lease.lease_id,
            content=[] if error else content,
            error_message=error,
        )
        results.post_result(self[lease.holder.local], envelope)

    def whole(self, sender: str, recipient: str, text: str, *, ago: float, took: float, **outcome: Any) -> Task:
        """Send, lease, and answer a task that began ``ago`` minutes back and took ``took`` seconds."""
        with self.ago(minutes=ago):
            task = self.send(sender, recipient, text)
        with self.ago(minutes=ago, seconds=-0.2 * took):
            lease = self.lease(task)
        with self.ago(minutes=ago, seconds=-took):
            self.answer(lease, **outcome)
        return task

    def requeue(self, lease: Lease, reason: str) -> None:
        repair.requeue(
            self.operator,
            lease.task.uuid,
            reason=reason,
            duplicate_risk=repair.DuplicateRisk.OPERATOR_ACCEPTED,
            lease_id=lease.lease_id,
        )


def key(name: str) -> Idempotency:
    return Idempotency(duplicate_safety=DuplicateSafety.IDEMPOTENT, key=name)


def calm() -> Scene:
    """An hour of work that went well."""
    scene = _an_hour()
    measured.measure(scene.now)
    return scene


def _an_hour() -> Scene:
    scene = Scene()
    recipients = ("hotels", "flights", "writer")
    for number in range(90):
        text, recipient = WORK[number % len(WORK)], recipients[number % len(recipients)]
        failed: dict[str, Any] = (
            {"status": ResultStatus.ERROR, "error": "the page answered 503"} if number % 23 == 5 else {}
        )
        partial = {"status": ResultStatus.PARTIAL} if number % 31 == 7 else {}
        scene.whole(
            "planner", recipient, f"{text} #{number}", ago=58 - number * 0.6, took=2 + number % 9, **failed, **partial
        )
    results.drain_results(scene["planner"], limit=80)
    with scene.ago(seconds=40):
        scene.lease(scene.send("planner", "hotels", "Book a hotel near the old town", idempotency=key("trip-7-hotel")))
        scene.lease(scene.send("planner", "flights", "Find a flight on Friday"))
    scene.send("planner", "writer", "Summarise the trip for the traveller")
    return scene


def on_fire() -> Scene:
    """Stale leases of safe and of unsafe work, many errors, and a paused agent."""
    scene = _an_hour()
    for minutes, text, safe in (
        (41, "Book hotel in Lisbon", False),
        (33, "Charge the deposit", False),
        (22, "Fetch rates for June", True),
        (19, "Fetch rates for July", True),
        (12, "Fetch rates for August", True),
        (7, "Fetch rates for September", True),
    ):
        with scene.ago(minutes=minutes + 1):
            task = scene.send("planner", "scraper", text, idempotency=key(f"rates-{minutes}") if safe else None)
        with scene.ago(minutes=minutes):
            scene.lease(task)
    for number in range(9):
        scene.whole(
            "orchestrator",
            "payments",
            f"Charge card {number}",
            ago=20 - number,
            took=3,
            status=ResultStatus.ERROR,
            error="card declined",
        )
    with scene.ago(minutes=5):
        registration.pause_agent(
            scene.operator, factories.row_of(scene["payments"]), reason="the bank is down, INC-4413"
        )
        scene.send("planner", "payments", "Charge the balance")
    measured.measure(scene.now)
    return scene


def tree_of_six() -> Task:
    """A trip that is being planned. One branch was requeued, one failed, one is stale and one is still queued."""
    scene = Scene()
    with scene.ago(minutes=12):
        root = scene.send("orchestrator", "planner", "Plan trip to Lisbon")
    with scene.ago(minutes=11, seconds=50):
        planning = scene.lease(root)
        flights = scene.send("planner", "flights", "Find flights", parent=root.uuid)
    with scene.ago(minutes=11, seconds=20):
        finding = scene.lease(flights)
        scrape = scene.send("flights", "scraper", "Scrape carrier A", parent=flights.uuid)
    with scene.ago(minutes=11):
        first = scene.lease(scrape)
        hotel = scene.send("planner", "hotels", "Book hotel", parent=root.uuid)
    with scene.ago(minutes=10):
        scene.requeue(first, "pod OOM-killed, INC-4412")
    with scene.ago(minutes=9, seconds=30):
        second = scene.lease(scrape)
        scene.lease(hotel)
    with scene.ago(minutes=8):
        scene.answer(second)
        charge = scene.send("hotels", "payments", "Charge card", parent=hotel.uuid)
    with scene.ago(minutes=7, seconds=40):
        charging = scene.lease(charge)
        scene.answer(finding)
    with scene.ago(minutes=6, seconds=50):
        scene.answer(charging, status=ResultStatus.ERROR, error="card declined")
    with scene.ago(minutes=3):
        scene.send("planner", "writer", "Summarise", parent=root.uuid)
        scene.answer(planning)
    return root


def tree_of_many(children: int = 490) -> Task:
    """A catalogue that is fetched page by page. Some pages failed."""
    scene = Scene()
    with scene.ago(minutes=30):
        root = scene.send("orchestrator", "planner", "Fetch the catalogue")
        scene.lease(root)
    for number in range(7):
        with scene.ago(minutes=29 - number):
            scene.send("planner", "writer", f"Describe section {number}", parent=root.uuid)
    for number in range(children):
        with scene.ago(minutes=28 - number * 25 / children):
            page = scene.send("planner", "scraper", f"Fetch page {number}", task_kind="Fetch page", parent=root.uuid)
        with scene.ago(minutes=28 - number * 25 / children, seconds=-1):
            lease = scene.lease(page)
        with scene.ago(minutes=28 - number * 25 / children, seconds=-4):
            failed: dict[str, Any] = {"status": ResultStatus.ERROR, "error": "503"} if number % 97 == 13 else {}
            scene.answer(lease, **failed)
    return root


REPORT = (
    "# Three hotels near the old town\n\n",
    "1. Lisboa Plaza: two rooms, 412 EUR, breakfast included.\n",
    "2. Casa do Jasmim: two rooms, 388 EUR, no lift.\n",
    "3. Memmo Alfama: two rooms, 540 EUR, a terrace over the river.\n\n",
    "Prices are for three nights and hold until Friday.\n",
)
OFFERS = {
    "offers": [
        {"hotel": "Lisboa Plaza", "eur": 412, "rooms": [{"beds": 2, "floor": 3}, {"beds": 2, "floor": 4}]},
        {"hotel": "Casa do Jasmim", "eur": 388, "rooms": [{"beds": 2, "floor": 1}, {"beds": 2, "floor": 1}]},
    ],
    "nights": 3,
    "valid_until": "2026-06-01",
}


def conversing() -> tuple[Task, Task, Task]:
    """An open question, a conversation whose question was answered, and an agent that needs an authorization."""
    scene = Scene()
    with scene.ago(minutes=31):
        booking = scene.send("planner", "hotels", "Find a hotel in Lisbon for four people, near the old town")
    with scene.ago(minutes=30, seconds=40):
        first = scene.lease(booking)
        talking.told(scene["hotels"], booking, "I look at the offers of twelve hotels.", progress=0.4)
        talking.asked(scene["hotels"], first, "Which nights do you need?\nAnd two double rooms, or one for all four?")
    with scene.ago(minutes=22):
        talking.said(scene["planner"], booking, "12 to 15 June, two double rooms.")
    with scene.ago(minutes=21, seconds=30):
        second = scene.lease(booking)
    with scene.ago(minutes=20):
        for number, chunk in enumerate(REPORT):
            facts = {"name": "Three offers", "description": "A short list with prices"} if not number else {}
            is_last = number == len(REPORT) - 1
            talking.made(scene["hotels"], booking, chunk, append=number > 0, last_chunk=is_last, **facts)
        table = {"type": "json", "value": OFFERS}
        talking.made(scene["hotels"], booking, table, artifact_id="offers.json", last_chunk=True)
        plan, greeting = media.picture(640, 240, filename="third-floor.png"), media.sound(1, filename="greeting.wav")
        pages = {"uri": "attachment:terms.pdf", "blob": "JVBERi0xLjcK", "mimeType": "application/pdf"}
        terms = {"type": "resource", "resource": pages, "filename": "terms.pdf"}
        talking.made(scene["hotels"], booking, plan, greeting, terms, artifact_id="lisboa-plaza", last_chunk=True)
        scene.answer(second)
    with scene.ago(minutes=14):
        seats = scene.send("planner", "flights", "Find four seats to Lisbon on 12 June, back on 15 June")
    with scene.ago(minutes=13):
        search = scene.lease(seats)
        talking.asked(scene["flights"], search, "The direct flight leaves at 06:10. Is that too early for you?")
    with scene.ago(minutes=6):
        deposit = scene.send("planner", "payments", "Pay the deposit of 120 EUR to Lisboa Plaza")
    with scene.ago(minutes=5):
        charge = scene.lease(deposit)
        words = "The card of this traveller needs your approval: 120 EUR to Lisboa Plaza."
        talking.asked(scene["payments"], charge, words, awaits="authorization")
    rollups.roll()
    return seats, booking, deposit


def thrice_leased() -> Task:
    """A task that was requeued twice and answered in its third attempt."""
    scene = Scene()
    with scene.ago(minutes=50):
        task = scene.send("planner", "hotels", "Book hotel in Lisbon for three nights", idempotency=key("trip-7-hotel"))
    for minutes, reason in ((48, "pod OOM-killed, INC-4412"), (30, "node drained")):
        with scene.ago(minutes=minutes):
            lease = scene.lease(task)
        with scene.ago(minutes=minutes - 12):
            scene.requeue(lease, reason)
    with scene.ago(minutes=8):
        lease = scene.lease(task)
    with scene.ago(minutes=2):
        scene.answer(lease, status=ResultStatus.PARTIAL)
    return task


def on_show() -> None:
    """Describe the agent of hotels for clients of the official protocol, and open it to anyone."""
    agent = Agent.objects.get(local="hotels")
    told = {
        "name": "Hotel Desk",
        "description": "Finds and books hotels in Europe, with prices in EUR.",
        "input_modes": ["text/plain", "application/json"],
        "output_modes": ["application/json", "application/pdf"],
        "card_version": "2.3.0",
        "documentation_url": "https://hotels.example/docs",
    }
    profiles.update_profile(Caller.command_line(), agent, told)
    factories.tool("book_hotel", is_default=True, description="Books a room", tags=["travel", "booking"])
    grants.open_to_anyone(Caller.command_line(), agent, reason="the partners have no keys yet")
