"""Check the settings, and that no migration is missing: python -m tools.django_checks.

One process runs both commands of Django, because the start of the hub takes longer than either.
"""

import os
import sys

import django
from django.core.management import CommandError, call_command


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "a2aproject.settings")
    django.setup()
    try:
        call_command("check", fail_level="WARNING")
    except CommandError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    call_command("makemigrations", check_changes=True, dry_run=True)  # ends with 1 if one is missing
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
