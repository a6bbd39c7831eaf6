"""A day of a travel agency: its agents plan trips, and what goes wrong is repaired."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

from events import Events
from hooks import Hooks
from office import Office
from stories import Desk
from timeline import Timeline

from mailbox.upkeep import rollups

SEED = 11
LENGTH = timedelta(hours=24)
FIRST_TRIP = 2201
TRIPS = 44
MAILS = 36
# The weight of each hour of the clock: few trips at night, most before noon and in the evening.
BY_HOUR = (1, 1, 1, 1, 1, 2, 4, 7, 10, 12, 13, 12, 9, 9, 10, 11, 11, 12, 13, 12, 9, 6, 3, 2)
QUIET = timedelta(minutes=30)  # before now, in which no ordinary story begins: most of its agents work no more


def live(now: datetime) -> dict[str, str]:
    """Live the day that ends ``now``; return the API key of each agent by its name."""
    chance, timeline = Random(SEED), Timeline(now - LENGTH)  # noqa: S311 (a day that varies, no secret)
    office = timeline.act(Office)
    desk = Desk(office, timeline, chance, Hooks(timeline, chance, now))
    for number, begin in enumerate(_times(chance, now, TRIPS), FIRST_TRIP):
        timeline.begin(desk.trip(number), at=begin)
    for number, begin in enumerate(_times(chance, now, MAILS)):
        timeline.begin(desk.mail(number), at=begin)
    Events(desk, now).plan()
    timeline.run(now)
    office.note_last_calls()
    rollups.roll()
    return office.keys


def _times(chance: Random, now: datetime, number: int) -> list[datetime]:
    """Return so many times of the day in their order, most of them in its busy hours."""
    first = now - LENGTH
    minutes = [first + timedelta(minutes=minute) for minute in range((LENGTH - QUIET) // timedelta(minutes=1))]
    chosen = chance.choices(minutes, [BY_HOUR[minute.hour] for minute in minutes], k=number)
    return sorted(minute + timedelta(seconds=chance.uniform(0, 60)) for minute in chosen)
