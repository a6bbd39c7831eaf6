"""The defaults of the number of web processes and of their connections."""

import os

import pytest

from a2aproject.settings import environment
from a2aproject.settings.environment import Environment

pytestmark = pytest.mark.one_database


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Return a function that counts on a machine with so many processors and these control groups."""

    def counted(own, files=(), membership="0::/a/b\n"):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(own)), raising=False)
        (tmp_path / "membership").write_text(membership)
        for name, text in dict(files).items():
            file = tmp_path / "groups" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return environment.processors(tmp_path / "groups", tmp_path / "membership")

    return counted


@pytest.mark.parametrize(
    ("own", "files", "wanted"),
    [
        (1, {}, 1),
        (6, {}, 6),
        (6, {"cpu.max": "max 100000\n"}, 6),
        (6, {"a/b/cpu.max": "150000 100000\n"}, 2),
        (6, {"a/cpu.max": "100000 100000\n", "a/b/cpu.max": "max 100000\n"}, 1),
        (6, {"cpu.max": "50000 100000\n"}, 1),
        (2, {"cpu.max": "800000 100000\n"}, 2),
        (6, {"c/cpu.max": "100000 100000\n"}, 6),
        (6, {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 6),
        (6, {"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        (6, {"cpu.max": "garbage\n"}, 6),
        (6, {"cpu.max": "100000 0\n"}, 6),
        (6, {"cpu.max": ""}, 6),
    ],
)
def test_processors_are_those_that_the_system_grants(machine, own, files, wanted):
    assert machine(own, files) == wanted


def test_without_the_files_of_linux_all_processors_count(machine, monkeypatch, tmp_path):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 5)

    assert environment.processors(tmp_path / "nowhere", tmp_path / "nothing") == 5


@pytest.mark.parametrize(
    ("count", "variables", "wanted"),
    [
        (2, {}, (2, 16)),
        (1, {}, (1, 16)),
        (8, {}, (4, 14)),
        (8, {"DATABASE_URL": "postgresql://u@h/n"}, (8, 6)),
        (100, {"DATABASE_URL": "postgres://u@h/n"}, (16, 2)),
        (100, {"DATABASE_URL": "postgres://u@h/n", "WEB_WORKERS": "40"}, (40, 2)),
        (8, {"DATABASE_URL": "sqlite:////tmp/x"}, (4, 14)),
        (8, {"WEB_WORKERS": "12"}, (12, 3)),
        (8, {"WEB_WORKERS": "12", "DATABASE_POOL_SIZE": "7"}, (12, 7)),
    ],
)
def test_the_defaults_follow_the_processors(monkeypatch, count, variables, wanted):
    monkeypatch.setattr(environment, "processors", lambda: count)
    env = Environment()
    env.ENVIRON = variables

    assert (environment.web_workers(env), environment.pool_size(env)) == wanted


@pytest.mark.parametrize("count", range(1, 130))
def test_the_defaults_leave_room_on_a_server_with_one_hundred_connections(monkeypatch, count):
    monkeypatch.setattr(environment, "processors", lambda: count)
    env = Environment()
    env.ENVIRON = {"DATABASE_URL": "postgresql://u@h/n"}

    assert environment.web_workers(env) * (environment.pool_size(env) + len(("listener", "ringer"))) <= 64
