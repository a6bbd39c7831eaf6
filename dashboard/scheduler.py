"""The page of the retry scheduler, its runs, a run by hand, and the verdicts of the retry gate."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any, ClassVar

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse

from dashboard.base import export
from dashboard.base.act import Act, Wording
from dashboard.base.page import DashboardView, choice_of
from dashboard.base.reasons import ReasonForm
from dashboard.figures import thresholds
from dashboard.saved_views import SavablePage
from dashboard.wording import commands
from dashboard.wording.journal import in_words
from mailbox.access import requests
from mailbox.access.own_agents import SCHEDULER
from mailbox.database import paging
from mailbox.inspection import journal, lookup
from mailbox.inspection.health.cluster import Cluster
from mailbox.inspection.search import keys, queries
from mailbox.inspection.search.terms import Moment
from mailbox.models import AuditEvent, Lease
from mailbox.repairs import auto_retry, retry
from mailbox.repairs.auto_retry import AutoRetry, Bound
from mailbox.repairs.retry import RetryReport, SkipReason
from mailbox.words import errors, times
from mailbox.words.errors import InvalidRequestError
from mailbox.words.kinds import Kind

WOULD_REQUEUE = "would requeue"
WORDS = {
    SkipReason.LEASE_TOO_YOUNG: "too young",
    SkipReason.MISSING_IDEMPOTENCY: "no key",
    SkipReason.UNSAFE_DUPLICATE_SAFETY: "unsafe",
    SkipReason.MAX_ATTEMPTS_REACHED: "max attempts",
    SkipReason.LIMIT_REACHED: "max requeues",
    SkipReason.CAPABILITY_SCOPE_MISMATCH: "no capability",
    SkipReason.LEASE_CHANGED: "lease changed",
}
ALL = (WOULD_REQUEUE, *WORDS.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    lease: Lease
    verdict: str


def of(report: RetryReport) -> Sequence[Verdict]:
    """Return a verdict for each lease of a dry run, oldest first."""
    verdicts = [Verdict(lease=lease, verdict=WOULD_REQUEUE) for lease in report.would_requeue]
    verdicts += [Verdict(lease=skip.lease, verdict=WORDS[skip.reason]) for skip in report.skipped]
    return sorted(verdicts, key=lambda verdict: (verdict.lease.leased_at, verdict.lease.pk))


ROWS = 25
VERDICTS_SHOWN = 200
LONGEST_ID = 19  # digits


class Scheduler(SavablePage):
    """The retry scheduler: the bounds in force and their sources, the cluster's state, and the passes."""

    name = "scheduler"
    columns: ClassVar = {
        "id": lambda event: event.pk,
        "at": lambda event: event.at,
        "actor": lambda event: event.actor,
        "enabled": lambda event: event.fields["enabled"],
        "considered": lambda event: event.fields["considered"],
        "requeued": lambda event: event.fields["requeued"],
        "skipped": lambda event: event.fields["skipped"],
        "skipped_by_reason": lambda event: event.fields["skipped_by_reason"],
        "error": lambda event: event.fields["error"],
        "reason": lambda event: event.fields.get("reason"),
    }

    @property
    def at(self) -> Moment:
        return Moment(now=self.now, stale_after=thresholds.stale_after())

    def chosen_values(self) -> dict[str, str]:
        return {"q": self.request.GET.get("q", "")}

    def check(self) -> None:
        queries.scans(self.request.GET.get("q", ""), self.at)

    def get(self, request: HttpRequest, form: str = "") -> HttpResponseBase:
        text, problem = request.GET.get("q", ""), ""
        try:
            scans = queries.scans(text, self.at)
        except InvalidRequestError as error:
            if form:
                raise
            scans, problem = queries.scans("", self.at).none(), error.fields.get("q", error.message)
        if form:
            return export.stream(scans, self.columns, form, "scans")
        page = paging.keyset(
            scans, "pk", int, newest_first=True, limit=ROWS, cursor=request.GET.get("cursor"), name="scans"
        )
        cluster = Cluster.read()
        context = {
            "page": page,
            "q": text,
            "problem": problem,
            "keys": keys.SCAN_KEYS,
            "scans": [in_words(event) for event in page.items],
            "wanted": AutoRetry.from_settings(),
            "bounds": [(bound, _meaning(bound)) for bound in Bound.all_in_force()],
            "cluster": cluster,
            "is_running": cluster.is_running(self.now),
            "agent": SCHEDULER,
            "is_granted": auto_retry.is_granted(),
            "needs": requests.REQUEUE,
            "may_run": self.holds(requests.REQUEUE),
            **self.saved_views(problem=problem),
        }
        seen = [event.pk for event in page.items], cluster, context["is_running"], context["is_granted"]
        if problem:
            return self.page("ops/scheduler.html", {**context, "version": ""}, status=HTTPStatus.BAD_REQUEST)
        return self.live("ops/scheduler.html", context, seen)


class Scan(DashboardView):
    """A pass of the retry gate, at a permanent address."""

    def get(self, request: HttpRequest, number: str) -> HttpResponse:
        is_number = number.isdecimal() and len(number) < LONGEST_ID
        event = lookup.scan(int(number)) if is_number else None
        if event is None:
            raise Http404
        context = {
            "event": event,
            "scan": event.fields,
            "min_lease_age": timedelta(milliseconds=event.fields["min_lease_age_ms"]),
            "skipped": [(WORDS.get(name, name), n) for name, n in event.fields["skipped_by_reason"].items()],
            "requeues": journal.requeues_of(event, most=VERDICTS_SHOWN),
            "repairs": f"kind:{Kind.REPAIR_APPLIED}",
        }
        return self.page("ops/scan.html", context)


class DryRun(DashboardView):
    """The verdicts of a pass of the retry gate now. All people may see them, because a dry run only reads."""

    def get(self, request: HttpRequest) -> HttpResponse:
        wanted = AutoRetry.from_settings()
        verdicts = of(retry.foresee(self.caller, wanted.policy))
        chosen = choice_of("verdict", request.GET.get("verdict"), ALL)
        kept = [one for one in verdicts if chosen in ("", one.verdict)]
        context = {
            "wanted": wanted,
            "found": kept[:VERDICTS_SHOWN],
            "shown": VERDICTS_SHOWN,
            "considered": len(verdicts),
            "kept": len(kept),
            "counts": Counter(one.verdict for one in verdicts).items(),
            "chosen": chosen,
        }
        return self.page("ops/dry_run.html", context)


class RunOnce(Act[AutoRetry]):
    """A pass now, by this person and within the bounds in force, even if the scheduler is off."""

    needs = requests.REQUEUE
    home = "ops:scheduler"
    wording = Wording(
        heading="Run automatic retry once",
        verb="Run once",
        busy="Running…",
        keep="Cancel",
        about="ops/run_once.html",
    )
    scan: AuditEvent | None = None

    def subject(self, **where: Any) -> AutoRetry:
        return AutoRetry.from_settings()

    def besides(self, subject: AutoRetry, form: ReasonForm) -> dict[str, Any]:
        shown: dict[str, Any] = {"command": commands.retry_stale(subject.policy)}
        verdicts = of(retry.foresee(self.caller, subject.policy))
        would = [one for one in verdicts if one.verdict == WOULD_REQUEUE]
        return {**shown, "considered": len(verdicts), "would": would}

    def apply(self, subject: AutoRetry, chosen: dict[str, Any]) -> str:
        self.scan = auto_retry.run_once(self.caller, reason=chosen["reason"], worded=errors.text_for_person)
        done = self.scan.fields
        if done["error"]:
            return f"Run failed: {done['error']}"
        leases = f"{done['considered']} lease{'' if done['considered'] == 1 else 's'}"
        return f"Scanned {leases}: {done['requeued']} requeued, {done['skipped']} skipped."

    def after(self, subject: AutoRetry) -> str:
        return reverse("ops:scan", args=[self.scan.pk]) if self.scan else reverse(self.home)


def _meaning(bound: Bound) -> str:
    if bound.name == "SCHEDULER":
        return "on" if AutoRetry.from_settings().policy.enabled else "off"
    if bound.name == "INTERVAL_MS":
        return times.write(AutoRetry.from_settings().interval)
    if bound.name.endswith("_MS"):
        return times.write(timedelta(milliseconds=int(bound.value)))
    return bound.value
