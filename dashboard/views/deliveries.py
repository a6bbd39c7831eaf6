from __future__ import annotations

from typing import Any, ClassVar

from dashboard.base.act import Act, Wording
from dashboard.base.list_page import ListPage
from dashboard.forms.repair import ReasonForm
from dashboard.wording import commands
from mailbox.database.paging import Page
from mailbox.gate import actions
from mailbox.inspection import lookup, search
from mailbox.models import PushDelivery
from mailbox.models.push import PushDeliveryQuerySet
from mailbox.verbs.life import callbacks
from mailbox.words import redaction
from mailbox.words.errors import UnknownDeliveryError

TABS = ("pending", "failing", "delivered", "disabled")
ATTEMPTS_SHOWN = 50


class DeliveryList(ListPage):
    """Callbacks and events of webhooks, newest first. No page shows their secrets or bodies."""

    name = "deliveries"
    tab = "state"
    columns: ClassVar = {
        "id": lambda delivery: delivery.delivery_id,
        "task_id": lambda delivery: delivery.task_uuid,
        "sender": lambda delivery: delivery.sender.display,
        "url": lambda delivery: redaction.url(delivery.url),
        "state": lambda delivery: delivery.shown_state,
        "event": lambda delivery: delivery.event,
        "attempts": lambda delivery: delivery.attempts,
        "last_status": lambda delivery: delivery.last_status,
        "last_problem": lambda delivery: redaction.text(delivery.last_problem or ""),
        "created_at": lambda delivery: delivery.created_at,
        "next_attempt_at": lambda delivery: delivery.next_attempt_at if delivery.shown_state == "pending" else None,
        "delivered_at": lambda delivery: delivery.delivered_at,
    }

    def found(self, text: str) -> PushDeliveryQuerySet:
        return search.deliveries(text, self.at).with_last_attempt().defer("body")

    def besides(self, page: Page[Any]) -> dict[str, Any]:
        return {"tabs": TABS, "keys": search.DELIVERY_KEYS, "may_resend": self.holds(actions.RESEND)}

    def shown(self, page: Page[Any], context: Any) -> object:
        rows = [(delivery.pk, delivery.state, delivery.attempts, delivery.last_at) for delivery in page.items]
        return rows, context["total"]


class Resend(Act[PushDelivery]):
    """A callback or an event with all its attempts, and the form that sends it again if it failed."""

    needs = actions.RESEND
    home = "ops:deliveries"
    wording = Wording(
        heading="Callback", verb="Send again", busy="Sending…", keep="Leave it", about="ops/delivery_facts.html"
    )

    def subject(self, **where: Any) -> PushDelivery:
        found = lookup.delivery(where["delivery_id"])
        if found is None:
            raise UnknownDeliveryError(f"There is no callback {where['delivery_id']} here.")
        return found

    def closed(self, subject: PushDelivery) -> str:
        if subject.is_of_webhook and subject.config_id is None:
            return "Its webhook was deleted: nobody asks for it any more."
        match subject.shown_state:
            case PushDelivery.State.DELIVERED:
                return "It arrived: there is nothing to send again."
            case PushDelivery.State.PENDING:
                return "It is on its way: the next attempt is made by itself."
        return ""

    def besides(self, subject: PushDelivery, form: ReasonForm) -> dict[str, Any]:
        return {
            "attempts": subject.log.order_by("-number")[:ATTEMPTS_SHOWN],
            "tries": len(callbacks.BACK_OFF) + 1,
            "command": commands.post(f"/a2a/deliveries/{subject.delivery_id}/resend", reason=commands.UNSAID),
        }

    def apply(self, subject: PushDelivery, chosen: dict[str, Any]) -> str:
        callbacks.resend(self.caller, subject.delivery_id, reason=chosen["reason"])
        return "It is sent again, at once."
