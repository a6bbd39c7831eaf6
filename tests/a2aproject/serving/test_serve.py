import os
import re
import signal
import socket
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from http.client import HTTPConnection
from urllib.parse import urlsplit

import httpx
import psutil
import psycopg
import pytest

from tests.support.hub import PATIENCE, ROOT, command_of, has_ended, served, wait_until

pytestmark = pytest.mark.processes

TOKEN = "a-token-of-the-operator"
whole_hub = partial(served, services="all", migrates=True)


@pytest.fixture
def database_url(migrated_database):
    with migrated_database() as url:
        yield url


@pytest.fixture
def hub(tmp_path, database_url):
    """Return a hub to stop."""
    with whole_hub(tmp_path, database_url=database_url, workers=2, A2A_METRICS_TOKEN=TOKEN) as hub:
        yield hub


@pytest.fixture(scope="module")
def lasting_hub(tmp_path_factory, migrated_database):
    """Return a hub that the tests share: each leaves it whole."""
    with migrated_database() as url, whole_hub(tmp_path_factory.mktemp("hub"), database_url=url, workers=2) as hub:
        yield hub


@pytest.mark.smoke
@pytest.mark.one_database
def test_the_first_start_keeps_credentials_that_work_and_the_second_makes_none(tmp_path):
    file = tmp_path / "first-run.txt"
    with served(tmp_path, is_new=True) as hub:
        first, kept = hub.printed, file.read_text()
        password = re.findall(r"password +(\S+)", kept)[0]
        with httpx.Client(base_url=hub.url, follow_redirects=True) as browser:
            browser.get("/admin/login/")
            form = {"username": "operator", "password": password, "csrfmiddlewaretoken": browser.cookies["csrftoken"]}
            admin = browser.post("/admin/login/?next=/admin/", data=form)
        assert hub.stop() == 0
    with served(tmp_path, migrates=True) as hub:
        second = hub.printed.removeprefix(first)
        processes = {*hub.descendants()}
        own = {hub.web_server(), *hub.web_workers()}

    assert "Sign out" in admin.text
    assert len(re.findall(r"API key +a2a_\w+", kept)) == 2
    assert f"are in {file}. Keep them elsewhere, and delete the file." in first
    assert "a2a_" not in first
    assert password not in first
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == (kept, 0o600)
    assert "API key" not in second
    assert "password" not in second
    assert processes == own


@pytest.mark.one_database
def test_the_hub_s_data_are_private(lasting_hub):
    var = lasting_hub.log.parent
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in var.rglob("*") if path != lasting_hub.log}

    assert stat.S_IMODE(var.stat().st_mode) == 0o700
    assert modes == {(False, 0o600), (True, 0o700)}


@pytest.mark.one_database
def test_the_api_reference_loads_nothing_from_other_hosts(lasting_hub):
    page = httpx.get(f"{lasting_hub.url}/api/docs/")
    assets = re.findall(r'(?:src|href)="([^"]+)"', page.text)

    assert page.is_success
    assert assets
    assert all(asset.startswith("/static/") for asset in assets)
    assert all(httpx.get(f"{lasting_hub.url}{asset}").is_success for asset in assets)
    assert httpx.get(f"{lasting_hub.url}/api/schema/").is_success


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("path", "size", "headers", "status"),
    [
        ("/a2a/tasks", 3_000_000, {"X-API-Key": None}, 413),
        ("/a2a/tasks", 8_000_000, {"X-API-Key": None}, 413),
        ("/a2a/tasks", 1_000_000, {}, 401),
        ("/a2a/tasks/next/nowhere", 1_000_000, {}, 404),
        ("/p/no-such-route/a2a/tasks/send", 1_000_000, {}, 404),
        ("/ops/", 1_000_000, {}, 403),
    ],
)
def test_a_client_that_writes_before_it_reads_gets_the_error(lasting_hub, path, size, headers, status):
    key = re.findall(r"API key +(a2a_\w+)", lasting_hub.first_run)[-1]
    headers = {"Content-Type": "application/json"} | dict.fromkeys(headers, key)
    address = urlsplit(lasting_hub.url)

    for _ in range(8):
        with closing(HTTPConnection(address.hostname, address.port, timeout=PATIENCE)) as client:
            client.request("POST", path, b" " * size, headers)
            assert client.getresponse().status == status


@pytest.mark.smoke
@pytest.mark.one_database
def test_a_killed_web_worker_comes_back(lasting_hub):
    workers = lasting_hub.web_workers()

    workers[0].kill()
    wait_until(lambda: has_ended(workers[0]))
    wait_until(lambda: len(lasting_hub.web_workers()) == len(workers))
    wait_until(lambda: all(worker.num_threads() > 1 for worker in lasting_hub.web_workers()))

    lasting_hub.wait_until_up()
    assert workers[0] not in lasting_hub.web_workers()


@pytest.mark.one_database
def test_a_killed_web_server_comes_back_without_its_old_workers(lasting_hub):
    main, workers = lasting_hub.web_server(), lasting_hub.web_workers()

    main.kill()
    wait_until(lambda: all(map(has_ended, (main, *workers))))
    lasting_hub.wait_until_up()

    assert lasting_hub.web_server().pid != main.pid


@pytest.mark.smoke
@pytest.mark.one_database
def test_a_killed_cluster_comes_back_and_its_jobs_go_on(lasting_hub):
    cluster = lasting_hub.cluster()

    cluster.kill()
    wait_until(lambda: has_ended(cluster))

    lasting_hub.wait_for_a_sweep()
    assert lasting_hub.cluster() != cluster


@pytest.mark.smoke
@pytest.mark.one_database
def test_a_stop_signal_ends_every_process(hub):
    processes = hub.descendants()
    programs = [" ".join(command_of(process)) for process in processes]

    assert hub.stop(signal.SIGINT) == 0
    assert all(any(word in program for program in programs) for word in ("granian", "cluster", "carry"))
    assert all(map(has_ended, processes))
    assert "did not stop in time" not in hub.printed


@pytest.mark.one_database
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_every_process_at_once_stops_the_hub_in_silence(hub, number):
    processes = [*hub.roles().values()]
    wait_until(lambda: "A2A Hub is ready." in hub.printed)
    printed = hub.printed

    for process in reversed(processes):
        process.send_signal(number)

    assert hub.process.wait(PATIENCE) == 0
    assert all(map(has_ended, processes))
    assert "Traceback" not in hub.printed
    assert "did not stop in time" not in hub.printed
    # The web server reports a worker that was stopped while it loaded.
    lines = hub.printed.removeprefix(printed).splitlines()
    assert [line for line in lines if "Unexpected exit from worker" not in line] == ["Stopping."]


@pytest.mark.one_database
def test_the_hub_has_six_processes(lasting_hub):
    wait_until(lambda: len(lasting_hub.roles()) == 6)

    assert len(lasting_hub.descendants()) + 1 == 6


@pytest.mark.one_database
@pytest.mark.processes
@pytest.mark.skipif("not __import__('sys').platform.startswith('linux')")
def test_the_idle_hub_needs_little_memory(tmp_path):
    with whole_hub(tmp_path, workers=2) as hub:
        hub.wait_for_a_sweep()
        shares = [process.memory_full_info().pss for process in hub.roles().values()]

    # The packages of the tests cost each process 4 MB, because the REST framework imports `requests` if it is there.
    assert sum(shares) < 330 * 2**20


@pytest.mark.one_database
def test_the_supervisor_has_no_django(lasting_hub):
    (supervisor, *_) = lasting_hub.roles().values()

    assert "supervise.py" in command_of(supervisor)[-1]
    assert supervisor.memory_info().rss < 40 * 2**20


@pytest.mark.one_database
def test_a_hub_starts_while_its_killed_predecessor_ends(hub):
    processes = hub.descendants()
    hub.process.kill()
    hub.process.wait()

    with whole_hub(hub.log.parent, database_url=hub.database_url, port=urlsplit(hub.url).port or 0) as successor:
        wait_until(lambda: all(map(has_ended, processes)))
        successor.wait_for_a_sweep()


@pytest.mark.one_database
def test_long_polls_return_on_shutdown(hub):
    key = re.findall(r"API key +(a2a_\w+)", hub.first_run)[-1]

    def poll(_):
        headers = {"Authorization": f"Bearer {key}"}
        return httpx.get(f"{hub.url}/a2a/tasks/next", params={"wait_ms": 50_000}, headers=headers, timeout=PATIENCE)

    def are_waiting():
        told = httpx.get(f"{hub.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE)
        return "\na2a_waits 4.0\n" in told.raise_for_status().text

    processes = hub.descendants()
    with ThreadPoolExecutor(4) as pool:
        polls = pool.map(poll, range(4))
        wait_until(are_waiting)
        code = hub.stop()
        answers = list(polls)

    assert code == 0
    assert [(answer.status_code, answer.json()["task"]) for answer in answers] == [(200, None)] * 4
    assert all(map(has_ended, processes))
    assert "did not stop in time" not in hub.printed


@pytest.mark.one_database
def test_no_process_outlives_a_killed_supervisor(hub):
    processes = hub.descendants()

    hub.process.kill()
    hub.process.wait()

    wait_until(lambda: all(map(has_ended, processes)))


@pytest.mark.one_database
def test_no_process_outlives_a_killed_supervisor_and_its_killed_programs(hub):
    wait_until(lambda: len(hub.descendants()) >= 3 + 2)  # the programs, and the web server's workers
    programs = psutil.Process(hub.process.pid).children()
    processes = hub.descendants()

    hub.process.kill()
    hub.process.wait()
    for program in programs:
        with suppress(psutil.NoSuchProcess):  # it has seen the end of its supervisor already
            program.kill()

    wait_until(lambda: all(map(has_ended, processes)))


@pytest.mark.skipif("not __import__('os').environ.get('DATABASE_URL', '').startswith('postgres')")
def test_readyz_reports_a_missing_database(hub, database_url):
    assert httpx.get(f"{hub.url}/readyz").status_code == 200
    name = database_url.rpartition("/")[2]
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" WITH ALLOW_CONNECTIONS false')
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])

    wait_until(lambda: httpx.get(f"{hub.url}/readyz", timeout=PATIENCE).status_code == 503)


@pytest.mark.one_database
def test_a_port_in_use_stops_the_hub_before_it_migrates(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = subprocess.run(
            [sys.executable, "manage.py", "serve"],
            cwd=ROOT,
            env=os.environ | {"PORT": port, "A2A_VAR": str(tmp_path), "DATABASE_URL": ""},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    assert refused.returncode == 1
    assert f"Port {port} on 127.0.0.1 is in use" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert (tmp_path / "hub.sqlite3").stat().st_size == 0
