"""The short form of the proof: each kind of part of the long form, once."""

from pathlib import Path

from tools.proof import edits, forms, handlers
from tools.proof.forms import Part


def short(database: str, folder: Path, seed: int, *, sends: int = 160) -> list[Part]:
    """Run a load through the proxy, handlers of the client package, and a load beside one fault of each kind."""
    with forms.staged(database, folder, edits.COMPACT_SOON) as stage:
        return [
            forms.loaded(stage, seed, "cuts and hang-ups, with compaction and plans", sends=sends),
            handlers.handled(stage, seed + 2, sends=sends // 2, kills=4),
            forms.struck(stage, seed + 1, "faults", forms.faults_for(database, short=True)),
        ]
