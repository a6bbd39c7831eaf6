"""The reasons for which a hub refuses requests: one class for each code, under the class of its kind."""

from http import HTTPStatus

from a2a_hub_client.errors import RefusedError


class BadRequestError(RefusedError):
    """The request is malformed."""

    usual_status = HTTPStatus.BAD_REQUEST


class InvalidJsonError(BadRequestError):
    """The text is not valid JSON, or is JSON that the hub cannot store."""

    code = "invalid_json"


class InvalidRequestError(BadRequestError):
    """Fields of the request are invalid: ``fields`` has their problems."""

    code = "invalid_request"


class BodyTooLargeError(BadRequestError):
    """The request is larger than the hub accepts."""

    code, usual_status = "body_too_large", HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class TaskTooLargeError(RefusedError):
    """The messages and artifacts of the task are too large."""

    code, usual_status = "task_too_large", HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class LengthRequiredError(BadRequestError):
    """The request has a body without a Content-Length."""

    code, usual_status = "length_required", HTTPStatus.LENGTH_REQUIRED


class UnsupportedMediaTypeError(BadRequestError):
    """The body is not JSON."""

    code, usual_status = "unsupported_media_type", HTTPStatus.UNSUPPORTED_MEDIA_TYPE


class MethodNotAllowedError(BadRequestError):
    """The route does not answer that method. A hub of an earlier version may lack it."""

    code, usual_status = "method_not_allowed", HTTPStatus.METHOD_NOT_ALLOWED


class ForbiddenError(RefusedError):
    """The caller is not known, or may not do that. An operator can change that."""

    usual_status = HTTPStatus.FORBIDDEN


class UnauthenticatedError(ForbiddenError):
    """The API key is missing, wrong, revoked or expired."""

    code, usual_status = "unauthenticated", HTTPStatus.UNAUTHORIZED


class BadSignatureError(UnauthenticatedError):
    """The signature of the request is refused."""

    code = "bad_signature"


class CapabilityMissingError(ForbiddenError):
    """The caller has no valid grant for this action."""

    code = "capability_missing"


class CapabilityScopeMismatchError(ForbiddenError):
    """The caller's grants for this action have scopes that exclude this request."""

    code = "capability_scope_mismatch"


class SenderMismatchError(ForbiddenError):
    """The task names a sender who is not the caller."""

    code = "sender_mismatch"


class WrongPartyError(ForbiddenError):
    """Only agents can do this, and the key belongs to a person."""

    code = "not_an_agent"


class NotFoundError(RefusedError):
    """The hub knows no such thing, or the caller may not see it."""

    usual_status = HTTPStatus.NOT_FOUND


class PathNotFoundError(NotFoundError):
    """There is no such route. A hub of an earlier version may lack it."""

    code = "not_found"


class UnknownTaskError(NotFoundError):
    """No such task is known to this caller."""

    code = "unknown_task"


class UnknownAgentError(NotFoundError):
    """No such agent is registered at the hub, or the name fits several."""

    code = "unknown_agent"


class UnknownGrantError(NotFoundError):
    """No such grant is known to this caller."""

    code = "unknown_grant"


class UnknownKeyError(NotFoundError):
    """There is no such API key."""

    code = "unknown_key"


class UnknownRouteError(NotFoundError):
    """There is no such public route."""

    code = "unknown_route"


class UnknownReplayEntryError(NotFoundError):
    """There is no such cached result."""

    code = "unknown_replay_entry"


class UnknownDeliveryError(NotFoundError):
    """There is no such callback."""

    code = "unknown_delivery"


class UnknownPlanError(NotFoundError):
    """There is no such repair plan."""

    code = "unknown_plan"


class NotSealedError(NotFoundError):
    """The journal has no sealed row with this id."""

    code = "not_sealed"


class ConflictError(RefusedError):
    """The request does not fit the state of the hub."""

    usual_status = HTTPStatus.CONFLICT


class TaskConflictError(ConflictError):
    """The id belongs to another task."""

    code = "task_conflict"


class ResultConflictError(ConflictError):
    """The task already has a different result."""

    code = "result_conflict"


class LeaseMismatchError(ConflictError):
    """The lease in the request is not the task's live lease."""

    code = "lease_mismatch"


class NotInFlightError(ConflictError):
    """The task is not leased, or cannot be leased now."""

    code = "not_in_flight"


class AlreadyResolvedError(ConflictError):
    """The task is already resolved."""

    code = "already_resolved"


class NotAskableError(ConflictError):
    """The sender of the task takes no questions, or the task waits for another task's result."""

    code = "not_askable"


class DuplicateRiskMismatchError(ConflictError):
    """The sender did not declare that the work may be done twice."""

    code = "duplicate_risk_mismatch"


class AgentConflictError(ConflictError):
    """The name or the public key is already registered."""

    code = "agent_conflict"


class KeyLimitError(ConflictError):
    """The owner already has as many live keys as the hub allows."""

    code = "key_limit"


class KeyReplacedError(ConflictError):
    """The key was replaced before, and its successor is in use."""

    code = "key_replaced"


class PlanClosedError(ConflictError):
    """The repair plan can no longer be applied."""

    code = "plan_closed"
