"""No dialect escapes the conformance suite."""

import pytest

from mailbox.life import results
from mailbox.models import PushDelivery
from tests.mailbox.dialects.conformance import registry
from tests.support import factories
from tests.support.api import schema, template_of
from tests.support.doors import Act


def unregistered(dialects):
    """Return which of these dialects have no door to send at and to read at."""
    acts: dict[str, set[Act]] = {name: set() for name in dialects}
    for module in registry.MODULES:
        if module.parent.name in acts:
            acts[module.parent.name].update(*(door.does for door in registry.doors_of(module)))
    return {name for name, done in acts.items() if not {Act.SEND, Act.READ} <= done}


@pytest.mark.one_database
def test_every_dialect_registers_doors_that_send_and_read():
    assert unregistered(registry.dialects_in(registry.DIALECTS)) == set()


@pytest.mark.one_database
def test_a_new_folder_of_a_dialect_is_reported_until_it_registers(tmp_path):
    for name in ("base", "corvid", "planted"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()

    assert unregistered(registry.dialects_in(tmp_path)) == {"planted"}


@pytest.mark.one_database
def test_every_act_is_done_by_a_door_of_a_dialect():
    assert set().union(*(door.does for door in registry.DOORS)) == set(Act)
    assert len({door.__name__ for door in registry.DOORS}) == len(registry.DOORS)


@pytest.mark.one_database
@registry.http_doors_that(Act.PARSE)
def test_the_send_route_is_in_the_openapi_document(door):
    assert "post" in schema()["paths"][template_of(door.send_path)]


@pytest.mark.django_db
@registry.doors_that(Act.SEND)
def test_a_callback_of_the_dialect_names_its_task(door, alice, bob):
    task = factories.leased_task(alice, bob, dialect=door.dialect, callback_url="https://example.org/end").task

    results.post_result(bob, factories.result_envelope(task))

    assert str(task.uuid) in PushDelivery.objects.get().body
