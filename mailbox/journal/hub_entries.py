"""Rows about the hub, its agents, their profiles and cards, tools, quotas, and refusals that repeat."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from mailbox.words.kinds import Entry, Kind


class AgentRegisteredEntry(Entry, kind=Kind.AGENT_REGISTERED):
    """An agent was registered. ``proven`` None: the hub made the key pair."""

    display: Annotated[str, "display of the agent"]
    pubkey: Annotated[str, "its public key"]
    proven: Annotated[bool | None, "whether the registrar proved the private key; absent if the hub made it"] = None


class SigningKeySetEntry(Entry, kind=Kind.SIGNING_KEY_SET):
    """An agent got a signing key, whose holder proved the private key."""

    display: Annotated[str, "display of the agent"]
    pubkey: Annotated[str, "the public key by which it signs its requests now"]
    replaced: Annotated[str, "the public key that was retired; empty without one"]


class SigningKeyRetiredEntry(Entry, kind=Kind.SIGNING_KEY_RETIRED):
    """An agent's signing key was retired without a successor."""

    display: Annotated[str, "display of the agent"]
    pubkey: Annotated[str, "the public key that signs nothing any more"]


class AgentPausedEntry(Entry, kind=Kind.AGENT_PAUSED):
    """An agent was paused, or the reason of its pause was changed."""

    display: Annotated[str, "display of the agent"]
    reason: Annotated[str, "why it was paused"]


class AgentResumedEntry(Entry, kind=Kind.AGENT_RESUMED):
    """A paused agent was resumed."""

    display: Annotated[str, "display of the agent"]
    reason: Annotated[str, "why it was resumed; empty without a reason"]
    was_paused_for: Annotated[str, "why it had been paused"]


class _OpennessEntry(Entry):
    display: Annotated[str, "display of the agent"]
    reason: Annotated[str, "why; empty without a reason"]


class AgentOpenedEntry(_OpennessEntry, kind=Kind.AGENT_OPENED):
    """An agent was opened to callers without a key."""


class AgentClosedEntry(_OpennessEntry, kind=Kind.AGENT_CLOSED):
    """An open agent was closed to callers without a key."""


class AgentReclaimedEntry(Entry, kind=Kind.AGENT_RECLAIMED):
    """The hub took back one of its own agents from a program that could act as it."""

    display: Annotated[str, "display of the hub's own agent"]
    was: Annotated[str, "display that it had"]
    pubkey: Annotated[str, "its new public key"]
    old_pubkey: Annotated[str, "public key that it had"]


class AgentProfileChangedEntry(Entry, kind=Kind.AGENT_PROFILE_CHANGED):
    """An agent's profile was changed."""

    display: Annotated[str, "display of the agent"]
    changed: Annotated[Mapping[str, Any], "new values by field; a remote URL is not shown"]


class AgentCardRegisteredEntry(Entry, kind=Kind.AGENT_CARD_REGISTERED):
    """The card of a running job was registered or replaced."""

    job_id: Annotated[str, "id of the job"]
    name: Annotated[str, "name of the agent that the job runs"]
    skill_count: Annotated[int, "number of skills on the card"]
    removed_job_ids: Annotated[Sequence[str], "jobs whose cards of the same name were removed"]


class AgentCardDeregisteredEntry(Entry, kind=Kind.AGENT_CARD_DEREGISTERED):
    """The card of a job was removed."""

    job_id: Annotated[str, "id of the job"]
    name: Annotated[str, "name of the agent that the job ran"]


class AgentCardsClearedEntry(Entry, kind=Kind.AGENT_CARDS_CLEARED):
    """All cards were removed."""

    removed: Annotated[int, "number of cards"]


class ToolsImportedEntry(Entry, kind=Kind.TOOLS_IMPORTED):
    """Tools were imported from an MCP listing."""

    added: Annotated[Sequence[str], "names of new tools"]
    changed: Annotated[Sequence[str], "names of tools that were changed"]
    default: Annotated[bool, "whether the import made them default tools"]


class ToolChangedEntry(Entry, kind=Kind.TOOL_CHANGED):
    """An admin added or changed a tool."""

    name: Annotated[str, "name of the tool"]
    changed: Annotated[Mapping[str, Any], "new values by field"]


class ToolRemovedEntry(Entry, kind=Kind.TOOL_REMOVED):
    """An admin removed a tool."""

    name: Annotated[str, "name of the tool"]


class QuotaExceededEntry(Entry, kind=Kind.QUOTA_EXCEEDED):
    """A request was refused because its agent or person has reached a quota."""

    quota: Annotated[str, "name of the quota: queued, queued_to_one, bytes, callbacks, waits or cards"]
    agent: Annotated[str, "display of the agent that reached it, or name of the person"]
    limit: Annotated[int, "the quota"]


class QuotaChangedEntry(Entry, kind=Kind.QUOTA_CHANGED):
    """An agent got a quota of its own, or the setting again."""

    quota: Annotated[str, "name of the quota"]
    agent: Annotated[str, "display of the agent that has it"]
    recipient: Annotated[str | None, "display of the recipient; null for all recipients"]
    before: Annotated[int | None, "the quota until now; null for the setting"]
    limit: Annotated[int | None, "the quota from now on; null for the setting"]


class RefusalsRepeatedEntry(Entry, kind=Kind.REFUSALS_REPEATED):
    """One actor was refused the same so often, beyond the rows that the journal has of it."""

    kind: Annotated[str, "kind of the rows that were left out"]
    action: Annotated[str, "what was refused: an action, the name of a quota, or a code"]
    count: Annotated[int, "number of refusals that the row stands for"]


class HubBackedUpEntry(Entry, kind=Kind.HUB_BACKED_UP):
    """A backup was written."""

    file: Annotated[str, "path of the backup"]
    sha256: Annotated[str, "checksum of the database in the backup"]
    tasks: Annotated[int, "number of tasks in the backup"]
    with_secret: Annotated[
        bool, "whether the backup holds the hub's secret; off if it was left out or is in the environment"
    ]


class HubRestoredEntry(Entry, kind=Kind.HUB_RESTORED):
    """The hub was restored from a backup; the row is in the restored journal."""

    file: Annotated[str, "path of the backup"]
    sha256: Annotated[str, "checksum of the database in the backup"]
    made_at: Annotated[str, "time of the backup; later decisions of the hub are not in its journal"]
    tasks: Annotated[int, "number of tasks in the backup"]


class ErasedEntry(Entry, kind=Kind.ERASED):
    """One step of an erasure was done. The row backs the tombstones that name it."""

    subject: Annotated[str, "task:<id> or agent:<display>, as the request named it"]
    reason: Annotated[str, "why the payload was erased"]
    rows: Annotated[Sequence[int], "ids of the journal rows whose data was erased in this step"]
    erased: Annotated[Mapping[str, int], "number of erased rows by table"]


class SecretsResealedEntry(Entry, kind=Kind.SECRETS_RESEALED):
    """The stored secrets were encrypted again under the newest secret of the hub."""

    resealed: Annotated[int, "number of secrets that were encrypted again"]
    unreadable: Annotated[int, "number of secrets that no known secret of the hub decrypts"]


class AlertSentEntry(Entry, kind=Kind.ALERT_SENT):
    """Decisions were reported to people outside the dashboard. A test alert has no decisions."""

    subjects: Annotated[Sequence[str], "the decisions that were reported, in words"]
    ended: Annotated[Sequence[str], "the decisions that were reported before and no longer wait, in words"]
    to: Annotated[Sequence[str], "the channels that took the alert: webhook, mail"]
