"""Fill a new hub with the tour's day, and write what its visitor needs.

Usage: python fill.py FILE

FILE gets, as JSON, the operator's password and the API key of each agent. A database that has a hub is refused.
"""

import json
import os
import secrets
import sys
from pathlib import Path

import django
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

FASTER = {  # the data of the tour are thrown away, so that no write of them has to survive a crash
    "sqlite": "PRAGMA synchronous=OFF",
    "postgresql": "SET synchronous_commit=off",
}


def main(file: Path) -> None:
    """Fill the hub of the environment variables."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "a2aproject.settings"
    django.setup()
    import day
    from django.contrib.auth.models import User

    from a2aproject.management.commands import serve
    from mailbox.access.callers import Caller
    from mailbox.access.people import passwords

    call_command("migrate", interactive=False, verbosity=0)
    if serve.create_operator_and_agent() is None:
        sys.exit("There is a hub in this database already.")
    with connection.cursor() as cursor:
        cursor.execute(FASTER[connection.vendor])
    keys = day.live(timezone.now())
    password = secrets.token_urlsafe(9)
    passwords.change(Caller.command_line(), User.objects.get(username=serve.OPERATOR), password)
    file.write_text(json.dumps({"password": password, "keys": keys}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
