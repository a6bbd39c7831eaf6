"""Rows about agents, their profiles and cards, tools that the hub knows, quotas, and refusals that repeat."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from mailbox.words.kinds import Entry, Kind


class AgentRegisteredData(TypedDict):
    display: Annotated[str, "display of the agent"]
    pubkey: Annotated[str, "its public key"]
    proven: NotRequired[Annotated[bool, "whether the registrar proved the private key; absent if the hub made it"]]


def agent_registered(display: str, pubkey: str, *, proven: bool | None) -> Entry[AgentRegisteredData]:
    """Record that an agent was registered. ``proven`` None: the hub made the key pair."""
    data = AgentRegisteredData(display=display, pubkey=pubkey)
    return Entry(Kind.AGENT_REGISTERED, data if proven is None else {**data, "proven": proven})


class SigningKeySetData(TypedDict):
    display: Annotated[str, "display of the agent"]
    pubkey: Annotated[str, "the public key by which it signs its requests now"]
    replaced: Annotated[str, "the public key that was retired; empty without one"]


def signing_key_set(display: str, pubkey: str, replaced: str) -> Entry[SigningKeySetData]:
    """Record that an agent got a signing key, whose holder proved the private key."""
    return Entry(Kind.SIGNING_KEY_SET, SigningKeySetData(display=display, pubkey=pubkey, replaced=replaced))


class SigningKeyRetiredData(TypedDict):
    display: Annotated[str, "display of the agent"]
    pubkey: Annotated[str, "the public key that signs nothing any more"]


def signing_key_retired(display: str, pubkey: str) -> Entry[SigningKeyRetiredData]:
    """Record that an agent's signing key was retired without a successor."""
    return Entry(Kind.SIGNING_KEY_RETIRED, SigningKeyRetiredData(display=display, pubkey=pubkey))


class AgentPausedData(TypedDict):
    display: Annotated[str, "display of the agent"]
    reason: Annotated[str, "why it was paused"]


def agent_paused(display: str, reason: str) -> Entry[AgentPausedData]:
    """Record that an agent was paused, or the reason of its pause was changed."""
    return Entry(Kind.AGENT_PAUSED, AgentPausedData(display=display, reason=reason))


class AgentResumedData(TypedDict):
    display: Annotated[str, "display of the agent"]
    reason: Annotated[str, "why it was resumed; empty without a reason"]
    was_paused_for: Annotated[str, "why it had been paused"]


def agent_resumed(display: str, reason: str, was_paused_for: str) -> Entry[AgentResumedData]:
    """Record that a paused agent was resumed."""
    return Entry(Kind.AGENT_RESUMED, AgentResumedData(display=display, reason=reason, was_paused_for=was_paused_for))


class AgentOpenedData(TypedDict):
    display: Annotated[str, "display of the agent"]
    reason: Annotated[str, "why; empty without a reason"]


def agent_opened(display: str, reason: str) -> Entry[AgentOpenedData]:
    """Record that an agent was opened to callers without a key."""
    return Entry(Kind.AGENT_OPENED, AgentOpenedData(display=display, reason=reason))


def agent_closed(display: str, reason: str) -> Entry[AgentOpenedData]:
    """Record that an open agent was closed to callers without a key."""
    return Entry(Kind.AGENT_CLOSED, AgentOpenedData(display=display, reason=reason))


class AgentReclaimedData(TypedDict):
    display: Annotated[str, "display of the hub's own agent"]
    was: Annotated[str, "display that it had"]
    pubkey: Annotated[str, "its new public key"]
    old_pubkey: Annotated[str, "public key that it had"]


def agent_reclaimed(display: str, was: str, pubkey: str, old_pubkey: str) -> Entry[AgentReclaimedData]:
    """Record that the hub took back one of its own agents from a program that could act as it."""
    data = AgentReclaimedData(display=display, was=was, pubkey=pubkey, old_pubkey=old_pubkey)
    return Entry(Kind.AGENT_RECLAIMED, data)


class AgentProfileChangedData(TypedDict):
    display: Annotated[str, "display of the agent"]
    changed: Annotated[dict[str, Any], "new values by field; a remote URL is not shown"]


def agent_profile_changed(display: str, changed: Mapping[str, Any]) -> Entry[AgentProfileChangedData]:
    """Record that an agent's profile was changed."""
    return Entry(Kind.AGENT_PROFILE_CHANGED, AgentProfileChangedData(display=display, changed=dict(changed)))


class AgentCardRegisteredData(TypedDict):
    job_id: Annotated[str, "id of the job"]
    name: Annotated[str, "name of the agent that the job runs"]
    skill_count: Annotated[int, "number of skills on the card"]
    removed_job_ids: Annotated[list[str], "jobs whose cards of the same name were removed"]


def agent_card_registered(
    job_id: str, name: str, *, skill_count: int, removed_job_ids: Sequence[str]
) -> Entry[AgentCardRegisteredData]:
    """Record that the card of a running job was registered or replaced."""
    data = AgentCardRegisteredData(
        job_id=job_id, name=name, skill_count=skill_count, removed_job_ids=list(removed_job_ids)
    )
    return Entry(Kind.AGENT_CARD_REGISTERED, data)


class AgentCardDeregisteredData(TypedDict):
    job_id: Annotated[str, "id of the job"]
    name: Annotated[str, "name of the agent that the job ran"]


def agent_card_deregistered(job_id: str, name: str) -> Entry[AgentCardDeregisteredData]:
    """Record that the card of a job was removed."""
    return Entry(Kind.AGENT_CARD_DEREGISTERED, AgentCardDeregisteredData(job_id=job_id, name=name))


class AgentCardsClearedData(TypedDict):
    removed: Annotated[int, "number of cards"]


def agent_cards_cleared(removed: int) -> Entry[AgentCardsClearedData]:
    """Record that all cards were removed."""
    return Entry(Kind.AGENT_CARDS_CLEARED, AgentCardsClearedData(removed=removed))


class ToolsImportedData(TypedDict):
    added: Annotated[list[str], "names of new tools"]
    changed: Annotated[list[str], "names of tools that were changed"]
    default: Annotated[bool, "whether the import made them default tools"]


def tools_imported(added: Sequence[str], changed: Sequence[str], *, is_default: bool) -> Entry[ToolsImportedData]:
    """Record that tools were imported from an MCP listing."""
    return Entry(Kind.TOOLS_IMPORTED, ToolsImportedData(added=list(added), changed=list(changed), default=is_default))


class ToolChangedData(TypedDict):
    name: Annotated[str, "name of the tool"]
    changed: Annotated[dict[str, Any], "new values by field"]


def tool_changed(name: str, changed: Mapping[str, Any]) -> Entry[ToolChangedData]:
    """Record that an admin added or changed a tool."""
    return Entry(Kind.TOOL_CHANGED, ToolChangedData(name=name, changed=dict(changed)))


class ToolRemovedData(TypedDict):
    name: Annotated[str, "name of the tool"]


def tool_removed(name: str) -> Entry[ToolRemovedData]:
    """Record that an admin removed a tool."""
    return Entry(Kind.TOOL_REMOVED, ToolRemovedData(name=name))


class QuotaExceededData(TypedDict):
    quota: Annotated[str, "name of the quota: queued, queued_to_one, bytes, callbacks, waits or cards"]
    agent: Annotated[str, "display of the agent that reached it, or name of the person"]
    limit: Annotated[int, "the quota"]


def quota_exceeded(quota: str, agent: str, limit: int) -> Entry[QuotaExceededData]:
    """Record that a request was refused because its agent or person has reached a quota."""
    return Entry(Kind.QUOTA_EXCEEDED, QuotaExceededData(quota=quota, agent=agent, limit=limit))


class QuotaChangedData(TypedDict):
    quota: Annotated[str, "name of the quota"]
    agent: Annotated[str, "display of the agent that has it"]
    recipient: Annotated[str | None, "display of the recipient; null for all recipients"]
    before: Annotated[int | None, "the quota until now; null for the setting"]
    limit: Annotated[int | None, "the quota from now on; null for the setting"]


def quota_changed(
    quota: str, agent: str, *, recipient: str | None, before: int | None, limit: int | None
) -> Entry[QuotaChangedData]:
    """Record that an agent got a quota of its own, or the setting again."""
    data = QuotaChangedData(quota=quota, agent=agent, recipient=recipient, before=before, limit=limit)
    return Entry(Kind.QUOTA_CHANGED, data)


class RefusalsRepeatedData(TypedDict):
    kind: Annotated[str, "kind of the rows that were left out"]
    action: Annotated[str, "what was refused: an action, the name of a quota, or a code"]
    count: Annotated[int, "number of refusals that the row stands for"]


def refusals_repeated(kind: str, action: str, count: int) -> Entry[RefusalsRepeatedData]:
    """Record how often one actor was refused the same, beyond the rows that the journal has of it."""
    return Entry(Kind.REFUSALS_REPEATED, RefusalsRepeatedData(kind=kind, action=action, count=count))
