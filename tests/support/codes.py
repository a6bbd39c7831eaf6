"""The codes that an authenticator app shows."""

import time

from django_otp.oath import TOTP

from mailbox.models import SecondFactor

STEP = 30  # seconds; an app shows a new code after each


def code_of(device: SecondFactor, *, steps: int = 0) -> str:
    """Return the code that the person's app shows now, or ``steps`` later."""
    totp = TOTP(device.bin_key)
    totp.time = time.time() + steps * STEP
    return f"{totp.token():06}"
