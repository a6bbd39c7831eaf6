import signal
import threading
from queue import SimpleQueue
from typing import Any

from django.core.management.base import BaseCommand

from a2aproject.serving import beats
from mailbox.background.job_runner import STOPS_WITHIN, JobRunner

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Command(BaseCommand):
    help = "Run the jobs of the timetable until stopped (started by `serve`)."
    requires_system_checks = ()  # `serve` has run them. They would load every page into a process that shows no pages.

    def handle(self, **_: Any) -> None:
        """Run the jobs in a thread that ends with the process, so that a job that hangs does not delay the stop."""
        ends: SimpleQueue[Exception | None] = SimpleQueue()  # signal handlers may put into it at any moment
        for number in STOP_SIGNALS:
            signal.signal(number, lambda *_: ends.put(None))
        stop = threading.Event()

        def work() -> None:
            try:
                JobRunner(beats.sender()).run(stop)
            except Exception as failure:  # noqa: BLE001 the main thread raises it
                ends.put(failure)

        runner = threading.Thread(target=work, name="jobs", daemon=True)
        runner.start()
        failure = ends.get()
        if failure is not None:
            raise failure
        stop.set()
        runner.join(STOPS_WITHIN + 1)
