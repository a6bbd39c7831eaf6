"""The list of the idempotency cache with its savings, and the act that drops a cached result."""

from typing import Any, ClassVar

from dashboard.base import export, reasons
from dashboard.base.act import Act, Wording
from dashboard.base.list_page import ListPage
from dashboard.base.page import number_in
from dashboard.figures.thresholds import COUNTED_TO, Count
from dashboard.wording import commands
from mailbox.access import requests
from mailbox.database.paging import Page
from mailbox.inspection import lookup
from mailbox.inspection.search import keys, queries, terms
from mailbox.inspection.statistics import standing
from mailbox.life import replay
from mailbox.models import ReplayEntry, replay_entry
from mailbox.words.errors import UnknownReplayEntryError


class ReplayList(ListPage):
    """The cache of results that answer duplicates, newest first."""

    name = "idempotency"
    keys = keys.REPLAY_KEYS
    saved: standing.Savings  # `total` reads it
    columns: ClassVar = export.columns(
        "id=pk key kind=task_kind sender recipient status hits first_hit_at last_hit_at stored_at expires_at "
        "source_task_id",
        sender=lambda entry: entry.sender or entry.sender_pubkey,
        recipient=lambda entry: entry.recipient or entry.recipient_pubkey,
    )

    def matching(self, text: str) -> replay_entry.ReplayEntryQuerySet:
        return queries.replay_entries(text, self.at).with_parties().defer("content", "error_message", "parts")

    def total(self, rows: replay_entry.ReplayEntryQuerySet, page: Page[Any]) -> Count:
        self.saved = standing.savings(rows, queries.tasks("state:waiting", self.at), most=COUNTED_TO)
        return Count(self.saved.entries)

    def besides(self, page: Page[Any]) -> dict[str, Any]:
        return {
            "entries": [(entry, _answered_by(entry)) for entry in page.items],
            "hits": self.saved.hits,
            "waiting": Count(self.saved.waiting),
        }

    def shown(self, page: Page[Any], context: Any) -> object:
        return [(entry.pk, entry.hits, entry.source_task_id) for entry in page.items], self.saved


def _answered_by(entry: Any) -> str:
    """Return the query for the tasks that ``entry`` answered."""
    parties = {"key": entry.key, "from": entry.sender, "to": entry.recipient}
    parts = [terms.term(key, value) for key, value in parties.items() if value]
    return " ".join([*parts, f"-id:{entry.source_task_id}", "-state:waiting"])


class Drop(Act[ReplayEntry]):
    """A cached result, and the form that drops it. The next duplicate then runs again."""

    needs = requests.DROP_REPLAY
    home = "ops:idempotency"
    wording = Wording(
        heading="Drop cached result", verb="Drop cached result", busy="Dropping…", about="ops/cached_result.html"
    )

    def subject(self, **where: Any) -> ReplayEntry:
        number = number_in(where["number"])
        result = None if number is None else lookup.cached_result(number)
        if result is None:
            raise UnknownReplayEntryError(f"Cached result {where['number']} not found. It may have been dropped.")
        return result

    def seen(self, subject: ReplayEntry) -> str:
        return str(subject.source_task_id)

    def besides(self, subject: ReplayEntry, form: reasons.ReasonForm) -> dict[str, Any]:
        command = commands.post("/a2a/replay-entries/drop", id=subject.pk, reason=commands.UNSAID)
        return {"shown": 4096, "command": command}

    def apply(self, subject: ReplayEntry, chosen: dict[str, Any]) -> str:
        replay.drop(self.caller, subject.pk, reason=chosen["reason"], source_task_id=subject.source_task_id)
        return "Dropped. The next task with that key runs again."

    def panel_of(self, template: str) -> str:
        """Return the form's panel for a dialog, else the page that shows the result and has the form on it."""
        return super().panel_of(template) if self.is_fragment else "ops/cached.html"
