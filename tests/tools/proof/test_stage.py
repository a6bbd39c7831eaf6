import pytest

from tools.proof.history import History
from tools.proof.stage import Stage, opened

pytestmark = [pytest.mark.processes, pytest.mark.one_database]


@pytest.mark.parametrize("how", ["restart_hub", "kill_hub"])
def test_a_hub_is_restarted_at_its_url(tmp_path, how):
    with opened(Stage(database="sqlite", folder=tmp_path, history=History(1), services="web", workers=1)) as stage:
        first = stage.hub
        if how == "kill_hub":
            stage.kill_hub()
            assert not first.is_up()
        stage.restart_hub()

        assert stage.hub.is_up()
        assert stage.hub.url == first.url == stage.url
        assert "API key" in stage.first_output
