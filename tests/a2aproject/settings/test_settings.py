import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from a2aproject.errors import UnusableSettingError
from a2aproject.settings.database import opened_seal_key, secret
from tests.support.hub import PATIENCE, ROOT
from tests.support.settings import UNSET, settings_of

pytestmark = pytest.mark.one_database

HTTPS = "https://hub.example.org"


@pytest.fixture
def read(tmp_path):
    """Return a function that reads settings by name with the given environment."""

    def read(*names, **environment):
        found = settings_of(**{"A2A_VAR": str(tmp_path / "var")} | environment)
        return [getattr(found, name) for name in names]

    return read


def test_the_secret_key_is_made_once_and_kept_private(read, tmp_path):
    first, second = read("SECRET_KEY"), read("SECRET_KEY")

    assert first == second
    assert len(first[0]) >= 50
    assert stat.S_IMODE((tmp_path / "var" / "secret_key").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "var").stat().st_mode) == 0o700
    assert read("SECRET_KEY", SECRET_KEY="from the environment") == ["from the environment"]


def test_earlier_secrets_come_from_the_environment_and_then_from_the_hub_s_file(read, tmp_path):
    assert read("SECRET_KEY_FALLBACKS") == [[]]
    (tmp_path / "var" / "secret_key_fallbacks").write_text("second\nthird\n")

    assert read("SECRET_KEY_FALLBACKS", SECRET_KEY_FALLBACKS="first,second") == [["first", "second", "third"]]


def test_the_server_of_mail_is_read_from_its_url(read):
    names = ("EMAIL_HOST", "EMAIL_PORT", "EMAIL_HOST_USER", "EMAIL_HOST_PASSWORD", "EMAIL_USE_TLS", "EMAIL_USE_SSL")

    assert read(*names, EMAIL_URL="smtp+tls://ana%40example.org:s%3Acret@mail.example.org:587") == [
        *("mail.example.org", 587, "ana@example.org", "s:cret"),
        *(True, False),
    ]
    assert read(*names, EMAIL_URL="smtp://localhost") == ["localhost", 25, "", "", False, False]


def test_the_seal_key_is_made_once_and_kept_private(read, tmp_path):
    first, second = read("A2A_SEAL_KEY"), read("A2A_SEAL_KEY")

    assert first == second
    assert len(bytes.fromhex(first[0])) == 32
    assert stat.S_IMODE((tmp_path / "var" / "seal_key").stat().st_mode) == 0o600
    assert read("A2A_SEAL_KEY", A2A_SEAL_KEY="ab" * 32) == ["ab" * 32]


def test_a_seal_key_of_another_form_stops_the_start(tmp_path):
    with pytest.raises(UnusableSettingError, match="A2A_SEAL_KEY: a seal key is 64 hexadecimal digits"):
        opened_seal_key(tmp_path, None, configured="short", make=True)
    (tmp_path / "seal_key").write_text("torn")
    with pytest.raises(UnusableSettingError, match="seal_key: a seal key is 64 hexadecimal digits"):
        opened_seal_key(tmp_path, None, configured="", make=True)


@pytest.mark.processes
def test_processes_that_race_for_a_secret_get_the_same_one(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        secrets = set(pool.map(lambda n: _secret_in_a_process(tmp_path), range(8)))

    assert len(secrets) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def _secret_in_a_process(folder):
    read = f"print(secret(Path({str(folder)!r}) / 'secret_key'))"
    code = f"from pathlib import Path; from a2aproject.settings.database import secret; {read}"
    return subprocess.check_output([sys.executable, "-c", code], cwd=ROOT)


def test_a_stored_secret_is_read_back(tmp_path):
    assert secret(tmp_path / "key") == secret(tmp_path / "key") == (tmp_path / "key").read_text()


def test_the_database_is_a_private_sqlite_file_by_default(read, tmp_path):
    ((databases,),) = [read("DATABASES")]
    file = tmp_path / "var" / "hub.sqlite3"

    assert databases["default"]["NAME"] == str(file)
    assert databases["default"]["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert databases["default"]["CONN_MAX_AGE"] is None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_postgresql_commits_synchronously_and_bounds_every_wait(read):
    (databases,) = read(
        "DATABASES", DATABASE_URL="postgresql://me:pw@db.example:5433/hub?options=-c%20lock_timeout%3D5"
    )
    database = databases["default"]

    assert (database["HOST"], database["PORT"], database["NAME"]) == ("db.example", 5433, "hub")
    assert "-c synchronous_commit=on" in database["OPTIONS"]["options"]
    assert "-c statement_timeout=30000" in database["OPTIONS"]["options"]
    assert "-c random_page_cost=1.1 -c max_parallel_workers_per_gather=0 -c jit=off" in database["OPTIONS"]["options"]
    assert database["OPTIONS"]["options"].endswith("-c lock_timeout=5")
    assert "pool" not in database["OPTIONS"]


def test_a_web_process_pools_its_postgresql_connections(read):
    url = "postgresql://me@%2Frun%2Fpostgresql/hub"
    (databases,) = read("DATABASES", DATABASE_URL=url, A2A_IS_WEB_PROCESS="1", DATABASE_POOL_SIZE="5")

    assert databases["default"]["HOST"] == "/run/postgresql"
    assert databases["default"]["OPTIONS"]["pool"] == {
        "min_size": 1,
        "max_size": 5,
        "timeout": 3,
        "reconnect_timeout": 5,
    }
    assert databases["default"]["CONN_MAX_AGE"] == 0


def test_behind_a_pooler_no_process_listens(read):
    pooled = {"DATABASE_URL": "postgresql://hub@h1/hub", "DATABASE_POOLER": "transaction"}

    assert read("A2A_WAKE_UPS", **pooled) == ["poll"]
    with pytest.raises(UnusableSettingError, match="A2A_WAKE_UPS is 'auto': it must be one of POLL"):
        read("A2A_WAKE_UPS", **pooled, A2A_WAKE_UPS="auto")


def test_public_url_sets_the_allowed_hosts_and_secure_cookies(read):
    names = ("ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "SESSION_COOKIE_SECURE", "SECURE_HSTS_SECONDS")

    hosts, origins, secure, hsts = read(*names, PUBLIC_URL="https://hub.example:8443/")
    assert "hub.example" in hosts
    assert "127.0.0.1" in hosts
    assert "*" not in hosts
    assert origins == ["https://hub.example:8443"]
    assert (secure, hsts > 0) == (True, True)

    assert read("PUBLIC_URL", BIND_HOST="::", PORT="4000") == ["http://[::1]:4000"]
    assert read("PUBLIC_URL", BIND_HOST="10.0.0.7", PORT="4000") == ["http://10.0.0.7:4000"]

    hosts, origins, secure, hsts = read(*names, PORT="4000")
    assert origins == ["http://127.0.0.1:4000"]
    assert (secure, hsts) == (False, 0)


def test_replay_statuses_are_read_in_any_case_and_with_spaces(read):
    assert read("A2A_REPLAY_STATUSES", A2A_REPLAY_STATUSES="OK, error ") == [["ok", "error"]]


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("PORT", "abc", "PORT is 'abc': it must be a whole number."),
        ("PORT", "-1", "PORT is -1: it must be between 0 and 65535."),
        ("PORT", "70000", "PORT is 70000: it must be between 0 and 65535."),
        ("STOP_GRACE", "0", "STOP_GRACE is 0: it must be between 1 and 3600."),
        ("WEB_WORKERS", "0", "WEB_WORKERS is 0: it must be between 1 and 1024."),
        ("PUBLIC_URL", "garbage", "PUBLIC_URL is 'garbage': it must be a URL such as https://hub.example.org."),
        ("PUBLIC_URL", "ftp://x", "PUBLIC_URL is 'ftp://x': it must be a URL such as https://hub.example.org."),
        ("A2A_PUBLIC_AGENT_CARDS", "perhaps", "it must be 1 (on) or 0 (off)."),
        ("A2A_CAPABILITIES", "{", "A2A_CAPABILITIES is '{': it must be JSON."),
        *(
            ("A2A_CAPABILITIES", value, "A2A_CAPABILITIES must be a JSON list of objects, each with name, description")
            for value in ('{"x":1}', "[1]", '"abc"', '[{"name":"qa"}]', '[{"name":1,"description":"","version":"1"}]')
        ),
        ("LOG_FORMAT", "xml", "LOG_FORMAT is 'xml': it must be one of TEXT, JSON."),
        ("A2A_METRICS_TOKEN", "short", "A2A_METRICS_TOKEN must have at least 16 characters."),
        ("A2A_METRICS_ALLOW", "here", "A2A_METRICS_ALLOW is 'here': it must list addresses and networks"),
        ("A2A_ALERT_FORMAT", "teams", "A2A_ALERT_FORMAT is 'teams': it must be one of JSON, SLACK."),
        ("A2A_ALERT_MAIL", "ana@example.org", "A2A_ALERT_MAIL needs EMAIL_URL, the server that takes the mail."),
        ("A2A_ALERT_MAIL_FROM", "hub", "A2A_ALERT_MAIL and A2A_ALERT_MAIL_FROM must be mail addresses; 'hub' is none."),
        *(
            ("EMAIL_URL", value, "EMAIL_URL must be a URL with one of smtp, smtp+tls, smtp+ssl and a host.")
            for value in ("mail.example.org", "https://mail.example.org", "smtp://")
        ),
        ("LOG_LEVEL", "loud", "LOG_LEVEL is 'loud': it must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL."),
        *(
            ("A2A_REPLAY_STATUSES", value, "it must list one or more of ok, partial, error, separated by commas.")
            for value in ("okay", "", "ok error")
        ),
        ("A2A_VAR", "/proc/nope", "A2A_VAR: the hub cannot use /proc/nope: No such file or directory."),
        ("DATABASE_URL", "sqlite:////proc", "the hub cannot use /proc: Is a directory."),
        ("DATABASE_URL", "sqlite:///", "Several processes share the file, so it cannot be in memory."),
        *(
            ("DATABASE_URL", url, "DATABASE_URL must be sqlite:///")
            for url in ("bogus", "mysql://a/b", "postgresql://")
        ),
    ],
)
def test_invalid_settings_are_refused_in_one_line_before_any_file_exists(read, tmp_path, variable, value, message):
    with pytest.raises(UnusableSettingError) as refused:
        read(**{variable: value})

    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "var" / "hub.sqlite3").exists()


def served(tmp_path, **environment):
    env = os.environ | UNSET | {"A2A_VAR": str(tmp_path)} | environment
    command = [sys.executable, "manage.py", "serve"]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.processes
def test_a_refused_setting_stops_the_hub_with_one_line(tmp_path):
    refused = served(tmp_path, PORT="abc")

    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == "PORT is 'abc': it must be a whole number.\n"


@pytest.mark.processes
def test_settings_that_a_system_check_reports_stop_the_hub_before_it_migrates(tmp_path):
    refused = served(tmp_path, A2A_REMOTE_CONCURRENCY="0")

    assert (refused.returncode, refused.stdout) == (1, "")
    assert "(agentcards.E002)" in refused.stderr
    assert (tmp_path / "hub.sqlite3").stat().st_size == 0


@pytest.mark.parametrize(
    ("environment", "trusted"),
    [
        ({}, []),
        ({"PUBLIC_URL": HTTPS}, ["127.0.0.0/8", "::1/128"]),
        ({"PUBLIC_URL": HTTPS, "A2A_TRUSTED_PROXIES": "none"}, []),
        ({"A2A_TRUSTED_PROXIES": "10.0.0.1, 2001:db8::/32"}, ["10.0.0.1/32", "2001:db8::/32"]),
    ],
)
def test_a_hub_at_an_https_url_trusts_the_proxies_of_its_own_machine(read, environment, trusted):
    networks, header = read("A2A_TRUSTED_PROXIES", "SECURE_PROXY_SSL_HEADER", **environment)

    assert [*map(str, networks)] == trusted
    assert bool(header) == bool(trusted)


@pytest.mark.parametrize("url", [HTTPS, ""])
def test_a_header_with_certificates_needs_a_choice_of_who_counts_as_a_proxy(read, url):
    hub = {"PUBLIC_URL": url, "A2A_CLIENT_CERT_HEADER": "X-Client-Cert"}

    with pytest.raises(UnusableSettingError, match="needs A2A_PROXY_SECRET or A2A_TRUSTED_PROXIES"):
        read("A2A_CLIENT_CERT_META", **hub)
    for choice in ({"A2A_TRUSTED_PROXIES": "127.0.0.1"}, {"A2A_PROXY_SECRET": "only the proxy knows"}):
        assert read("A2A_CLIENT_CERT_META", **hub, **choice) == ["HTTP_X_CLIENT_CERT"]


def test_cookies_are_bound_to_the_host_of_an_https_url(read):
    names = ("SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE")

    assert read(*names, PUBLIC_URL=HTTPS) == ["__Host-sessionid", "__Host-csrftoken", True, True]
    assert read(*names) == ["sessionid", "csrftoken", False, False]


def test_subdomains_get_strict_transport_security_by_choice(read):
    names = ("SECURE_HSTS_SECONDS", "SECURE_HSTS_INCLUDE_SUBDOMAINS")

    assert read(*names, PUBLIC_URL=HTTPS) == [31_536_000, False]
    assert read(*names, PUBLIC_URL=HTTPS, A2A_HSTS_SUBDOMAINS="1") == [31_536_000, True]
