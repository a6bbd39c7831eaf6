from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.html import format_html

from dashboard.base import export
from dashboard.base.act import Act, Wording
from dashboard.base.list_page import ListPage
from dashboard.base.page import uuids
from dashboard.base.reasons import ReasonForm
from dashboard.wording import commands
from mailbox.access import requests
from mailbox.database.paging import Page
from mailbox.inspection import lookup
from mailbox.inspection.search import keys, queries, terms
from mailbox.life import outbox
from mailbox.models import PushDelivery
from mailbox.models.push import PushDeliveryQuerySet
from mailbox.words import redaction
from mailbox.words.errors import UnknownDeliveryError
from mailbox.words.kinds import Kind

ATTEMPTS_SHOWN, MANY_SHOWN = 50, 10


class DeliveryList(ListPage):
    """Callbacks and events of webhooks, newest first. No page shows their secrets or bodies."""

    name = "deliveries"
    keys = keys.DELIVERY_KEYS
    tab, tabs = "state", ("pending", "failing", "delivered", "disabled")
    columns: ClassVar = export.columns(
        "id=delivery_id task_id=task_uuid sender=sender.display url state=shown_state event attempts last_status "
        "last_problem created_at next_attempt_at delivered_at",
        url=lambda delivery: redaction.url(delivery.url),
        last_problem=lambda delivery: redaction.text(delivery.last_problem or ""),
        next_attempt_at=lambda delivery: delivery.next_attempt_at if delivery.shown_state == "pending" else None,
    )

    def matching(self, text: str) -> PushDeliveryQuerySet:
        return queries.deliveries(text, self.at).with_last_attempt().defer("body")

    def besides(self, page: Page[Any]) -> dict[str, Any]:
        return {
            "has_given_up": any(delivery.state == PushDelivery.State.DISABLED for delivery in page.items),
            "whole": self.query,
            "cap": outbox.MOST_RESENT,
        }

    def version_of(self, row: Any) -> object:
        return row.pk, row.state, row.attempts, row.last_at


class Resend(Act[PushDelivery]):
    """A callback or an event with all its attempts, and the form that sends it now unless it has arrived."""

    needs = requests.RESEND
    home = "ops:deliveries"
    wording = Wording(heading="Callback", verb="Send again", busy="Sending…", about="ops/delivery_facts.html")

    def subject(self, **where: Any) -> PushDelivery:
        delivery = lookup.delivery(where["delivery_id"])
        if delivery is None:
            raise UnknownDeliveryError(f"Callback {where['delivery_id']} not found.")
        return delivery

    def closed(self, subject: PushDelivery) -> str:
        if subject.is_of_webhook and subject.config_id is None:
            return "Its webhook was deleted, so it won't be sent again."
        if subject.shown_state == PushDelivery.State.DELIVERED:
            return "Delivered. Nothing to send again."
        return ""

    def seen(self, subject: PushDelivery) -> str:
        return f"{subject.shown_state} {subject.forgiven}"

    def besides(self, subject: PushDelivery, form: ReasonForm) -> dict[str, Any]:
        is_pending = subject.shown_state == PushDelivery.State.PENDING
        return {
            "attempts": subject.log.order_by("-number")[:ATTEMPTS_SHOWN],
            "tries": len(outbox.BACK_OFF) + 1,
            "wording": replace(self.wording, verb="Try now") if is_pending else self.wording,
            "command": commands.resend(subject.delivery_id),
        }

    def apply(self, subject: PushDelivery, chosen: dict[str, Any]) -> str:
        outbox.resend(self.caller, subject.delivery_id, reason=chosen["reason"])
        return "Sending now."


class ResendMany(Act[Sequence[PushDelivery]]):
    """The form that sends given-up callbacks again: the selected callbacks, or all that match the query.

    The form carries the ids that it showed, so it acts on no other callback.
    """

    needs = requests.RESEND
    home = "ops:deliveries"
    wording = Wording(
        heading="Send failed callbacks again", verb="Send again", busy="Sending…", about="ops/resend_many.html"
    )

    def subject(self, **where: Any) -> Sequence[PushDelivery]:
        chosen = self.request.POST if self.request.method == "POST" else self.request.GET
        if chosen.get("everything"):
            query = f"{terms.without(chosen.get('q', ''), 'state')} state:disabled"
            deliveries = queries.deliveries(query, self.at).with_last_attempt()
            return list(deliveries.defer("body").order_by("-pk")[: outbox.MOST_RESENT])
        return lookup.given_up(uuids("delivery", chosen.getlist("delivery"), most=outbox.MOST_RESENT))

    def closed(self, subject: Sequence[PushDelivery]) -> str:
        return "" if subject else "Select at least one failed callback first."

    def besides(self, subject: Sequence[PushDelivery], form: ReasonForm) -> dict[str, Any]:
        return {"shown": MANY_SHOWN, "tries": len(outbox.BACK_OFF) + 1, "cap": outbox.MOST_RESENT}

    def apply(self, subject: Sequence[PushDelivery], chosen: dict[str, Any]) -> str:
        ids = [delivery.delivery_id for delivery in subject]
        done = outbox.resend_given_up(self.caller, ids, reason=chosen["reason"])
        receipt = (
            f"{reverse('ops:audit')}?{urlencode({'q': f'kind:{Kind.PUSH_RESENT} request:{self.caller.request_id}'})}"
        )
        left = f", {len(done.left)} skipped: no longer failed" if done.left else ""
        return format_html('{} sent again{}. <a href="{}">Receipt</a>', len(done.sent), left, receipt)
