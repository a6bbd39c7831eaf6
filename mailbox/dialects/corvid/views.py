"""``tasks/send``, and the hub's agents and their cards at corvid-agent's routes, with its statuses and words."""

import re
import unicodedata
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlencode

from django.conf import settings
from django.http.response import HttpResponseBase
from django.utils import timezone
from pydantic import Field, RootModel, Strict
from rest_framework.request import Request
from rest_framework.response import Response

from agentcards import profiles
from agentcards.card_document import CardDocument, build_agent_card, build_agent_card_for_agent
from agentcards.models import AgentProfile
from mailbox.access import capabilities, requests
from mailbox.access.agents import directory
from mailbox.access.credentials import authentication
from mailbox.dialects.base import http_errors, openapi
from mailbox.dialects.base.authentication import AddressThrottle, presented_key
from mailbox.dialects.base.bodies import Exact, Lax, Text
from mailbox.dialects.base.pages import PublicDocumentView
from mailbox.dialects.base.view import DialectView
from mailbox.dialects.corvid import handler, wire
from mailbox.life import sending
from mailbox.words import errors
from mailbox.words.envelopes import DISPLAY, DISPLAY_MAX_LENGTH, LOCAL_PART, AgentRef, TaskEnvelope
from mailbox.words.errors import BadSignatureError, InvalidRequestError, MailboxError, UnknownAgentError

operation = partial(openapi.operation, refusal=wire.CorvidError)
# The answer names no origin: a browser shows it to no page of another site.
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": "Content-Type, Authorization",
}
Switch = Annotated[bool, Strict()]
LONGEST_MADE = DISPLAY_MAX_LENGTH - len("@local")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+", re.ASCII)
_LISTS = ("skill_bundles", "input_modes", "output_modes", "extensions", "extended_tools")
_SWITCHES = ("streaming", "push_notifications", "extended_card", "card_for_0_3")


class TaskSendBody(RootModel[dict[str, Any]]):
    """The task: ``{"params": {"message", "skill"?, "timeoutMs"?, "depth"?}}``, or these keys at the top level."""


STATUS: Mapping[type[MailboxError], HTTPStatus] = {
    **http_errors.STATUS,
    handler.ValidationFailedError: HTTPStatus.BAD_REQUEST,
    handler.DepthExceededError: HTTPStatus.BAD_REQUEST,
    handler.NoRecipientError: HTTPStatus.NOT_FOUND,
    http_errors.MethodNotAllowedError: HTTPStatus.NOT_FOUND,
}

# corvid-agent's own messages.
WORDS: Mapping[type[MailboxError], str] = {
    errors.InvalidJsonError: "Invalid JSON body",
    errors.RateLimitedError: "Rate limit exceeded. Try again later.",
    errors.UnknownTaskError: "Task not found",
    http_errors.BodyTooLargeError: "Payload too large",
    http_errors.MethodNotAllowedError: "Not found",
}


class BadKeyError(MailboxError):
    """Invalid API key"""  # noqa: D400 corvid-agent's words

    code = "invalid_api_key"


class CorvidView(DialectView):
    """A view that refuses as corvid-agent does: ``{"error": <text>}``, with a code where it has one."""

    error_status = {**STATUS, BadKeyError: HTTPStatus.FORBIDDEN}

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        return Response(status=HTTPStatus.NO_CONTENT, headers=PREFLIGHT)

    def perform_authentication(self, request: Request) -> None:
        if request.method == "OPTIONS":
            request.authenticators = ()  # corvid-agent answers it without a key
        try:
            super().perform_authentication(request)
        except BadSignatureError:
            raise
        except errors.UnauthenticatedError as error:
            raise _unauthenticated(request.headers) from error

    def error_body(self, error: MailboxError, status: HTTPStatus) -> object:
        body = {"error": WORDS.get(type(error)) or errors.text_for_program(error)}
        return body | {"code": "NOT_FOUND"} if isinstance(error, handler.NoRecipientError) else body


class TaskSendView(CorvidView):
    open_to_routes = frozenset({"POST"})

    @operation("tasks_send", body=TaskSendBody, errors=(403, 404, 429))
    def post(self) -> wire.CorvidTask:
        body = self.json()
        if not self.request._request.body:  # no JSON to the original; other dialects read it as {}
            raise errors.InvalidJsonError
        return handler.handle_task_send(self.caller, body)

    @operation("get_task_named_send", errors=(403, 404))
    def get(self) -> wire.CorvidTask:
        raise errors.UnknownTaskError


class TaskView(CorvidView):
    open_to_routes = frozenset({"GET"})

    @operation("get_task", errors=(403, 404))
    def get(self, task_id: str) -> wire.CorvidTask:
        task = handler.handle_task_get(self.caller, task_id)
        if task is None:
            raise errors.UnknownTaskError
        return task


def _unauthenticated(headers: Mapping[str, str]) -> MailboxError:
    if key := presented_key(headers):
        expired = authentication.has_expired(key)
        return errors.UnauthenticatedError("API key expired, rotation required") if expired else BadKeyError()
    if headers.get("Authorization"):
        return errors.UnauthenticatedError("Invalid Authorization header format. Expected: Bearer <key>")
    return errors.UnauthenticatedError("Authentication required")


class AgentProfileBody(Lax):
    """The contents of an agent's card. Fields that are left out stay as they are; null empties a field.

    ``mcpToolPermissions`` null means the default tools. A switch that is null is on.
    """

    description: Text | None = None
    persona_archetype: Text | None = Field(None, alias="personaArchetype")
    skill_bundles: list[Text] | None = Field(None, alias="skillBundles")
    default_project: Text | None = Field(None, alias="defaultProjectId")
    tool_permissions: list[Text] | None = Field(None, alias="mcpToolPermissions")
    wallet_address: Text | None = Field(None, alias="walletAddress")
    remote_url: Text | None = Field(None, alias="remoteUrl")
    input_modes: list[Text] | None = Field(None, alias="inputModes")
    output_modes: list[Text] | None = Field(None, alias="outputModes")
    card_version: Text | None = Field(None, alias="cardVersion")
    documentation_url: Text | None = Field(None, alias="documentationUrl")
    icon_url: Text | None = Field(None, alias="iconUrl")
    streaming: Switch | None = None
    push_notifications: Switch | None = Field(None, alias="pushNotifications")
    extended_card: Switch | None = Field(None, alias="extendedCard")
    card_for_0_3: Switch | None = Field(None, alias="cardFor03")
    message_id_is_key: Switch | None = Field(None, alias="messageIdIsKey")
    extensions: list[dict[str, Any]] | None = None
    extended_tools: list[Text] | None = Field(None, alias="extendedTools")

    def profile(self) -> dict[str, Any]:
        """Return the given fields of the profile, with their values."""
        sent = {name: getattr(self, name) for name in PROFILE_FIELDS if name in self.model_fields_set}
        return {name: _EMPTY.get(name, "") if value is None else value for name, value in sent.items()}


class UpdateAgentBody(AgentProfileBody):
    """The fields of the agent to change. Fields that are left out stay as they are; null empties a field."""

    name: Text | None = None


class RegisterAgentBody(AgentProfileBody):
    """The agent to register. ``name`` is shown to people; ``display`` is the agent's address.

    Without a ``display`` the address is made from the name: spaces and symbols become hyphens, accents are dropped.
    """

    name: Text = Field(min_length=1, max_length=200)
    display: Text | None = None
    public_key: Text | None = Field(None, alias="publicKey")

    @property
    def address(self) -> str:
        """The display of the new agent. Raises `InvalidRequestError` if no display can be made of the name."""
        if self.display is not None or DISPLAY.fullmatch(self.name):
            return self.name if self.display is None else self.display
        letters = unicodedata.normalize("NFKD", self.name)
        plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
        made = _NOT_IN_A_NAME.sub("-", plain).strip("-")
        is_unlike = any(letter.isalnum() and not letter.isascii() for letter in plain)
        if is_unlike or not 1 <= len(made) <= LONGEST_MADE:
            raise InvalidRequestError({"display": "is required: no address can be made of this name"})
        return made

    def profile(self) -> dict[str, Any]:
        is_address = DISPLAY.fullmatch(self.name) or LOCAL_PART.fullmatch(self.name)
        return {**super().profile(), "name": "" if is_address and self.display is None else self.name}


class InvokeAgentBody(Lax):
    """The task's text. Without ``toAgentId`` the caller sends it to the agent in the path.

    With ``toAgentId`` the agent in the path, which must be the caller, sends it to that agent.
    """

    content: Text
    to_agent: Text | None = Field(None, alias="toAgentId")


class AgentsQuery(Exact):
    limit: int = Field(1000, ge=1, le=1000)
    cursor: str | None = None


PROFILE_FIELDS = ("name", *AgentProfileBody.model_fields)
_EMPTY: Mapping[str, Any] = {
    "tool_permissions": None,
    **{name: list[Any]() for name in _LISTS},
    **dict.fromkeys(_SWITCHES, True),
    "message_id_is_key": False,
}

# The spelling on this wire of each field of the verbs.
SPELLING: Mapping[str, str] = {
    **{name: field.alias for name, field in RegisterAgentBody.model_fields.items() if field.alias is not None},
    "pubkey": "publicKey",
    "intent_text": "content",
}


def spelled(path: str, problem: str) -> str:
    """Return the problem of a field, with the field's name in this dialect."""
    name = SPELLING.get(path, path)
    return f"{name}: {problem.replace(path, name)}"


class CorvidAgents(RootModel[list[wire.CorvidAgent]]):
    """A page of agents. The header ``Link: <...>; rel="next"`` names the next page."""


class AgentRoute(CorvidView):
    def error_body(self, error: MailboxError, status: HTTPStatus) -> object:
        match error:
            case UnknownAgentError():
                return {"error": "Not found"}
            case InvalidRequestError():
                problems = [spelled(path, problem) for path, problem in error.fields.items()]
                return {"error": f"Validation failed: {'; '.join(problems)}"}
        return super().error_body(error, status)

    def shown_to_caller(self, profile: AgentProfile) -> wire.CorvidAgent:
        is_own = self.caller.agent == profile.agent
        may_change = is_own or capabilities.holds(self.caller, requests.PROFILE, timezone.now())
        return wire.agent(profile, with_remote_url=may_change)


class AgentProfilesView(AgentRoute):
    @operation("list_agents_with_profiles", answer=CorvidAgents, errors=(403,))
    def get(self, query: AgentsQuery) -> Response:
        page = profiles.listing(limit=query.limit, cursor=query.cursor)
        response = Response([self.shown_to_caller(profile) for profile in page.items])
        if page.next_cursor:
            further = urlencode({"limit": query.limit, "cursor": page.next_cursor})
            response["Link"] = f'<{settings.PUBLIC_URL}/api/agents?{further}>; rel="next"'
        return response

    @operation("create_agent", errors=(403, 409), status=HTTPStatus.CREATED)
    def post(self, body: RegisterAgentBody) -> wire.NewAgent:
        made = profiles.register_agent(self.caller, body.address, pubkey=body.public_key, profile=body.profile())
        return wire.registered(AgentProfile.of(made.agent), made)


def _changed(view: AgentRoute, name: str, body: UpdateAgentBody) -> wire.CorvidAgent:
    changes = body.profile()
    return view.shown_to_caller(profiles.update_profile(view.caller, directory.typed(view.caller, name), changes))


class AgentView(AgentRoute):
    @operation("get_agent_with_profile", errors=(403, 404))
    def get(self, name: str) -> wire.CorvidAgent:
        return self.shown_to_caller(AgentProfile.of(directory.typed(self.caller, name)))

    put = operation("update_agent", errors=(403, 404))(_changed)
    patch = operation("patch_agent", errors=(403, 404))(_changed)


class AgentCardView(AgentRoute):
    @operation("read_agent_card", errors=(403, 404))
    def get(self, name: str) -> CardDocument:
        return build_agent_card_for_agent(directory.typed(self.caller, name))


class InvokeView(AgentRoute):
    open_to_routes = frozenset({"POST"})

    @operation("invoke_agent", errors=(403, 404, 429), status=HTTPStatus.CREATED)
    def post(self, name: str, body: InvokeAgentBody) -> wire.Invoked:
        handler.count(self.caller)
        named = directory.typed(self.caller, name)
        recipient = named if body.to_agent is None else directory.typed(self.caller, body.to_agent)
        sent = sending.send_task(
            self.caller,
            TaskEnvelope(
                sender=None if body.to_agent is None else AgentRef(pubkey=named.pubkey),
                recipient=AgentRef(pubkey=recipient.pubkey),
                intent_text=body.content,
                dialect=handler.DIALECT,
                converses=False,
            ),
        )
        handler.drop_beyond_cap(self.caller, sent)
        return {"messageId": sent.uuid, "txid": None, "sessionId": None}


class PublicCardView(PublicDocumentView, AgentRoute):
    """A view without a key."""

    authentication_classes = ()
    throttle_classes = (AddressThrottle,)
    open_to_routes = frozenset({"GET"})


class HubCardView(PublicCardView):
    @operation("read_hub_card", answer=CardDocument, public=True)
    def get(self) -> HttpResponseBase | None:
        return self.shown(build_agent_card(self.base_url()))


class PublicAgentCardView(PublicCardView):
    @operation("read_public_agent_card", answer=CardDocument, errors=(404,), public=True)
    def get(self, name: str) -> HttpResponseBase | None:
        if not settings.A2A_PUBLIC_AGENT_CARDS:
            raise UnknownAgentError
        agent = directory.typed(None, name)
        card = build_agent_card_for_agent(agent, self.base_url())
        if self.route() is not None:  # a route opens the card, but not the agent's profile at its own URL
            card["url"] = f"{self.base_url()}/.well-known/agents/{agent.display}"
        return self.shown(card)
