"""A highly available PostgreSQL of three hosts: the examples of `deploy/high-availability`, in network namespaces.

The hosts db1 and db2 run etcd, Patroni and PostgreSQL; the host witness runs etcd alone. This process is on the host of
the hubs. It must be in a network namespace of its own, since it gives itself the address of that host.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from tests.support.hub import ROOT, has_ended, wait_until

EXAMPLES = ROOT / "deploy" / "high-availability"
HUBS = "10.77.0.10"  # the address of the host of the hubs
ADDRESSES = {"db1": "10.77.0.11", "db2": "10.77.0.12", "witness": "10.77.0.13"}
DATABASES = ("db1", "db2")
OWNER = "postgres"
SUPERUSER = "a-password-of-postgres"  # as in the example
PASSWORD = "a-password-of-hub"
BY_HAPROXY = f"postgresql://hub:{PASSWORD}@127.0.0.1:5000/hub?connect_timeout=3"
BY_HOSTS = (
    f"postgresql://hub:{PASSWORD}@10.77.0.11,10.77.0.12/hub"
    "?target_session_attrs=read-write&connect_timeout=3&tcp_user_timeout=10000&keepalives_idle=10"
)
BALANCED = 8000  # HAProxy's port that leads to the hubs
HUB_PORTS = (8001, 8002)
PROGRAMS = ("etcd", "patroni", "haproxy", "ip", "setpriv", "unshare")
PATIENCE = 180.0
RUNNING = ("running", "streaming")
# A shell gives a program of a host that host's own /var/lib and sockets, and then becomes the program.
ON_ITS_DISK = f"""
for name in etcd postgresql; do mount --bind "$1/$name" /var/lib/$name; done
mount --bind "$1/sockets" /var/run/postgresql
shift
exec setpriv --reuid={OWNER} --regid={OWNER} --init-groups "$@"
"""


def missing() -> str | None:
    """Return what this machine lacks for the cluster; None if it lacks nothing."""
    if os.geteuid() != 0:
        return "only root makes network namespaces"
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    return f"not installed: {', '.join(absent)}" if absent else None


@dataclass(slots=True, kw_only=True, eq=False)
class Host:
    """A host with a network namespace, a link to the others, and its programs. ``folder`` is its disk."""

    name: str
    folder: Path
    programs: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return ADDRESSES[self.name]

    @property
    def namespace(self) -> str:
        return f"a2a-{os.getpid()}-{self.name}"

    def connect(self) -> None:
        """Make the host's namespace and its link."""
        _ip("netns", "add", self.namespace)
        _ip("link", "add", self.name, "type", "veth", "peer", "name", "eth0", "netns", self.namespace)
        _ip("link", "set", self.name, "master", "hosts", "up")
        for arguments in (
            ("addr", "add", f"{self.address}/24", "dev", "eth0"),
            ("link", "set", "eth0", "up"),
            ("link", "set", "lo", "up"),
        ):
            _ip("-n", self.namespace, *arguments)

    def start(self) -> None:
        """Start the host's programs, as systemd does when the host boots."""
        self._start("etcd", "--config-file", str(self.settings("etcd.yml")))
        if self.name in DATABASES:
            self._start("patroni", str(self.settings("patroni.yml")))

    def processes(self) -> list[psutil.Process]:
        """Return every process in the host's namespace."""
        found = []
        for pid in _ip("netns", "pids", self.namespace).split():
            with contextlib.suppress(psutil.NoSuchProcess):
                found.append(psutil.Process(int(pid)))
        return found

    def kill(self) -> None:
        """Kill every process, as a loss of power does."""
        while running := [process for process in self.processes() if not has_ended(process)]:
            for process in running:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            time.sleep(0.05)
        for program in self.programs:
            program.wait()
        self.programs.clear()

    def cut_off(self) -> None:
        """Take the host off the network."""
        _ip("link", "set", self.name, "down")

    def join(self) -> None:
        """Put the host back on the network."""
        _ip("link", "set", self.name, "up")

    def freeze(self) -> None:
        """Stop every process where it is. Children that began meanwhile are stopped the second time."""
        self._signal_all(signal.SIGSTOP)
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: signal.Signals) -> None:
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def _start(self, program: str, *arguments: str) -> None:
        command = ["ip", "netns", "exec", self.namespace, "sh", "-ec", ON_ITS_DISK, program, str(self.folder)]
        with (self.folder / f"{program}.log").open("ab") as log:
            started = subprocess.Popen(
                [*command, program, *arguments],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={"PATH": os.environ["PATH"], "HOME": "/var/lib/postgresql"},
                start_new_session=True,
            )
        self.programs.append(started)

    def settings(self, example: str) -> Path:
        """Write the example with this host's name and address."""
        path = self.folder / example
        text = (EXAMPLES / example).read_text()
        path.write_text(text.replace("NAME", self.name).replace("ADDRESS", self.address))
        return path


@dataclass(slots=True, kw_only=True)
class Cluster:
    """The hosts, by name."""

    hosts: dict[str, Host]

    def views(self) -> list[dict[str, str]]:
        """Return the role of each running member by its host, as each of Patroni's hosts sees them at the moment.

        A role is "leader", "sync_standby" or "replica". A host that does not answer has no view.
        """
        found = []
        for name in DATABASES:
            with contextlib.suppress(OSError, ValueError):
                address = f"http://{ADDRESSES[name]}:8008/cluster"
                with urllib.request.urlopen(address, timeout=2) as answer:
                    members = json.load(answer)["members"]
                found.append({each["name"]: each["role"] for each in members if each["state"] in RUNNING})
        return found

    def wait_until_whole(self) -> tuple[Host, Host]:
        """Wait until both hosts see the same leader and synchronous standby; return these two."""
        give_up_at = time.monotonic() + PATIENCE
        while True:
            views = self.views()
            roles = {role: name for name, role in views[0].items()} if views else {}
            if len(views) == len(DATABASES) and views[0] == views[1] and {"leader", "sync_standby"} <= roles.keys():
                return self.hosts[roles["leader"]], self.hosts[roles["sync_standby"]]
            assert time.monotonic() < give_up_at, f"the cluster is not whole: {views}"
            time.sleep(0.2)

    def wait_for_leader_other_than(self, host: Host) -> None:
        """Wait until another host sees itself or a third one as the leader."""
        give_up_at = time.monotonic() + PATIENCE
        others = [name for name in DATABASES if name != host.name]
        while not any(view.get(name) == "leader" for view in self.views() for name in others):
            assert time.monotonic() < give_up_at, f"no other host leads: {self.views()}"
            time.sleep(0.1)

    def switch_over(self, leader: Host, standby: Host) -> None:
        """Ask Patroni to make the standby the leader, as an operator does before work on the leader's host."""
        wanted = json.dumps({"leader": leader.name, "candidate": standby.name}).encode()
        address = f"http://{leader.address}:8008/switchover"
        with urllib.request.urlopen(urllib.request.Request(address, wanted), timeout=60):
            pass

    def make_database(self) -> None:
        """Make the role and the database of the hubs."""
        leader, _ = self.wait_until_whole()
        with psycopg.connect(
            host=leader.address, user="postgres", password=SUPERUSER, dbname="postgres", autocommit=True
        ) as session:
            session.execute(sql.SQL("CREATE ROLE hub LOGIN PASSWORD {}").format(sql.Literal(PASSWORD)))
            session.execute("CREATE DATABASE hub OWNER hub")


@contextlib.contextmanager
def opened() -> Iterator[Cluster]:
    """Run the cluster, with HAProxy on this host, until the block ends. The database of the hubs is empty."""
    folder = Path(tempfile.mkdtemp(prefix="a2a-hosts-"))
    folder.chmod(0o755)
    _ip("link", "set", "lo", "up")
    _ip("link", "add", "hosts", "type", "bridge")
    _ip("addr", "add", f"{HUBS}/24", "dev", "hosts")
    _ip("link", "set", "hosts", "up")
    cluster = Cluster(hosts={name: Host(name=name, folder=folder / name) for name in ADDRESSES})
    balancing: subprocess.Popen[bytes] | None = None
    try:
        for host in cluster.hosts.values():
            for name in ("etcd", "postgresql", "sockets"):
                (host.folder / name).mkdir(parents=True)
                shutil.chown(host.folder / name, OWNER)
            host.connect()
            host.start()
        cluster.make_database()
        with (folder / "haproxy.log").open("ab") as log:
            command = ["haproxy", "-db", "-f", str(EXAMPLES / "haproxy.cfg")]
            balancing = subprocess.Popen(command, stdout=log, stderr=log)
        yield cluster
    finally:
        if balancing is not None:
            balancing.terminate()
            balancing.wait()
        for host in cluster.hosts.values():
            with contextlib.suppress(subprocess.CalledProcessError):
                host.thaw()
                host.kill()
                _ip("netns", "del", host.namespace)
        shutil.rmtree(folder, ignore_errors=True)


def wait_for_balance() -> None:
    """Wait until HAProxy leads to a hub."""
    address = f"http://127.0.0.1:{BALANCED}/healthz"

    def answers() -> bool:
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=2):
            return True
        return False

    wait_until(answers, every=0.2)


def alone(module: str, arguments: Sequence[str]) -> None:
    """Run this program again in a network namespace of its own, unless it is in one already."""
    if os.environ.get("A2A_PROOF_ALONE") != "1":
        os.environ["A2A_PROOF_ALONE"] = "1"
        command = ["unshare", "--net", sys.executable, "-m", module, *arguments]
        os.execvp(command[0], command)  # noqa: S606


def _ip(*arguments: str) -> str:
    command = ["ip", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
