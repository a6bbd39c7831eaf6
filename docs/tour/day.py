"""Plays the day of day.toml: carries out the steps of its stories along one clock."""

import heapq
import inspect
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import agency
from agency import AGENCY, filled
from django.utils import timezone
from office import Office, Scope, Story, Verbs, spread

from mailbox.upkeep import rollups
from mailbox.words.errors import MailboxError

SEED = 11
LENGTH = timedelta(hours=24)
MINUTE = timedelta(minutes=1)
FILE = Path(__file__).parent / "day.toml"
PACE = {"does", "after", "about", "between", "unless"}  # the fields of a step that its verb does not get
NAMES = ("scope", "task", "parent")  # the fields that name a part of the story
VERBS = {name: verb for name, verb in vars(Verbs).items() if not name.startswith("_")}
TAKEN = {name: inspect.signature(verb) for name, verb in VERBS.items()}
KNOWN = {
    "does": VERBS,
    "who": {**AGENCY["agents"], **AGENCY["people"]},
    "agent": AGENCY["agents"],
    "kind": AGENCY["kinds"],
    "answer": AGENCY["answers"],
}

Fields = dict[str, Any]  # of a step or an event


class DayError(Exception):
    """The day cannot be played. The message names the event, or the story and its step."""


def live(now: datetime) -> dict[str, str]:
    """Live the day of day.toml, which ends ``now``; return the API key of each agent by its name."""
    return Player(read(FILE.read_text()), now).play()


def read(text: str) -> Fields:
    """Return the day of this text. Raise `DayError` if a verb, field, story or name in it does not exist."""
    with _naming("the file"):
        day = tomllib.loads(text)
        begins, stories = day["crowds"] + day["events"], day["stories"]
    for begin in begins:
        with _naming(f"event {begin}"):
            _known("story", begin["story"], stories)
            _ago(begin.get("at", "0:00"))
            agency.values(begin)
    for name, number, step in ((name, *step) for name, steps in stories.items() for step in enumerate(steps, 1)):
        with _naming(f"step {number} of the story {name}, {step}"):
            for field, names in [*KNOWN.items(), ("story", stories)]:
                _known(field, step.get(field, "{}"), names)
            TAKEN[step["does"]].bind(None, **_fields(step))
            agency.values({field: value for field, value in step.items() if "{" not in str(value)})
    return day


class Player:
    """Plays stories side by side, in the order of their steps, in a day that ends ``now``."""

    def __init__(self, day: Fields, now: datetime) -> None:
        self._day, self._now, self._clock = day, now, now - LENGTH
        self._chance = Random(SEED)  # noqa: S311 (a day that varies, no secret)
        self._numbers = count()  # of two stories that are due at once, the earlier one is first
        self._due: list[tuple[datetime, int, Story]] = []

    def play(self) -> dict[str, str]:
        """Play the day; return the API keys. A story that goes on after the day stays as it is then."""
        receivers = self._day["callbacks"] | {"until": self._now - _ago(self._day["callbacks"]["safe"])}
        with self._ruling():
            office = Office()
            self._verbs = Verbs(office, self._chance, receivers, tell=self._told, start=self._start)
            for at, name, named in self._begins():
                with _naming(f"a begin of the story {name}, {named}"):
                    self._start(self._told(name, agency.values(named)), at=at)
            while self._due and self._due[0][0] <= self._now:
                self._clock, _, story = heapq.heappop(self._due)
                pause = next(story, None)
                if pause is not None:
                    self._start(story, at=self._clock + timedelta(seconds=pause))
        office.note_last_calls()
        rollups.roll()
        return office.keys

    def _begins(self) -> Iterator[tuple[datetime, str, Fields]]:
        """Yield each begin of a story: its time, its name and its values."""
        for crowd in self._day["crowds"]:
            for number, at in enumerate(self._times(crowd["times"])):
                yield at, crowd["story"], {name: row[number % len(row)] for name, row in crowd["cycle"].items()}
        for event in self._day["events"]:
            yield self._now - _ago(event["at"]), event["story"], event

    def _times(self, number: int) -> list[datetime]:
        """Return so many times of the day in their order, most of them in its busy hours."""
        first, by_hour = self._now - LENGTH, self._day["by_hour"]
        minutes = [first + minute * MINUTE for minute in range((LENGTH - _ago(self._day["quiet"])) // MINUTE)]
        chosen = self._chance.choices(minutes, [by_hour[minute.hour] for minute in minutes], k=number)
        return sorted(minute + timedelta(seconds=self._chance.uniform(0, 60)) for minute in chosen)

    def _start(self, story: Story, *, at: datetime | None = None) -> None:
        """Let the story act for the first time at that time, None for now."""
        heapq.heappush(self._due, (at or self._clock, next(self._numbers), story))

    def _told(self, name: str, scope: Scope) -> Story:
        for number, step in enumerate(self._day["stories"][name], 1):
            with _naming(f"step {number} of the story {name}, {step}"):
                if "unless" in step and scope[step["unless"]]:
                    continue
                yield from self._paused(step)
                fields = filled(_fields(step), scope | {"now": self._clock})
                named = {name: (scope | {"scope": scope})[fields[name]] for name in NAMES if name in fields}
                yield from VERBS[step["does"]](self._verbs, **fields | named) or ()

    def _paused(self, step: Fields) -> Story:
        if "about" in step:
            yield spread(step["about"], self._chance)
        if "between" in step:
            yield self._chance.uniform(*step["between"])
        if "after" in step:
            yield step["after"]

    @contextmanager
    def _ruling(self) -> Iterator[None]:
        """Let Django's clock show the time of the day in the block."""
        true_now = timezone.now
        timezone.now = lambda: self._clock
        try:
            yield
        finally:
            timezone.now = true_now


def _fields(step: Fields) -> Fields:
    """Return what the verb of a step takes. Without a name of its own, a verb of a task takes the one named "task"."""
    own = {name: name for name in ("scope", "task") if name in TAKEN[step["does"]].parameters}
    return own | {name: value for name, value in step.items() if name not in PACE}


def _known(field: str, name: str, names: Mapping[str, object]) -> None:
    if name not in names and "{" not in name:
        raise DayError(f"no {field} is called {name!r}")


def _ago(at: str) -> timedelta:
    hours, minutes = at.split(":")
    return timedelta(hours=int(hours), minutes=int(minutes))


@contextmanager
def _naming(place: str) -> Iterator[None]:
    """Let an error of the data name its innermost place."""
    try:
        yield
    except (DayError, LookupError, TypeError, ValueError, AttributeError, MailboxError) as error:
        if str(error).startswith("day.toml"):
            raise
        raise DayError(f"day.toml, {place}: {error if isinstance(error, DayError) else repr(error)}") from error
