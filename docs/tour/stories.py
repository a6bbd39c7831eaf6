"""The stories of ordinary work at a travel agency: a trip with all of its parts, price lists, mails."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from datetime import timedelta
from itertools import count
from random import Random
from typing import Any

import hooks
import texts
from hooks import Hooks
from office import Office, Said, until
from texts import Block, City, Trip, text
from timeline import Story, Timeline

from mailbox.models import Agent, Lease, Task
from mailbox.words.conversation import ArtifactUpdate

LOOK = 4.0  # seconds until a sender looks again for the results that it waits for
LONG_LOOK = 30.0  # seconds between two signs of life, and until an agent looks whether its pause is over
ROUND = 17 * 60.0  # seconds between two cities whose prices are read without an order
MOST_BUDGET = 4000  # EUR; a fifth of it is the largest deposit that the agent takes


class Desk:
    """An office with its clock, and with the chance that varies the day. The stories of work begin here."""

    def __init__(self, office: Office, timeline: Timeline, chance: Random, hooks: Hooks) -> None:
        self.office, self.timeline, self.chance, self.hooks = office, timeline, chance, hooks

    def spread(self, seconds: float) -> float:
        """Return about so many seconds: mostly fewer, and now and then far more."""
        return min(seconds * self.chance.lognormvariate(-0.15, 0.55), seconds * 5)

    def work(
        self, task: Task, said: Callable[[], Said], *, takes: float, notes: Sequence[str] = (), finds: str | None = None
    ) -> Story:
        """Let the recipient do a task. ``finds`` is a city whose prices it orders from another agent first."""
        lease = yield from self.lease(task)
        if lease is None:
            return
        if finds:
            yield from self.prices(task, finds)
        for number, note in enumerate(notes, 1):
            yield self.spread(takes / (len(notes) + 1))
            self.office.progress(lease, number / (len(notes) + 1), note)
        yield self.spread(takes / (len(notes) + 1))
        self.office.answer(lease, said())

    def lease(self, task: Task) -> Generator[float, None, Lease | None]:
        """Let the recipient lease the task, after its pause if it is paused. None: the task has ended before."""
        yield self.spread(2)
        while Agent.objects.paused().filter(pk=task.recipient_id).exists():
            yield LONG_LOOK
        return self.office.lease(task) if Task.objects.unresolved().filter(pk=task.pk).exists() else None

    def prices(self, task: Task, name: str) -> Story:
        """Let the recipient of the task order the prices of a city, and wait for them."""
        (city,) = [city for city in texts.CITIES if city.name == name]
        order = self.order(city, task.recipient.local, parent=task.uuid)
        yield from self.read_prices(order, city)

    def read_prices(self, order: Task, city: City) -> Story:
        yield from self.done(order, lambda: Said.done(*texts.rates(city, self.chance)), takes=9)

    def order(self, city: City, sender: str, **fields: Any) -> Task:
        """Order the prices of a city. Within an hour they are read once."""
        words, hour = f"Read the price lists of three hotels in {city.name}", f"{self.timeline.now:%Y-%m-%d-%H}"
        return self.office.send(
            sender, "rates", words, key=f"rates:{city.airport}:{hour}", task_kind="fetch-rates", **fields
        )

    def round(self) -> Story:
        """Read the prices of one city after the other, day and night."""
        for number in count():
            city = texts.CITIES[number % len(texts.CITIES)]
            order = self.order(city, "hotels")
            self.timeline.begin(self.read_prices(order, city))
            yield ROUND

    def done(self, task: Task, said: Callable[[], Said], **how: Any) -> Story:
        """Let the recipient do a task, and its sender collect the result. Work that is cached needs no worker."""
        if Task.objects.unresolved().filter(pk=task.pk, waits_on=None).exists():
            yield from self.work(task, said, **how)
        while Task.objects.unresolved().filter(pk=task.pk).exists():
            yield LOOK
        yield self.chance.uniform(0.3, 2)
        self.office.collect(task.sender.local)

    def trip(self, number: int) -> Story:
        """Plan a trip: flights and rooms side by side, then the deposit, then the itinerary."""
        trip, start = Trip.of(number), self.timeline.now
        wish = self.office.send(
            "concierge",
            "planner",
            trip.wish,
            task_kind="plan-trip",
            context_id=f"trip-{number}",
            deadline_ms=until(start + timedelta(hours=2)),
            metadata={"trip": number, "customer": trip.who},
            callback_url=hooks.TRIPS if number % 3 == 0 else None,
        )
        yield self.spread(3)
        planning = self.office.lease(wish)
        parts = [self.flights(trip, wish), self.rooms(trip, wish)]
        tasks = [task for task, _ in parts]
        for _, story in parts:
            self.timeline.begin(story)
        yield LONG_LOOK
        self.office.beat(planning)
        while Task.objects.unresolved().filter(pk__in=[task.pk for task in tasks]).exists():
            yield LOOK
        lacking = Task.objects.filter(pk__in=[task.pk for task in tasks], outcome="error").count()
        if not lacking:
            yield from self.deposit(trip, wish)
        yield from self.written(trip, wish)
        self.office.answer(planning, self.summary(trip, lacking))
        yield 0.4
        self.hooks.deliver()
        yield self.chance.uniform(1, 5)
        self.office.collect("concierge")

    def flights(self, trip: Trip, wish: Task) -> tuple[Task, Story]:
        words = texts.find_flights(trip)
        task = self.office.send("planner", "flights", words, task_kind="find-flights", parent=wish.uuid)
        said = self.now_and_then(0.08, texts.NO_FLIGHT, texts.flights(trip, self.chance))
        return task, self.done(task, lambda: said, takes=35, notes=("Asked three airlines", "Two have answered"))

    def rooms(self, trip: Trip, wish: Task) -> tuple[Task, Story]:
        words = texts.hold_rooms(trip)
        task = self.office.send("planner", "hotels", words, task_kind="hold-rooms", parent=wish.uuid)
        said = self.now_and_then(0.06, texts.NO_ROOM, texts.rooms(trip, self.chance))
        return task, self.done(task, lambda: said, takes=25, finds=trip.city.name, notes=("Compared three hotels",))

    def deposit(self, trip: Trip, wish: Task) -> Story:
        words = texts.take_deposit(trip)
        task = self.office.send("planner", "payments", words, task_kind="take-deposit", parent=wish.uuid)
        said = self.now_and_then(0.15, texts.NO_PAYMENT, [texts.receipt(trip)])
        if trip.budget > MOST_BUDGET:
            said = Said.rejected(f"A person decides about deposits above 800 EUR, and this one is {trip.deposit}.")
        yield from self.done(task, lambda: said, takes=4)

    def written(self, trip: Trip, wish: Task) -> Story:
        """Let the writer bring the itinerary page by page, with a calendar file."""
        words = texts.write_itinerary(trip)
        task = self.office.send("planner", "writer", words, task_kind="write-itinerary", parent=wish.uuid)
        yield self.spread(2)
        lease = self.office.lease(task)
        pages = texts.itinerary(trip)
        for number, page in enumerate(pages):
            yield self.spread(8)
            page_of = ArtifactUpdate(
                content=[text(page)],
                artifact_id="itinerary",
                name=f"Itinerary of trip {trip.number}" if number == 0 else None,
                append=number > 0,
                last_chunk=number == len(pages) - 1,
            )
            self.office.tell(lease, page_of)
        self.office.answer(lease, Said.done(text("The itinerary is complete."), texts.calendar(trip)))
        yield self.chance.uniform(0.3, 2)
        self.office.collect("planner")

    def summary(self, trip: Trip, lacking: int) -> Said:
        if lacking == 2:
            return Said.failed(f"Neither flights nor rooms were found for trip {trip.number}.")
        if lacking:
            return Said.half_done(text(f"Trip {trip.number} is planned, but one of flights and rooms is missing."))
        return Said.done(
            text(f"Trip {trip.number} is planned: {trip.city.name}, {trip.dates}, for {trip.who}."),
            texts.data({"trip": trip.number, "city": trip.city.name, "nights": trip.nights, "within_budget": True}),
        )

    def mail(self, number: int) -> Story:
        """Send a mail to a hotel, which the translator puts into the language of the city."""
        city: City = texts.CITIES[number % len(texts.CITIES)]
        mail = texts.MAILS[number % len(texts.MAILS)]
        words = f"Translate for {city.hotels[number % 3]} in {city.name}: {mail}"
        task = self.office.send("concierge", "translator", words, task_kind="translate")
        said = Said.done(text(f"The mail to {city.hotels[number % 3]} is translated and sent."))
        yield from self.done(task, lambda: said, takes=12)

    def now_and_then(self, share: float, errors: Sequence[str], blocks: Sequence[Block]) -> Said:
        """Return the blocks as a result, or at that share of times one of the errors."""
        if self.chance.random() < share:
            return Said.failed(self.chance.choice(errors))
        return Said.done(*blocks)
