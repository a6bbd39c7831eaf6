from __future__ import annotations

from mailbox.models.agent import Agent
from mailbox.models.alert import Alert
from mailbox.models.api_key import ApiKey
from mailbox.models.artifact import Artifact
from mailbox.models.audit import AuditEvent
from mailbox.models.depth import Depth
from mailbox.models.failure import Failure
from mailbox.models.grant import CapabilityGrant
from mailbox.models.last_pass import LastPass
from mailbox.models.lease import Lease
from mailbox.models.message import Message
from mailbox.models.pair_count import PairCount
from mailbox.models.peer import Peer
from mailbox.models.public_route import PublicRoute
from mailbox.models.push import PushAttempt, PushConfig, PushDelivery
from mailbox.models.rate_window import RateWindow
from mailbox.models.repair_plan import RepairPlan, RepairPlanRow
from mailbox.models.replay_entry import ReplayEntry
from mailbox.models.result import Result
from mailbox.models.rollup import RollUp, RollUpTurn
from mailbox.models.saved_view import SavedView
from mailbox.models.seal import Seal
from mailbox.models.second_factor import RecoveryCodes, SecondFactor
from mailbox.models.signing_key import SigningKey
from mailbox.models.spent_nonce import SpentNonce
from mailbox.models.stock import PairStock, SenderStock
from mailbox.models.task import Task

__all__ = [
    "Agent",
    "Alert",
    "ApiKey",
    "Artifact",
    "AuditEvent",
    "CapabilityGrant",
    "Depth",
    "Failure",
    "LastPass",
    "Lease",
    "Message",
    "PairCount",
    "PairStock",
    "Peer",
    "PublicRoute",
    "PushAttempt",
    "PushConfig",
    "PushDelivery",
    "RateWindow",
    "RecoveryCodes",
    "RepairPlan",
    "RepairPlanRow",
    "ReplayEntry",
    "Result",
    "RollUp",
    "RollUpTurn",
    "SavedView",
    "Seal",
    "SecondFactor",
    "SenderStock",
    "SigningKey",
    "SpentNonce",
    "Task",
]
