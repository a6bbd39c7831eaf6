import pytest
from django.contrib.auth.models import User
from django.core.management.base import CommandError

from mailbox.access.callers import Caller, Role
from mailbox.access.people import second_factor
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.codes import code_of


def test_a_lost_second_factor_is_removed(a2a, a2a_json, cast):
    factories.person("ana", Role.OPERATOR)
    ana, caller = User.objects.get(username="ana"), Caller.command_line()
    second_factor.confirm(caller, ana, code_of(second_factor.start(caller, ana)), ending=[])

    removed = a2a_json("people", "reset-second-factor", "ana", "--json")

    assert removed == {"kind": "a2a_second_factor_reset", "username": "ana", "removed": True}
    assert second_factor.of_person(ana) is None
    assert factories.journal(Kind.SECOND_FACTOR_REMOVED)[0].source == "cli"
    assert a2a("people", "reset-second-factor", "ana").strip() == "ana signs in with the password alone, as before"


def test_an_unknown_name_is_refused(a2a, cast):
    with pytest.raises(CommandError, match="no such person"):
        a2a("people", "reset-second-factor", "nobody")
