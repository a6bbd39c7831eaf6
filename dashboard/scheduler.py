"""The page of the retry scheduler, its runs, a run by hand, and the verdicts of the retry gate."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from dashboard.base import export, reasons
from dashboard.base.act import Act, Wording
from dashboard.base.list_page import ListPage
from dashboard.base.page import DashboardView, choice_of, number_in, present
from dashboard.figures.thresholds import Count
from dashboard.wording import commands
from dashboard.wording.journal import in_words
from mailbox.access import own_agents, requests
from mailbox.database.paging import Page
from mailbox.inspection import journal, lookup
from mailbox.inspection.health.cluster import Cluster
from mailbox.inspection.search import keys, queries
from mailbox.models import AuditEvent, Lease, audit
from mailbox.repairs import auto_retry, retry
from mailbox.words import errors, kinds, times

WOULD_REQUEUE = "would requeue"
WORDS = {
    retry.SkipReason.LEASE_TOO_YOUNG: "too young",
    retry.SkipReason.MISSING_IDEMPOTENCY: "no key",
    retry.SkipReason.UNSAFE_DUPLICATE_SAFETY: "unsafe",
    retry.SkipReason.MAX_ATTEMPTS_REACHED: "max attempts",
    retry.SkipReason.LIMIT_REACHED: "max requeues",
    retry.SkipReason.CAPABILITY_SCOPE_MISMATCH: "no capability",
    retry.SkipReason.LEASE_CHANGED: "lease changed",
}
ALL = (WOULD_REQUEUE, *WORDS.values())
VERDICTS_SHOWN = 200


class Verdict(NamedTuple):
    lease: Lease
    verdict: str


def of(report: retry.RetryReport) -> Sequence[Verdict]:
    """Return a verdict for each lease of a dry run, oldest first."""
    verdicts = [Verdict(lease=lease, verdict=WOULD_REQUEUE) for lease in report.would_requeue]
    verdicts += [Verdict(lease=skip.lease, verdict=WORDS[skip.reason]) for skip in report.skipped]
    return sorted(verdicts, key=lambda verdict: (verdict.lease.leased_at, verdict.lease.pk))


class Scheduler(ListPage):
    """The retry scheduler: the bounds in force and their sources, the cluster's state, and the passes."""

    name, file = "scheduler", "scans"
    keys = keys.SCAN_KEYS
    most = 25
    columns: ClassVar = export.columns(
        "id=pk at actor enabled=fields.enabled considered=fields.considered requeued=fields.requeued "
        "skipped=fields.skipped skipped_by_reason=fields.skipped_by_reason error=fields.error reason=fields.reason"
    )

    def matching(self, text: str) -> audit.AuditEventQuerySet:
        return queries.scans(text, self.at)

    def total(self, rows: audit.AuditEventQuerySet, page: Page[Any]) -> Count:
        """Return the number of rows that are shown. The page tells no total, which would cost a query."""
        return Count(len(page.items))

    def besides(self, page: Page[Any]) -> dict[str, Any]:
        cluster = Cluster.read()
        return {
            "scans": [in_words(event) for event in page.items],
            "wanted": auto_retry.AutoRetry.from_settings(),
            "bounds": [(bound, _meaning(bound)) for bound in auto_retry.Bound.all_in_force()],
            "cluster": cluster,
            "is_running": cluster.is_running(self.now),
            "agent": own_agents.SCHEDULER,
            "is_granted": auto_retry.is_granted(),
            "needs": requests.REQUEUE,
        }

    def shown(self, page: Page[Any], context: Mapping[str, Any]) -> object:
        standing = context["cluster"], context["is_running"], context["is_granted"]
        return [event.pk for event in page.items], *standing


class Scan(DashboardView):
    """A pass of the retry gate, at a permanent address."""

    def get(self, request: HttpRequest, number: str) -> HttpResponse:
        event = present(lookup.scan(present(number_in(number))))
        context = {
            "event": event,
            "scan": event.fields,
            "min_lease_age": timedelta(milliseconds=event.fields["min_lease_age_ms"]),
            "skipped": [(WORDS.get(name, name), n) for name, n in event.fields["skipped_by_reason"].items()],
            "requeues": journal.requeues_of(event, most=VERDICTS_SHOWN),
            "repairs": f"kind:{kinds.Kind.REPAIR_APPLIED}",
        }
        return self.page("ops/scan.html", context)


class DryRun(DashboardView):
    """The verdicts of a pass of the retry gate now. All people may see them, because a dry run only reads."""

    def get(self, request: HttpRequest) -> HttpResponse:
        wanted = auto_retry.AutoRetry.from_settings()
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


class RunOnce(Act[auto_retry.AutoRetry]):
    """A pass now, by this person and within the bounds in force, even if the scheduler is off."""

    needs = requests.REQUEUE
    home = "ops:scheduler"
    wording = Wording(heading="Run automatic retry once", verb="Run once", busy="Running…", about="ops/run_once.html")
    scan: AuditEvent | None = None

    def subject(self, **where: Any) -> auto_retry.AutoRetry:
        return auto_retry.AutoRetry.from_settings()

    def besides(self, subject: auto_retry.AutoRetry, form: reasons.ReasonForm) -> dict[str, Any]:
        shown: dict[str, Any] = {"command": commands.retry_stale(subject.policy)}
        verdicts = of(retry.foresee(self.caller, subject.policy))
        would = [one for one in verdicts if one.verdict == WOULD_REQUEUE]
        return {**shown, "considered": len(verdicts), "would": would}

    def apply(self, subject: auto_retry.AutoRetry, chosen: dict[str, Any]) -> str:
        self.scan = auto_retry.run_once(self.caller, reason=chosen["reason"], worded=errors.text_for_person)
        done = self.scan.fields
        if done["error"]:
            return f"Run failed: {done['error']}"
        leases = f"{done['considered']} lease{'' if done['considered'] == 1 else 's'}"
        return f"Scanned {leases}: {done['requeued']} requeued, {done['skipped']} skipped."

    def after(self, subject: auto_retry.AutoRetry) -> str:
        return reverse("ops:scan", args=[self.scan.pk]) if self.scan else reverse(self.home)


def _meaning(bound: auto_retry.Bound) -> str:
    if bound.name == "SCHEDULER":
        return "on" if auto_retry.AutoRetry.from_settings().policy.enabled else "off"
    if bound.name == "INTERVAL_MS":
        return times.write(auto_retry.AutoRetry.from_settings().interval)
    if bound.name.endswith("_MS"):
        return times.write(timedelta(milliseconds=int(bound.value)))
    return bound.value
