"""The Compose example: no password by default, each service waits for a healthy one, and Caddy alone is reachable."""

import re
from typing import Any

import pytest
import yaml

from tests.support import pages

pytestmark = pytest.mark.one_database

TEXT = pages.page("compose.yaml")
SERVICES: dict[str, Any] = yaml.safe_load(TEXT)["services"]
LISTED = set(re.findall(r"`([A-Z][A-Z0-9_]+)`", pages.first_cells(pages.page("docs/reference/settings.md"))))


def test_every_secret_has_to_be_given():
    given = set(re.findall(r"\$\{(\w+)(:[?-])", TEXT))
    page = pages.page("docs/operate/deploy.md")

    assert given == {("DATABASE_PASSWORD", ":?"), ("HUB_HOST", ":?"), ("PROXY_NETWORK", ":-")}
    assert [name for name, _ in given if name not in page] == []


def test_each_service_waits_for_the_health_of_the_one_that_it_needs():
    waits = {name: service.get("depends_on", {}) for name, service in SERVICES.items()}
    healthy = {"condition": "service_healthy"}

    assert waits == {"database": {}, "hub": {"database": healthy}, "caddy": {"hub": healthy}}
    assert "healthcheck" in SERVICES["database"]


def test_the_variables_of_the_hub_are_its_settings():
    assert SERVICES["hub"]["environment"].keys() <= LISTED
    assert SERVICES["hub"]["environment"]["DATABASE_URL"].startswith("postgresql://hub:$")


def test_the_hub_publishes_no_port_and_trusts_the_network_of_caddy_alone():
    networks = yaml.safe_load(TEXT)["networks"]
    (subnet,) = [one["subnet"] for one in networks["proxy"]["ipam"]["config"]]

    assert [name for name, service in SERVICES.items() if "ports" in service] == ["caddy"]
    assert [name for name, service in SERVICES.items() if "proxy" in service["networks"]] == ["hub", "caddy"]
    assert SERVICES["hub"]["environment"]["A2A_TRUSTED_PROXIES"] == subnet


def test_the_hub_writes_to_its_volume_alone_and_has_no_privileges():
    hub = SERVICES["hub"]

    assert hub["read_only"]
    assert hub["cap_drop"] == ["ALL"]
    assert hub["volumes"] == [f"hub:{re.findall(r'^VOLUME (.*)$', pages.page('Dockerfile'), re.MULTILINE)[0]}"]


def test_the_hub_has_the_memory_and_the_threads_that_the_unit_of_systemd_has():
    unit = pages.page("deploy/systemd/a2a-hub.service")
    memory, tasks = (re.findall(rf"^{name}=(.*)$", unit, re.MULTILINE)[0] for name in ("MemoryMax", "TasksMax"))

    assert SERVICES["hub"]["mem_limit"] == memory.lower()
    assert SERVICES["hub"]["pids_limit"] == int(tasks)


def test_what_the_services_keep_is_in_volumes_that_are_declared():
    named = {volume.partition(":")[0] for service in SERVICES.values() for volume in service["volumes"]}

    assert named - {"./deploy/caddy/Caddyfile"} == yaml.safe_load(TEXT)["volumes"].keys()


def test_the_image_has_the_tools_of_the_database_s_version():
    """Debian trixie brings the tools of PostgreSQL 17. `pg_dump` must not be older than the server."""
    assert SERVICES["database"]["image"].endswith("postgres:17")
    assert "-trixie" in pages.page("Dockerfile")
