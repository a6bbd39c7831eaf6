from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode

from dashboard.base.page import DashboardView
from mailbox.inspection import lookup
from mailbox.inspection.lookup import CompactedTask, Found
from mailbox.inspection.search import LONGEST
from mailbox.models import Agent, AuditEvent, Lease, RepairPlan, Task


class Go(DashboardView):
    """The search box of the header. It redirects to the named object, or else to the tasks that match the query."""

    def get(self, request: HttpRequest) -> HttpResponse:
        text = request.GET.get("id", "").strip()
        if not text:
            return HttpResponseRedirect(reverse("ops:tasks"))
        found = lookup.find(text)
        if page := _page_of(found):
            if other := lookup.namesake(text, found):
                name = f"{'Repair' if isinstance(other, RepairPlan) else 'Journal'} #{other.pk}"
                link = format_html('<a href="{}">{}</a>', _page_of(other), name)
                messages.info(request, format_html("There is something else of that number: {}.", link))
            return HttpResponseRedirect(page)
        tasks = f"{reverse('ops:tasks')}?{urlencode({'q': text})}"
        if ":" in text:
            return HttpResponseRedirect(tasks)
        return self.page("ops/not_found.html", {"sought": text[:LONGEST], "tasks": tasks}, status=404)


def _page_of(found: Found | None) -> str:
    match found:
        case Task():
            return reverse("ops:task", args=[found.uuid])
        case Lease():
            return reverse("ops:lease", args=[found.lease_id])
        case CompactedTask():
            route, named = ("lease", found.lease_id) if found.lease_id else ("task", found.task_id)
            return reverse(f"ops:{route}", args=[named])
        case AuditEvent():
            return reverse("ops:audit-event", args=[found.pk])
        case RepairPlan():
            return reverse("ops:plan", args=[found.pk])
        case Agent():
            return reverse("ops:agent", args=[found.display])
        case None:
            return ""
