import pytest

from a2aproject.management.commands import serve

pytestmark = pytest.mark.one_database


@pytest.mark.parametrize("is_built", [True, False])
def test_the_start_names_the_documentation_only_where_it_is_built(settings, tmp_path, is_built):
    settings.A2A_SITE = tmp_path if is_built else tmp_path / "nowhere"

    assert any("/docs/" in line and "Documentation" in line for line in serve._greeting().text.splitlines()) == is_built
