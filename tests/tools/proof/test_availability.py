"""The proof of takeovers: its page, its hosts, and the examples of `deploy/high-availability` that it runs."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools.lint import prose
from tools.lint.project import File
from tools.proof import availability, cluster
from tools.proof.availability import Run
from tools.proof.evidence import Violation
from tools.proof.forms import Part, Strike

pytestmark = pytest.mark.one_database

FOLDER = Path("db1")


def example(name: str) -> Any:
    return yaml.safe_load((cluster.EXAMPLES / name).read_text())


def run(*violations: str) -> Run:
    part = Part(name="faults of hosts", database="postgresql", seed=1, operations=Counter(send=5, drain=3), tries=9)
    part.strikes = [
        Strike(name="leader killed", recovery=12.5, silence=13.0),
        Strike(name="leader killed", recovery=14.5, silence=16.0),
        Strike(name="switched over", recovery=0.5, silence=2.0),
    ]
    part.violations = [Violation(name, "request") for name in violations]
    return Run(commit="abc1234", versions=["patroni 3.0.2"], parts=[part], takeovers=3)


def test_the_page_has_the_times_of_each_fault_and_no_broken_promise(tmp_path: Path) -> None:
    page = availability.page(run())

    assert "| takeovers | 3 |" in page
    assert "| **tasks or results lost** | 0 |" in page
    assert "| leader killed | 2 | 13.5 | 14.5 | 14.5 | 16.0 |" in page
    assert "patroni 3.0.2" in page
    (tmp_path / "takeovers.md").write_text(page)
    passages = prose.of_markdown(File(tmp_path, "takeovers.md"))
    assert [fault for passage in passages for fault in prose.faults(passage.text)] == []


def test_the_page_counts_each_broken_promise_once():
    page = availability.page(run("acknowledged_task_lost", "fault_promise_broken"))

    assert "| **tasks or results lost** | 1 |" in page
    assert "| **other broken promises** | 1 |" in page


def test_a_run_holds_only_with_all_its_takeovers_and_no_broken_promise():
    assert run().holds(3)
    assert not run().holds(4)
    assert not run("acknowledged_task_lost").holds(3)


def test_the_twenty_takeovers_strike_the_leader_in_each_way_alike():
    names = Counter(fault.name for fault in availability.faults_of_leaders(availability.TAKEOVERS))

    assert set(names.values()) == {5}
    assert len(names) == 4


def test_the_examples_name_the_hosts_that_the_proof_runs():
    of_etcd = dict(member.split("=", 1) for member in example("etcd.yml")["initial-cluster"].split(","))
    haproxy = (cluster.EXAMPLES / "haproxy.cfg").read_text()

    assert of_etcd == {name: f"http://{address}:2380" for name, address in cluster.ADDRESSES.items()}
    members = example("patroni.yml")["etcd"]["hosts"].split(",")
    assert members == [f"{each}:2379" for each in cluster.ADDRESSES.values()]
    assert all(f"server {name} {cluster.ADDRESSES[name]}:5432 check port 8008" in haproxy for name in cluster.DATABASES)
    assert all(f"127.0.0.1:{port} check" in haproxy for port in cluster.HUB_PORTS)


def test_patroni_s_lease_leaves_time_for_its_retries():
    of_cluster = example("patroni.yml")["bootstrap"]["dcs"]

    assert of_cluster["synchronous_mode"] is True
    assert of_cluster["ttl"] >= of_cluster["loop_wait"] + 2 * of_cluster["retry_timeout"]


def test_a_cluster_is_whole_when_both_hosts_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = cluster.Cluster(hosts={name: cluster.Host(name=name, folder=FOLDER) for name in cluster.ADDRESSES})
    of_before, of_now = {"db1": "leader", "db2": "sync_standby"}, {"db1": "sync_standby", "db2": "leader"}
    views = iter([[], [of_now], [of_before, of_now], [{"db2": "leader"}] * 2, [of_now, of_now]])
    monkeypatch.setattr(cluster.Cluster, "views", lambda self: next(views))
    monkeypatch.setattr("time.sleep", lambda seconds: None)

    assert [host.name for host in hosts.wait_until_whole()] == ["db2", "db1"]
    assert next(views, None) is None


def test_another_host_s_settings_differ_by_its_name_and_address_alone(tmp_path: Path) -> None:
    host = cluster.Host(name="db2", folder=tmp_path)

    path = host.settings("patroni.yml")

    settings = yaml.safe_load(path.read_text())
    assert settings["name"] == "db2"
    assert settings["restapi"]["listen"] == "10.77.0.12:8008"
    assert settings["bootstrap"] == example("patroni.yml")["bootstrap"]
