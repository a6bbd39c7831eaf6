"""The kinds of journal rows, and a row before it is written. `mailbox.journal` has a class for each."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, dataclass_transform
from uuid import UUID


class Kind(StrEnum):
    CAPABILITY_CHECK = "capability_check"
    CAPABILITY_SCOPE_REJECTED = "capability_scope_rejected"
    CAPABILITY_GRANTED = "capability_granted"
    CAPABILITY_REVOKED = "capability_revoked"
    AUTHENTICATION_FAILED = "authentication_failed"
    AGENT_REGISTERED = "agent_registered"
    AGENT_PROFILE_CHANGED = "agent_profile_changed"
    AGENT_PAUSED = "agent_paused"
    AGENT_RESUMED = "agent_resumed"
    AGENT_OPENED = "agent_opened"
    AGENT_CLOSED = "agent_closed"
    AGENT_RECLAIMED = "agent_reclaimed"
    AGENT_CARD_REGISTERED = "agent_card_registered"
    AGENT_CARD_DEREGISTERED = "agent_card_deregistered"
    AGENT_CARDS_CLEARED = "agent_cards_cleared"
    TOOLS_IMPORTED = "tools_imported"
    TOOL_CHANGED = "tool_changed"
    TOOL_REMOVED = "tool_removed"
    PERSON_ADDED = "person_added"
    PERSON_CHANGED = "person_changed"
    PERSON_SIGNED_IN = "person_signed_in"
    PERSON_SIGN_IN_FAILED = "person_sign_in_failed"
    PERSON_LOCKED_OUT = "person_locked_out"
    PERSON_SIGNED_OUT = "person_signed_out"
    SECOND_FACTOR_ADDED = "second_factor_added"
    SECOND_FACTOR_REMOVED = "second_factor_removed"
    RECOVERY_CODE_USED = "recovery_code_used"
    RECOVERY_CODES_RENEWED = "recovery_codes_renewed"
    VIEW_SHARED = "view_shared"
    VIEW_UNSHARED = "view_unshared"
    KEY_ADDED = "key_added"
    KEY_ROTATED = "key_rotated"
    PUSH_CONFIG_SET = "push_config_set"
    PUSH_CONFIG_DELETED = "push_config_deleted"
    PUSH_RESENT = "push_resent"
    KEY_REVOKED = "key_revoked"
    SIGNING_KEY_SET = "signing_key_set"
    SIGNING_KEY_RETIRED = "signing_key_retired"
    ROUTE_ADDED = "route_added"
    ROUTE_REVOKED = "route_revoked"
    HUB_BACKED_UP = "hub_backed_up"
    HUB_RESTORED = "hub_restored"
    SECRETS_RESEALED = "secrets_resealed"
    ERASED = "a2a_erased"

    TASK_SENT = "a2a_task_sent"
    TASK_LEASED = "a2a_task_leased"
    TASK_RELEASED = "a2a_task_released"
    TASK_CANCELLED = "a2a_task_cancelled"
    TASK_EXPIRED = "a2a_task_expired"
    TASK_UPDATED = "a2a_task_updated"
    TASK_ASKED = "a2a_task_asked"
    MESSAGE_SENT = "a2a_message_sent"
    TASK_WOKEN = "a2a_task_woken"
    TASKS_COMPACTED = "a2a_tasks_compacted"
    RESULT_POSTED = "a2a_result_posted"
    RESULT_DELIVERED = "a2a_result_delivered"
    RESULT_ACKED = "a2a_result_acked"
    RESULT_REPLAYED = "a2a_result_replayed"
    REPLAY_DROPPED = "a2a_replay_dropped"

    QUOTA_EXCEEDED = "a2a_quota_exceeded"
    QUOTA_CHANGED = "a2a_quota_changed"
    REFUSALS_REPEATED = "a2a_refusals_repeated"
    SENDER_MISMATCH = "a2a_sender_mismatch"
    RESULT_REJECTED = "a2a_result_rejected"
    REPAIR_APPLIED = "a2a_repair_applied"
    REPAIR_REFUSED = "a2a_repair_refused"
    REPAIR_PLAN_MADE = "a2a_repair_plan_made"
    REPAIR_PLAN_APPLIED = "a2a_repair_plan_applied"
    REPAIR_PLAN_DISCARDED = "a2a_repair_plan_discarded"
    SWEEP_FAILED = "a2a_sweep_failed"
    ALERT_SENT = "a2a_alert_sent"
    AUTO_RETRY_SCAN = "a2a_auto_retry_scheduler_scan"


# The kinds of nearly all rows: every task writes them. The index by kind leaves them out.
FREQUENT = (
    Kind.CAPABILITY_CHECK,
    Kind.TASK_SENT,
    Kind.TASK_LEASED,
    Kind.TASK_UPDATED,
    Kind.RESULT_POSTED,
    Kind.RESULT_DELIVERED,
    Kind.RESULT_ACKED,
)


@dataclass_transform(field_specifiers=(field,))
class JournalRow:
    """A journal row before it is written. Each kind of row is a class, and its fields are the data of such a row."""

    row_kind: ClassVar[Kind]
    _defaults: ClassVar[Sequence[tuple[str, object]]]  # of the fields, by their names

    def __init_subclass__(cls, kind: Kind | None = None) -> None:
        made: type[Any] = dataclass(eq=False, repr=False)(cls)  # so its import is quicker by a third
        cls._defaults = [(one.name, one.default) for one in fields(made)]
        if kind is not None:
            cls.row_kind = kind

    @property
    def data(self) -> dict[str, Any]:
        """Return the fields as JSON holds them. A field with a default is left out while it has the default."""
        values = ((name, getattr(self, name), default) for name, default in self._defaults)
        return {name: _plain(value) for name, value, default in values if value is not default}


class LifeEntry(JournalRow):
    """A journal row that gets the next number of its task."""


class Entry(JournalRow):
    """A journal row outside the numbered rows of a task. ``task_id`` is the task it concerns, None if there is none."""

    task_id: UUID | None = field(default=None, kw_only=True)

    @property
    def data(self) -> dict[str, Any]:
        data = super().data
        data.pop("task_id", None)
        return data


def _plain(value: object) -> object:
    if isinstance(value, UUID):
        return str(value)
    return value.isoformat() if isinstance(value, datetime) else value
