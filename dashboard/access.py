from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse

from dashboard.base.page import DashboardView, choice_of
from mailbox.access import callers, credential_lists, requests
from mailbox.access.capabilities import ROLE_ACTIONS
from mailbox.access.credential_lists import Validity
from mailbox.database.paging import Page
from mailbox.models import ApiKey, CapabilityGrant
from mailbox.words.errors import InvalidRequestError
from mailbox.words.kinds import Kind

ROWS, TARGETS_SHOWN = 50, 3
TABS = (("agents", "Agents"), ("grants", "Grants"), ("keys", "API keys"), ("people", "Roles"))


class AccessPage(DashboardView):
    """The permissions of the hub: capabilities of agents, grants, API keys, and the roles of people. It only reads.

    Keys are shown to those who may manage them.
    """

    def get(self, request: HttpRequest) -> HttpResponse:
        params = request.GET
        tab = choice_of("show", params.get("show"), [name for name, _ in TABS], TABS[0][0])
        validity = Validity(choice_of("state", params.get("state"), list(Validity), Validity.LIVE))
        named = params.get("agent", "").strip()[:200]
        if "\x00" in named:
            raise InvalidRequestError({"agent": "contains a NUL character"})
        context: dict[str, Any] = {
            "tabs": TABS,
            "chosen": tab,
            "named": named,
            "state": validity,
            "states": list(Validity),
            "is_filtered": bool(named) or validity is not Validity.LIVE,
        }
        match tab:
            case "people":
                context["roles"] = _roles()
            case "agents":
                page: Page[Any] = credential_lists.matrix(named, self.now, limit=ROWS, cursor=params.get("cursor"))
                rows = credential_lists.capabilities_of(page.items, self.now)
                context |= {"page": page, "verbs": credential_lists.VERBS, "rows": [_cells(row) for row in rows]}
            case "grants":
                page = credential_lists.grant_matrix(named, validity, self.now, limit=ROWS, cursor=params.get("cursor"))
                context |= {"page": page, "grants": [(grant, state_of(grant, self.now)) for grant in page.items]}
                context["kinds"] = f"{Kind.CAPABILITY_GRANTED},{Kind.CAPABILITY_REVOKED}"
            case "keys" if self.holds(requests.GRANT):
                page = credential_lists.key_matrix(named, validity, self.now, limit=ROWS, cursor=params.get("cursor"))
                context |= {"page": page, "keys": [(key, state_of(key, self.now)) for key in page.items]}
        return self.page("ops/access.html", context)


def state_of(row: CapabilityGrant | ApiKey, now: datetime) -> str:
    """Return the state of a grant or a key, as a state of `dashboard.templatetags.ops.pill`."""
    if row.revoked_at is not None:
        return "revoked"
    if row.expires_at is not None and row.expires_at < now:
        return "plan_expired"
    if isinstance(row, CapabilityGrant) and row.max_uses is not None and row.uses >= row.max_uses:
        return "used_up"
    return "live"


def _cells(row: credential_lists.Capabilities) -> tuple[Any, list[Any]]:
    """Return the agent with one cell for each verb: the first targets, and the number of further targets."""
    cells = []
    for verb in credential_lists.VERBS:
        targets = sorted({grant.action.removeprefix(verb).removeprefix(".") for grant in row.grants[verb]})
        scoped = any(grant.pins for grant in row.grants[verb])
        more = max(0, len(targets) - TARGETS_SHOWN)
        cells.append((verb, targets[:TARGETS_SHOWN], more, bool(targets), scoped))
    return row.agent, cells


def _roles() -> list[tuple[str, list[tuple[str, bool]]]]:
    """Return each action of people with all roles, in the order of `Role`, and whether the role holds it."""
    every = sorted({action for held in ROLE_ACTIONS.values() for action in held})
    return [(action, [(role.value, action in ROLE_ACTIONS[role]) for role in callers.Role]) for action in every]
