"""The travel agency of agency.toml: its trips, the texts of its tasks, and what its agents answer."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from string import Formatter
from types import SimpleNamespace
from typing import Any

AGENCY: dict[str, Any] = tomllib.loads((Path(__file__).parent / "agency.toml").read_text())
WORDS = AGENCY["words"]
CITIES = {name: SimpleNamespace(name=name, **city) for name, city in AGENCY["cities"].items()}
ALONE = re.compile(r"\{([^{}:]+)\}")

Values = Mapping[str, Any]  # of a story, by the names that its texts have in braces


class Trip:
    """The wish of a customer. A number of the agency's books names the same trip in every program."""

    def __init__(self, number: int) -> None:
        chance, travellers = Random(number), WORDS["travellers"]  # noqa: S311 (a day that varies, no secret)
        self.number = number
        self.who, self.party = travellers[number % len(travellers)]
        people = sum(int(word) for word in self.party.split() if word.isdigit())
        self.nights = chance.randint(2, 5)
        self.budget = (chance.randint(260, 420) + 95 * self.nights) * people // 50 * 50
        self.city = chance.choice([*CITIES.values()])
        self.day = chance.randint(5, 24)
        self.last_day, self.free_from = self.day + self.nights, self.day + self.nights + 1
        self.deposit = self.budget // 50 * 10
        self.dates = f"{self.day} to {self.last_day} January"
        self.pages: Sequence[str] = filled(WORDS["pages"], {"trip": self})
        self.calendar: str = filled(WORDS["calendar"], {"trip": self}).replace("\n", "\r\n")


READ: dict[str, Callable[[Any], Any]] = {"trip": Trip, "city": CITIES.__getitem__, "mail": WORDS["mails"].__getitem__}


def values(named: Values) -> dict[str, Any]:
    """Return the values of a story that names a trip, a city, a hotel of that city, or a mail."""
    read = {name: READ[name](value) if name in READ else value for name, value in named.items()}
    return read | {"hotel": read["city"].hotels[read["hotel"]]} if "hotel" in read else read


def filled(template: Any, values: Values) -> Any:
    """Return the template with the values of its names in braces. A text of one such name becomes its value."""
    if isinstance(template, dict):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    alone = ALONE.fullmatch(template)
    return Formatter().get_field(alone[1], (), values)[0] if alone else template.format_map(values)


def reply(name: str, values: Values, chance: Random, *, fails: float | None = None) -> dict[str, Any]:
    """Return the fields of a result: the answer of this name. ``fails`` replaces its share of failures."""
    answer = AGENCY["answers"][name]
    values = {**values, **DRAWS[answer["draws"]](values, chance)} if "draws" in answer else values
    share = answer.get("fails", 0) if fails is None else fails
    error = chance.choice(answer["errors"]) if "errors" in answer and chance.random() < share else answer.get("error")
    if "rejects" in answer and values["trip"].budget > answer["most_budget"]:
        return {"status": "rejected", "error_message": filled(answer["rejects"], values)}
    if error:
        return {"status": "error", "error_message": filled(error, values)}
    return {"status": answer.get("status", "ok"), "content": filled(answer["content"], values)}


def _offers(_: Values, chance: Random) -> Values:
    offers, cheapest = [], (10_000, "")
    for airline, code in chance.sample(WORDS["airlines"], 2):
        fare, flight = chance.randint(78, 240), f"{code} {chance.randint(110, 989)}"
        departs = f"{chance.randint(6, 20):02}:{chance.choice((5, 20, 45)):02}"
        offers.append({"airline": airline, "flight": flight, "departs": departs, "eur_each": fare})
        cheapest = min(cheapest, (fare, f"{flight} at {departs}"))
    return {"offers": offers, "fare": cheapest[0], "flight": cheapest[1]}


def _prices(values: Values, chance: Random) -> Values:
    city = values["city"] if "city" in values else values["trip"].city
    prices = {hotel: chance.randint(84, 210) for hotel in city.hotels}
    best = min(prices, key=prices.__getitem__)
    nights = values["trip"].nights if "trip" in values else 1
    return {"prices": prices, "hotel": best, "total": prices[best] * nights}


DRAWS = {"offers": _offers, "prices": _prices}
