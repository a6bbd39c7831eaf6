"""The hub's folder and database file: private when the hub makes them, and otherwise left as they are."""

import stat

import pytest

from a2aproject.errors import UnusableSettingError
from a2aproject.settings.database import opened, private_file, private_folder
from tests.support.settings import settings_of

pytestmark = pytest.mark.one_database


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def shared(tmp_path):
    """Return a folder that every user may enter and read."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o755)
    return folder


def test_a_new_folder_and_its_new_parents_are_private(shared):
    made = private_folder(shared / "a" / "b")

    assert (mode(made), mode(made.parent), mode(shared)) == (0o700, 0o700, 0o755)


@pytest.mark.parametrize("given", [0o1777, 0o755, 0o750, 0o711, 0o555, 0o720])
def test_a_folder_that_others_can_use_is_refused_and_left_as_it_is(shared, given):
    shared.chmod(given)

    with pytest.raises(
        UnusableSettingError, match=rf"A2A_VAR: other users can use {shared} \(mode {given:04o}\).*a2a-hub"
    ):
        opened(shared, shared / "hub.sqlite3", configured="", make=True)

    assert mode(shared) == given
    assert list(shared.iterdir()) == []


@pytest.mark.parametrize("given", [0o700, 0o500])
def test_a_private_folder_keeps_its_mode(tmp_path, given):
    tmp_path.chmod(given)

    private_folder(tmp_path)

    assert mode(tmp_path) == given


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "var").touch()

    with pytest.raises(UnusableSettingError, match=r"A2A_VAR: the hub cannot use .*/var: File exists\."):
        opened(tmp_path / "var", None, configured="given", make=True)


def test_a_database_file_that_others_can_open_is_refused_and_left_as_it_is(shared):
    file = shared / "hub.sqlite3"
    file.touch(mode=0o600)
    assert mode(private_file(file)) == 0o600
    file.chmod(0o644)

    with pytest.raises(
        UnusableSettingError, match=rf"DATABASE_URL: other users can open {file} \(mode 0644\).*chmod 600"
    ):
        private_file(file)

    assert mode(file) == 0o644


def test_a_database_file_in_a_private_folder_may_have_any_mode(tmp_path):
    file = tmp_path / "hub.sqlite3"
    file.touch()
    file.chmod(0o644)

    assert mode(private_file(file)) == 0o644


def test_settings_with_an_open_folder_are_refused_in_one_sentence(shared):
    with pytest.raises(UnusableSettingError) as refused:
        settings_of(A2A_VAR=str(shared))

    assert str(refused.value) == (
        f"A2A_VAR: other users can use {shared} (mode 0755): run `chmod 700 {shared}` if it is the hub's alone, "
        f"or set A2A_VAR to a folder such as {shared}/a2a-hub."
    )
    assert mode(shared) == 0o755
