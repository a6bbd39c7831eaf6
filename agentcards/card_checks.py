"""What is wrong with the cards of an agent, as far as the hub can tell without calling anybody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.conf import settings

from agentcards import profiles
from agentcards.card_document import CardDocument
from agentcards.models import AgentCard, AgentProfile, Tool
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import BlockedUrlError
from mailbox.words.errors import InvalidRequestError


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that a good card is; ``problem`` says what is wrong and what to do, "" when it passed."""

    words: str
    problem: str = ""

    @property
    def passed(self) -> bool:
        return not self.problem


def checks_of(profile: AgentProfile, card: CardDocument, jobs: Sequence[AgentCard]) -> list[Check]:
    """Look at an agent's profile, the card made of it, and the cards that its jobs registered."""
    permitted = profile.tool_permissions or []
    known = {skill["id"] for skill in card["skills"]}
    untold = list(Tool.objects.filter(name__in=known, description="").values_list("name", flat=True))
    found = [
        Check(words="It says what the agent does", problem="" if profile.description.strip() else _NO_DESCRIPTION),
        Check(words="It offers a skill", problem="" if card["skills"] else _NO_SKILL),
        Check(
            words="Every tool the agent may use is registered",
            problem=_named("No such tool is registered", (name for name in permitted if name not in known)),
        ),
        Check(words="Every skill says what it does", problem=_named("These tools have no description", untold)),
        Check(words="Others can reach the address in it", problem=_reached(card["url"], settings.PUBLIC_URL)),
        Check(words="What the agent says of itself keeps the rules", problem=_rules(profile)),
    ]
    if profile.remote_url:
        found.append(Check(words="The hub may call where it lives", problem=_refused(profile.remote_url)))
    return found + [_of_job(job) for job in jobs]


_NO_DESCRIPTION = "It only says what kind of instance it is: describe it in its profile."
_NO_SKILL = "Nobody can tell what to ask of it: register tools, or permit it some."


def _of_job(job: AgentCard) -> Check:
    missing = [word for word, told in (("description", job.description.strip()), ("skill", job.skills)) if not told]
    missing += [
        f"description of {skill['id']}" for skill in job.skills if not str(skill.get("description", "")).strip()
    ]
    return Check(words=f"The card of its job {job.job_id} is whole", problem=_named("It has no", missing))


def _reached(url: str, public_url: str) -> str:
    if problem := _refused(url):
        return f"{problem}. Set PUBLIC_URL, now {public_url}, to an address that others reach."
    return "" if url.startswith("https://") else f"{public_url} is not encrypted: set PUBLIC_URL to https."


def _refused(url: str) -> str:
    try:
        BaseUrl.parse(url)
    except BlockedUrlError as error:
        return error.message
    return ""


def _rules(profile: AgentProfile) -> str:
    try:
        profiles.check(profile, profiles.FIELDS - profiles.SECRET_FIELDS)
    except InvalidRequestError as error:
        return "; ".join(f"{name}: {problem}" for name, problem in sorted(error.fields.items()))
    return ""


def _named(what: str, names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
    return f"{what}: {', '.join(listed[:5])}{more}" if listed else ""
