"""Steps of the wall clock that the hub's processes see."""

import random
import time
from collections.abc import Callable

from tools.proof.faults import shim
from tools.proof.faults.fault import Fault
from tools.proof.stage import Stage

HOUR, DAY = 3600, 86_400
STEPS = {"an hour ahead": HOUR, "an hour behind": -HOUR, "a day ahead": DAY, "a day behind": -DAY}
LASTS = 4.0  # seconds


def stepped(seconds: int) -> Callable[[Stage, random.Random], None]:
    """Return a strike that shifts the hub's wall clock for some seconds, and then shifts it back."""

    def strike(stage: Stage, _: random.Random) -> None:
        orders = shim.Orders(stage.environment)
        orders.shift_clock(seconds)
        try:
            time.sleep(LASTS)
        finally:
            orders.shift_clock(0)

    return strike


FAULTS = tuple(
    Fault(name=f"clock: {name}", strike=stepped(seconds), missing=shim.missing) for name, seconds in STEPS.items()
)
