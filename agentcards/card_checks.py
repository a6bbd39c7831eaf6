"""Checks of an agent's cards. They look at the hub's own data and call no other server."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.conf import settings

from agentcards import profiles
from agentcards.card_document import CardDocument
from agentcards.models import AgentCard, AgentProfile, Tool
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import BlockedUrlError
from mailbox.words.errors import InvalidRequestError

_NO_DESCRIPTION = "No description. Add one to the profile."
_NO_SKILL = "No skills listed. Register or allow tools."


@dataclass(frozen=True, slots=True, kw_only=True)
class CardCheck:
    """A check of an agent's card. ``problem`` says what is wrong and what to do; "" if the check passed.

    A problem that ``is_note`` is harmless: the card works, and could say more.
    """

    words: str
    problem: str = ""
    is_note: bool = False

    @property
    def passed(self) -> bool:
        return not self.problem


def checks_of(profile: AgentProfile, card: CardDocument, jobs: Sequence[AgentCard]) -> list[CardCheck]:
    """Check an agent's profile, its card, and the cards that its jobs registered."""
    permitted = profile.tool_permissions or []
    known = {skill["id"] for skill in card["skills"]}
    undescribed = list(Tool.objects.filter(name__in=known, description="").values_list("name", flat=True))
    checks = [
        _note("Description", "" if profile.description.strip() else _NO_DESCRIPTION),
        _note("Skills", "" if card["skills"] else _NO_SKILL),
        CardCheck(
            words="All allowed tools are registered",
            problem=_named("Not registered", (name for name in permitted if name not in known)),
        ),
        _note("All skills have a description", _named("No description", undescribed)),
        CardCheck(words="Profile valid", problem=_rules(profile)),
        _note("Public URL reachable over HTTPS", _reached(card["url"], settings.PUBLIC_URL)),
    ]
    if profile.is_remote:
        checks.append(CardCheck(words="Remote URL allowed", problem=_refused(profile.called_url)))
    return checks + [_of_job(job) for job in jobs]


def _note(words: str, problem: str) -> CardCheck:
    return CardCheck(words=words, problem=problem, is_note=True)


def _of_job(job: AgentCard) -> CardCheck:
    missing = [word for word, value in (("description", job.description.strip()), ("skill", job.skills)) if not value]
    missing += [
        f"description of {skill['id']}" for skill in job.skills if not str(skill.get("description", "")).strip()
    ]
    return _note(f"Card of job {job.job_id} complete", _named("Missing", missing))


def _reached(url: str, public_url: str) -> str:
    if problem := _refused(url):
        return f"{problem}. Set PUBLIC_URL, which is {public_url}."
    return "" if url.startswith("https://") else f"{public_url} is not encrypted. Set PUBLIC_URL to an https URL."


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
