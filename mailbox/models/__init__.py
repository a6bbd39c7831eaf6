from mailbox.models.agent import Agent, CapabilityGrant, Peer
from mailbox.models.alert import Alert, LastPass
from mailbox.models.artifact import Artifact
from mailbox.models.audit import AuditEvent
from mailbox.models.credentials import ApiKey, ProviderAccount, PublicRoute, SigningKey, SpentNonce
from mailbox.models.failure import Failure
from mailbox.models.lease import Lease
from mailbox.models.limits import PairStock, RateWindow, SenderStock
from mailbox.models.message import Message
from mailbox.models.push import PushAttempt, PushConfig, PushDelivery
from mailbox.models.repair_plan import RepairPlan, RepairPlanRow
from mailbox.models.replay_entry import ReplayEntry
from mailbox.models.result import Result
from mailbox.models.rollup import Depth, PairCount, RollUp, RollUpTurn
from mailbox.models.saved_view import SavedView
from mailbox.models.seal import Seal, SealHead
from mailbox.models.second_factor import RecoveryCodes, SecondFactor
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
    "ProviderAccount",
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
    "SealHead",
    "SecondFactor",
    "SenderStock",
    "SigningKey",
    "SpentNonce",
    "Task",
]
