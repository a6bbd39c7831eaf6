"""The first run: a new hub gets an operator and an agent."""

import contextlib
import secrets
from pathlib import Path
from typing import NamedTuple

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group

from mailbox.access.agents import registration
from mailbox.access.agents.registration import Registration
from mailbox.access.callers import Caller, Role
from mailbox.access.credentials import keys
from mailbox.access.people import passwords
from mailbox.database.backups import files
from mailbox.words.errors import AgentConflictError

OPERATOR = "operator"
FIRST_AGENT = "first@local"
FILE = "first-run.txt"  # in the hub's own folder, with mode 0600


class Credentials(NamedTuple):
    """Secrets that the hub stores only as digests. ``first`` is None if another agent has its name."""

    password: str
    operator_key: str
    first: Registration | None

    def announce(self, folder: Path, *, on_terminal: bool) -> str:
        """Write the secrets to the private file `FILE` in ``folder``; return the text to print.

        Only a terminal gets the secrets, because other output may stay in a log. Raises `OSError`, and `BackupError`
        while another process writes the file.
        """
        file, text = folder / FILE, self.describe()
        with files.appearing(file) as stream:
            stream.write(f"{text}\n".encode())
        if on_terminal:
            return f"{text}\nThey are also in {file}. Delete that file once you keep them elsewhere.\n"
        return (
            f"The keys of the operator and of the first agent are in {file}. Keep them elsewhere, and delete the file."
        )

    def describe(self) -> str:
        """Return the text that the first run writes to `FILE`."""
        lines = [
            "Keep these. The hub itself stores only digests, and never prints them again.",
            "",
            "  Operator, for the browser and for automation",
            f"    name         {OPERATOR}",
            f"    password     {self.password}",
            f"    API key      {self.operator_key}",
            "",
        ]
        if self.first is not None:
            lines += [
                "  First agent",
                f"    name         {self.first.agent.display}",
                f"    API key      {self.first.api_key}",
                f"    public key   {self.first.agent.pubkey}",
                f"    private key  {self.first.private_key}",
                "",
            ]
        return "\n".join(lines)


def create_operator_and_agent() -> Credentials | None:
    """Create the operator and the first agent, each with a key; return None where there is a user already.

    The user comes first, so that a first run cut short is never tried again: `manage.py changepassword` and
    `manage.py a2a` make what it still lacks.
    """
    users = get_user_model()
    if users.objects.exists():
        return None
    caller = Caller.command_line()
    password = secrets.token_urlsafe(18)
    operator = users.objects.create_superuser(OPERATOR)
    operator.password = passwords.first_hash(password)
    operator.save(update_fields=["password"])
    operator.groups.add(Group.objects.get(name=Role.ADMIN))
    operator_key = keys.add_key(caller, username=OPERATOR).secret
    first = None
    with contextlib.suppress(AgentConflictError):
        first = registration.register_agent(caller, FIRST_AGENT)
    return Credentials(password=password, operator_key=operator_key, first=first)
