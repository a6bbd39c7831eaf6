"""The events of the day beside its ordinary work: outages, dead workers, repairs, questions, cancellations."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import NamedTuple

import hooks
import texts
from office import Said, until
from stories import Desk
from texts import text
from timeline import Story

from mailbox.access.agents import registration
from mailbox.background import jobs
from mailbox.life import sending
from mailbox.models import Agent, Lease, RepairPlan, Task
from mailbox.repairs import auto_retry, plan_execution, plans, repair
from mailbox.words import errors
from mailbox.words.conversation import UpdateStatus

MINUTE = 60.0


class Sent(NamedTuple):
    """A task of an event: who sends it to whom, in which words."""

    sender: str
    recipient: str
    words: str
    kind: str
    key: str | None = None


class Events:
    """The events of a day that ends ``now``."""

    def __init__(self, desk: Desk, now: datetime) -> None:
        self.desk, self.office, self.timeline, self.now = desk, desk.office, desk.timeline, now

    def plan(self) -> None:
        """Enter all events into the timeline."""
        begun = {
            (24, 0): self.sweeps(),
            (23, 59): self.desk.hooks.carry(),
            (23, 50): self.desk.round(),
            (11, 0): self.given_up(),
            (9, 0): self.late_mails(),
            (7, 20): self.dead_worker(),
            (5, 30): self.drained_node(),
            (5, 0): self.gone_receiver(),
            (4, 10): self.outage(),
            (3, 0): self.talk(),
            (0, 26): self.new_glossary(),
            (0, 14): self.open_question(),
            (0, 6): self.open_authorization(),
            (0, 1): self.under_way(),
        }
        begun |= {(hour, 17): self.cancelled(hour) for hour in (19, 13, 6, 2)}
        begun |= {(hour, 41): self.visas(hour) for hour in range(1, 23, 2)}
        for (hours, minutes), story in begun.items():
            self.timeline.begin(story, at=self.ago(hours * 60 + minutes))
        for minutes, city in ((41, "Vienna"), (26, "Prague"), (12, "Edinburgh")):
            words, key = f"Read the price lists of three hotels in {city}", f"rates:{city}:last"
            silent = self.silent(Sent("hotels", "rates", words, "fetch-rates", key), beats=3)
            self.timeline.begin(silent, at=self.ago(minutes))
        words = "Book the held seats IW 412 to Porto for the Novak sisters"
        self.timeline.begin(self.silent(Sent("planner", "flights", words, "book-flights"), beats=1), at=self.ago(33))

    def ago(self, minutes: float) -> datetime:
        return self.now - timedelta(minutes=minutes)

    def sent(self, one: Sent, **fields: object) -> Task:
        return self.office.send(one.sender, one.recipient, one.words, key=one.key, task_kind=one.kind, **fields)

    def silent(self, one: Sent, *, beats: int) -> Story:
        """Let a worker take a task and show a few signs of life, and then none."""
        task = self.sent(one)
        yield 2.0
        lease = self.office.lease(task)
        for _ in range(beats):
            yield 20.0
            self.office.beat(lease)

    def sweeps(self) -> Story:
        while True:
            jobs.sweep_pass()
            yield 30 * MINUTE

    def given_up(self) -> Story:
        """End a payment whose worker died, because the customer has paid in cash."""
        task = self.sent(Sent("planner", "payments", "Take the rest of 640 EUR for trip 2203", "take-deposit"))
        yield 3.0
        lease = self.office.lease(task)
        yield 22 * MINUTE
        repair.force_error(
            self.office.person("jonas"),
            task.uuid,
            reason="the customer paid in cash at the desk",
            message="Not charged: the customer paid in cash.",
            lease_id=lease.lease_id,
        )
        yield 4.0
        self.office.collect("planner")

    def late_mails(self) -> Story:
        """Send mails with a deadline to an agent that is paused."""
        agent = self.paused("ana", "translator", "the glossary for Czech is wrong, INC-2201")
        for city in texts.CITIES[3:6]:
            yield 4 * MINUTE
            words = f"Translate for {city.hotels[0]} in {city.name}: {texts.MAILS[1]}"
            deadline = until(self.timeline.now + timedelta(minutes=8))
            self.sent(Sent("concierge", "translator", words, "translate"), deadline_ms=deadline)
        yield 25 * MINUTE
        self.resumed("ana", agent, "the glossary is right again")
        self.office.collect("concierge", 3)

    def dead_worker(self) -> Story:
        """Let a worker die twice in a search, which is repaired twice."""
        words = "Find seats to Copenhagen for 14 adults on 9 January, back 3 days later"
        task = self.sent(Sent("planner", "flights", words, "find-flights", "trip-2199-flights"))
        repairs = {"ana": "flights-2 was OOM-killed, INC-2203", "jonas": "flights-2 was OOM-killed again"}
        for person, reason in repairs.items():
            yield 5.0
            lease = self.office.lease(task)
            yield 40.0
            self.office.progress(lease, 0.3, "Asked three airlines")
            yield 14 * MINUTE
            self.office.requeue(person, lease, reason)
        said = Said.half_done(text("Only 11 seats are left on NW 318, and 3 on IW 204 two hours later."))
        yield from self.desk.done(task, lambda: said, takes=60)

    def drained_node(self) -> Story:
        """Let six workers vanish with their node. The retry requeues one task, and a plan the others."""
        cities = texts.CITIES[:6]
        tasks = [self.sent(self.price_list(city, "night")) for city in cities]
        yield 3.0
        leases = [self.office.lease(task) for task in tasks]
        yield 16 * MINUTE
        auto_retry.run_once(self.office.person("ana"), reason="node 4 was drained", worded=errors.text_for_program)
        yield 2 * MINUTE
        found = Lease.objects.named(lease.lease_id for lease in leases).live()
        person = self.office.person("ana")
        plan = plans.make(person, RepairPlan.Verb.REQUEUE, found, token=uuid.uuid4(), max_attempts=3, query="to:rates")
        yield 40.0
        plan_execution.work(plans.apply(person, plan.pk, reason="node 4 was drained, INC-2206"), seconds=30)
        for task, city in zip(tasks, cities, strict=True):
            self.timeline.begin(self.desk.read_prices(task, city))

    def price_list(self, city: texts.City, name: str) -> Sent:
        words = f"Read the price lists of three hotels in {city.name}"
        return Sent("hotels", "rates", words, "fetch-rates", f"rates:{city.airport}:{name}")

    def gone_receiver(self) -> Story:
        """Send a mail whose callback goes to a system that is gone."""
        words = f"Translate for {texts.CITIES[2].hotels[1]} in Vienna: {texts.MAILS[4]}"
        task = self.sent(Sent("concierge", "translator", words, "translate"), callback_url=hooks.GONE)
        said = Said.done(text("The mail to Hotel am Naschmarkt is translated and sent."))
        yield from self.desk.done(task, lambda: said, takes=12)

    def outage(self) -> Story:
        """Let the card processor fail. A person pauses the agent, whose tasks wait, and resumes it."""
        for number in range(9):
            yield 50.0
            words = f"Take a deposit of {120 + 35 * number} EUR for trip {2150 + number} from the card on file"
            task = self.sent(Sent("planner", "payments", words, "take-deposit"))
            self.timeline.begin(self.desk.done(task, lambda: Said.failed(texts.PROCESSOR_DOWN), takes=6))
        yield 3 * MINUTE
        agent = self.paused("ana", "payments", "the card processor is down, INC-2207")
        yield 40 * MINUTE
        self.resumed("ana", agent, "the card processor answers again")

    def talk(self) -> Story:
        """Put a question that its sender answers."""
        words = "Hold rooms in Ljubljana for 4 adults near the river"
        task = self.sent(Sent("planner", "hotels", words, "hold-rooms"), context_id="trip-2240")
        yield 4.0
        lease = self.office.lease(task)
        yield 25.0
        self.office.progress(lease, 0.4, "Compared three hotels")
        self.office.ask(lease, "Which nights do you need?\nAnd two double rooms, or one for all four?")
        yield 6 * MINUTE
        self.office.reply(task, "12 to 15 January, two double rooms.")
        words = "Hiša Trnovo: two double rooms, 3 nights, 534 EUR. Held until tomorrow, noon."
        yield from self.desk.done(task, lambda: Said.done(text(words)), takes=30)

    def new_glossary(self) -> Story:
        """Send mails that wait, because their agent is paused now."""
        self.paused("jonas", "translator", "the new glossary is being loaded")
        for number in range(5):
            yield 4 * MINUTE + 15 * number
            city = texts.CITIES[number]
            words = f"Translate for {city.hotels[1]} in {city.name}: {texts.MAILS[number]}"
            self.sent(Sent("concierge", "translator", words, "translate"))

    def open_question(self) -> Story:
        words = "Hold rooms in Seville for 2 adults and 1 child from 18 January"
        task = self.sent(Sent("planner", "hotels", words, "hold-rooms"), context_id="trip-2266")
        yield 3.0
        lease = self.office.lease(task)
        yield 30.0
        self.office.ask(lease, "Casa de los Naranjos has a cot, but no lift. Shall I hold it all the same?")

    def open_authorization(self) -> Story:
        words = "Take a deposit of 310 EUR for trip 2261 from the card on file"
        task = self.sent(Sent("planner", "payments", words, "take-deposit"))
        yield 2.0
        lease = self.office.lease(task)
        yield 8.0
        question = "The bank of Dr Halloran wants a confirmation in its app: 310 EUR to the agency."
        self.office.ask(lease, question, status=UpdateStatus.AUTH_REQUIRED)

    def under_way(self) -> Story:
        """Begin work that the live workers go on with."""
        for number in (2298, 2299):
            words = texts.hold_rooms(texts.Trip.of(number))
            task = self.sent(Sent("planner", "hotels", words, "hold-rooms"))
            yield 6.0
            lease = self.office.lease(task)
            yield 2.0
            self.office.progress(lease, 0.2, "Looking at three hotels")

    def cancelled(self, hour: int) -> Story:
        """Take a wish back, while its agent works on it or before."""
        trip = texts.Trip.of(2400 + hour)
        task = self.sent(Sent("concierge", "planner", trip.wish, "plan-trip"))
        yield 5.0
        if hour % 2:
            self.office.lease(task)
            yield 2 * MINUTE
        sending.cancel(self.office.agent("concierge"), task.uuid, reason="the customer stays at home")
        yield 3.0
        self.office.collect("concierge")

    def visas(self, hour: int) -> Story:
        """Put a question to the agent of a partner."""
        city, (who, _) = texts.CITIES[hour % 8], texts.TRAVELLERS[hour % 10]
        task = self.sent(Sent("concierge", "visa-desk", f"Does {who} need a visa for {city.name}?", "check-visa"))
        said = Said.done(text("No visa is needed for a stay of up to 90 days. The passport must be valid until April."))
        yield from self.desk.done(task, lambda: said, takes=40)

    def paused(self, person: str, name: str, reason: str) -> Agent:
        agent = Agent.objects.get(local=name)
        return registration.pause_agent(self.office.person(person), agent, reason=reason)

    def resumed(self, person: str, agent: Agent, reason: str) -> None:
        registration.resume_agent(self.office.person(person), agent, reason=reason)
