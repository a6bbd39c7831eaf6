"""The words of a travel agency's day: cities, travellers, offers, and what goes wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

Block = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class City:
    name: str
    airport: str
    hotels: Sequence[str]
    sight: str
    walk: str
    dinner: str


CITIES = (
    City(
        name="Lisbon",
        airport="LIS",
        hotels=("Casa do Jasmim", "Hotel Alto da Bica", "Pensão Graça"),
        sight="the tile museum",
        walk="from the castle down to the river",
        dinner="grilled sardines in Alfama",
    ),
    City(
        name="Porto",
        airport="OPO",
        hotels=("Hotel Ribeira Velha", "Casa das Camélias", "Douro Terrace"),
        sight="the port cellars in Gaia",
        walk="over the upper deck of the bridge",
        dinner="francesinha near Bolhão market",
    ),
    City(
        name="Vienna",
        airport="VIE",
        hotels=("Pension Rosenhof", "Hotel am Naschmarkt", "Zum Blauen Krug"),
        sight="the museum of natural history",
        walk="through the Prater",
        dinner="a wine tavern in Grinzing",
    ),
    City(
        name="Prague",
        airport="PRG",
        hotels=("Hotel U Lípy", "Pension Kampa", "Zlatá Hvězda"),
        sight="the astronomical clock",
        walk="along the vineyards below the castle",
        dinner="roast duck in Žižkov",
    ),
    City(
        name="Copenhagen",
        airport="CPH",
        hotels=("Hotel Havnen", "Nørrebro Rooms", "Skibet"),
        sight="the design museum",
        walk="along the harbour to the opera",
        dinner="smørrebrød at Torvehallerne",
    ),
    City(
        name="Seville",
        airport="SVQ",
        hotels=("Casa de los Naranjos", "Hotel Triana", "Patio San Luis"),
        sight="the Alcázar",
        walk="through Santa Cruz after nightfall",
        dinner="tapas in Triana",
    ),
    City(
        name="Edinburgh",
        airport="EDI",
        hotels=("The Old Printworks", "Leith Harbour Inn", "Calton Rooms"),
        sight="the national museum",
        walk="up to Arthur's Seat",
        dinner="a fish supper in Leith",
    ),
    City(
        name="Ljubljana",
        airport="LJU",
        hotels=("Hotel Pod Gradom", "Hiša Trnovo", "Ljubljanica Rooms"),
        sight="the castle",
        walk="along the river to Špica",
        dinner="open kitchen on the market square",
    ),
)
TRAVELLERS = (
    ("the Moreira family", "2 adults and 2 children"),
    ("Ms Lindqvist", "1 adult"),
    ("Mr and Mrs Okafor", "2 adults"),
    ("the Novak sisters", "3 adults"),
    ("Dr Halloran", "1 adult"),
    ("the choir of St Anne", "14 adults"),
    ("the Demir family", "2 adults and 1 child"),
    ("Mr Castellanos", "1 adult"),
    ("the Dubois couple", "2 adults"),
    ("a party of four from Graz", "4 adults"),
)
AIRLINES = (("Northwing", "NW"), ("Iberwing", "IW"), ("Alpenjet", "AJ"))
NO_FLIGHT = (
    "The site of Northwing answered 503 three times.",
    "No seats are left on that day.",
    "The fare search timed out after 30 s.",
)
NO_ROOM = (
    "No hotel near the centre has a room for this party.",
    "The rates of all three hotels are older than a day.",
)
NO_PAYMENT = (
    "Card declined: insufficient funds.",
    "Card declined: the bank asks for a confirmation by the holder.",
    "The card processor did not answer within 30 s.",
)
PROCESSOR_DOWN = "The card processor answered 502 Bad Gateway."
MAILS = (
    "Please confirm that the room has a cot, and that breakfast is from seven.",
    "We arrive after ten in the evening. Is the reception open then?",
    "One of our guests eats no gluten. Can the kitchen cook for her?",
    "May the travellers leave their luggage until their train at six?",
    "Please send the invoice to the agency, and not to the guests.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trip:
    """The wish of a customer. ``number`` is the trip's number in the agency's books."""

    number: int
    city: City
    who: str
    party: str
    day: int
    nights: int
    budget: int

    @classmethod
    def of(cls, number: int) -> Trip:
        """Return the trip of this number, which is the same in every program."""
        chance = Random(number)  # noqa: S311 (a day that varies, no secret)
        who, party = TRAVELLERS[number % len(TRAVELLERS)]
        people = sum(int(word) for word in party.split() if word.isdigit())
        nights = chance.randint(2, 5)
        budget = (chance.randint(260, 420) + 95 * nights) * people // 50 * 50
        city = CITIES[chance.randrange(len(CITIES))]
        return cls(
            number=number, city=city, who=who, party=party, day=chance.randint(5, 24), nights=nights, budget=budget
        )

    @property
    def dates(self) -> str:
        return f"{self.day} to {self.day + self.nights} January"

    @property
    def deposit(self) -> str:
        return f"{self.budget // 50 * 10:,} EUR"

    @property
    def wish(self) -> str:
        return (
            f"Plan a trip to {self.city.name} for {self.who}: {self.party}, {self.dates}, "
            f"at most {self.budget:,} EUR. Trip {self.number}."
        )


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def data(value: object) -> Block:
    return {"type": "json", "value": value}


def find_flights(trip: Trip) -> str:
    return f"Find seats to {trip.city.name} for {trip.party} on {trip.day} January, back {trip.nights} days later"


def hold_rooms(trip: Trip) -> str:
    return f"Hold rooms in {trip.city.name} for {trip.party}, {trip.dates}, for trip {trip.number}"


def take_deposit(trip: Trip) -> str:
    return f"Take a deposit of {trip.deposit} for trip {trip.number} from the card on file"


def write_itinerary(trip: Trip) -> str:
    return f"Write the itinerary of trip {trip.number}: {trip.city.name} for {trip.who}, {trip.dates}"


def receipt(trip: Trip) -> Block:
    return text(f"Taken: {trip.deposit}, receipt {trip.number}-1.")


def flights(trip: Trip, chance: Random) -> list[Block]:
    offers, cheapest = [], (10_000, "")
    for airline, code in chance.sample(AIRLINES, 2):
        fare, flight = chance.randint(78, 240), f"{code} {chance.randint(110, 989)}"
        departs = f"{chance.randint(6, 20):02}:{chance.choice((5, 20, 45)):02}"
        offers.append({"airline": airline, "flight": flight, "departs": departs, "eur_each": fare})
        cheapest = min(cheapest, (fare, f"{flight} at {departs}"))
    words = f"{cheapest[1]} is the cheapest: {cheapest[0]} EUR for each person."
    return [text(words), data({"to": trip.city.airport, "day": f"{trip.day} January", "offers": offers})]


def rooms(trip: Trip, chance: Random) -> list[Block]:
    prices = {hotel: chance.randint(84, 210) for hotel in trip.city.hotels}
    best = min(prices, key=prices.__getitem__)
    total = prices[best] * trip.nights
    words = f"{best}: {trip.nights} nights for {total:,} EUR, breakfast included. Held until tomorrow, noon."
    return [text(words), data({"eur_per_night": prices, "nights": trip.nights, "party": trip.party})]


def rates(city: City, chance: Random) -> list[Block]:
    return [data({"city": city.name, "eur_per_night": {hotel: chance.randint(84, 210) for hotel in city.hotels}})]


def itinerary(trip: Trip) -> Sequence[str]:
    """Return the pages of an itinerary in Markdown, as a writer brings them one by one."""
    city = trip.city
    return (
        f"# {city.name} for {trip.who}\n\n{trip.dates}, {trip.party}.\n\n",
        f"**Day 1.** Arrival at {city.airport}, and the evening walk {city.walk}.\n\n",
        f"**Day 2.** In the morning {city.sight}. In the evening {city.dinner}.\n\n",
        "**Last day.** The room is free until noon. The shuttle leaves from the station every 20 minutes.\n",
    )


def calendar(trip: Trip) -> Block:
    """Return the days of the trip as a calendar file."""
    lines = (
        *("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Travel agency//Trips//EN", "BEGIN:VEVENT"),
        f"UID:trip-{trip.number}@agency.example",
        f"DTSTART;VALUE=DATE:202701{trip.day:02}",
        f"DTEND;VALUE=DATE:202701{trip.day + trip.nights + 1:02}",
        f"SUMMARY:{trip.city.name}, {trip.who}",
        *("END:VEVENT", "END:VCALENDAR", ""),
    )
    resource: Mapping[str, str] = {
        "uri": f"attachment:trip-{trip.number}.ics",
        "text": "\r\n".join(lines),
        "mimeType": "text/calendar",
    }
    return {"type": "resource", "resource": dict(resource), "filename": f"trip-{trip.number}.ics"}
