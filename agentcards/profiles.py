"""Profiles of agents, the right to change them, and the choice of the agent for a task that names no recipient.

Source: corvid-agent, invariant 3.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError

from agentcards.models import AgentProfile, RemoteOutage, Tool
from mailbox.access import audit
from mailbox.access.agents import registration
from mailbox.access.agents.registration import Registration
from mailbox.access.callers import Caller
from mailbox.access.requests import Request
from mailbox.database.paging import Page, after, in_turn, page
from mailbox.journal import hub_entries
from mailbox.models import Agent
from mailbox.words.ed25519 import KeyProof
from mailbox.words.errors import InvalidRequestError
from mailbox.words.kinds import Entry

# An agent may change these fields itself. The other fields decide which tasks reach it, and which URL the hub calls.
OWN_FIELDS = frozenset(
    {
        *("description", "persona_archetype", "skill_bundles", "wallet_address"),
        *("input_modes", "output_modes", "card_version", "documentation_url", "icon_url"),
    }
)
FIELDS = OWN_FIELDS | {
    *("name", "default_project", "tool_permissions", "remote_url", "card_url", "card_key"),
    *("streaming", "push_notifications", "extended_card", "card_for_0_3", "extensions", "extended_tools"),
    "message_id_is_key",
}
SECRET_FIELDS = frozenset({"remote_url", "card_url", "card_key"})  # may carry a password or a secret path


def register_agent(
    caller: Caller,
    display: str,
    *,
    pubkey: str | None = None,
    proof: KeyProof | None = None,
    profile: Mapping[str, Any] | None = None,
) -> Registration:
    """Register an agent together with its profile, in one transaction. Needs ``a2a.agents.register``.

    ``profile`` maps names of `FIELDS` to values. Fields other than ``name`` and `OWN_FIELDS` also need
    ``a2a.agents.profile``. Raises `InvalidRequestError`, `AgentConflictError`, `CapabilityMissingError`.
    """
    wanted = AgentProfile(**dict(profile or {}))
    check(wanted, FIELDS)

    def add_profile(agent: Agent, journal: audit.Journal) -> None:
        if any(getattr(wanted, name) != getattr(AgentProfile(), name) for name in FIELDS - OWN_FIELDS - {"name"}):
            journal.admit(Request.to_change_profile(agent))
        wanted.agent, wanted.changed_at = agent, journal.now
        wanted.save()

    return registration.register_agent(caller, display, pubkey=pubkey, proof=proof, also=add_profile)


def update_profile(caller: Caller, agent: Agent, changes: Mapping[str, Any]) -> AgentProfile:
    """Change the named `FIELDS` of an agent's profile, which is created if the agent has none.

    An agent may change its own `OWN_FIELDS`; every other change needs ``a2a.agents.profile``. Locks the profile.
    Journals ``agent_profile_changed`` with the new values, except URLs and keys. If no value differs, nothing is
    stored or journalled. Raises `InvalidRequestError`, `CapabilityMissingError`.
    """
    with audit.decision(caller) as journal:
        AgentProfile.objects.get_or_create(agent=agent)
        profile = AgentProfile.objects.select_for_update().get(agent=agent)
        profile.agent = Agent.objects.get(pk=agent.pk)
        changed = [name for name, value in changes.items() if getattr(profile, name) != value]
        if caller.agent != agent or not OWN_FIELDS.issuperset(changed):
            journal.admit(Request.to_change_profile(agent))
        for name in changed:
            setattr(profile, name, changes[name])
        check(profile, changed)
        if changed:
            profile.changed_at = journal.now
            profile.save(update_fields=[*changed, "changed_at"])
            forget_outage(profile, changed)
            journal.beside(change_of(profile, changed))
    return profile


def change_of(profile: AgentProfile, changed: Iterable[str]) -> Entry:
    """Return the journal row for a change of these fields. `SECRET_FIELDS` are not shown in it."""
    shown = {name: "(not shown)" if name in SECRET_FIELDS else getattr(profile, name) for name in changed}
    return hub_entries.AgentProfileChangedEntry(profile.agent.display, shown)


def forget_outage(profile: AgentProfile, changed: Collection[str]) -> None:
    """Let the hub call the agent at once if its URL or key is among the ``changed`` fields."""
    if not SECRET_FIELDS.isdisjoint(changed):
        RemoteOutage.objects.filter(agent=profile.agent_id).delete()


def listing(*, limit: int, cursor: str | None = None) -> Page[AgentProfile]:
    """Return a page of the profiles of all agents, by the agents' names: an empty one for an agent without a profile.

    Raises `InvalidRequestError` for a cursor of another list.
    """
    position = after(cursor, "profiles", (str,))
    agents = in_turn(Agent.objects.select_related("profile"), ("display",), position, most=limit + 1)
    profiles = ((getattr(agent, "profile", None) or AgentProfile(agent=agent), at) for agent, at in agents)
    return page(profiles, limit, "profiles")


def every_profile() -> Sequence[AgentProfile]:
    """Return the stored profiles with their agents, in the order of the agents' registration."""
    return list(AgentProfile.objects.select_related("agent").order_by("agent_id"))


def check(profile: AgentProfile, fields: Collection[str]) -> None:
    """Raise `InvalidRequestError` with the problem of each invalid field among ``fields``."""
    # Django skips all checks for an empty value of a field that may be blank, even the check for null.
    if nulls := [name for name in fields if name != "tool_permissions" and getattr(profile, name) is None]:
        raise InvalidRequestError(dict.fromkeys(nulls, "must not be null"))
    others = {field.name for field in profile._meta.fields} - set(fields)
    try:
        profile.clean_fields(exclude=others)
        profile.check_remote()
    except ValidationError as error:
        problems = {field: " ".join(messages) for field, messages in error.message_dict.items()}
        raise InvalidRequestError(problems) from error


def recipient_for(skill: str | None = None, *, skill_first: bool = False) -> Agent | None:
    """Return the first agent with a default project, else the first with ``skill``; None when neither exists.

    With ``skill_first`` the agent with ``skill`` comes first. An agent has the skills that its card lists. Of several
    agents with the skill, the first with a default project or a list of permitted tools is chosen, else the first.
    An agent without a profile is never chosen.
    """
    profiles = every_profile()
    in_project = next((profile for profile in profiles if profile.default_project), None)
    if skill is None or (in_project and not skill_first):
        chosen = in_project
    else:
        chosen = _first_with(skill, profiles) or in_project
    return chosen.agent if chosen else None


def _first_with(skill: str, profiles: Sequence[AgentProfile]) -> AgentProfile | None:
    tool = Tool.objects.filter(name=skill).first()
    having = [profile for profile in profiles if tool and profile.has(tool)]
    meant = (profile for profile in having if profile.default_project or profile.tool_permissions is not None)
    return next(meant, None) or next(iter(having), None)
