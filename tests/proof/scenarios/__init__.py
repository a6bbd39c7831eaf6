"""Scenarios with hubs and databases of their own. The long form runs `SCENARIOS`."""

from __future__ import annotations

from tests.proof.scenarios.backup import BACKUP
from tests.proof.scenarios.carriage import CARRIAGE
from tests.proof.scenarios.client_package import CLIENT_PACKAGE
from tests.proof.scenarios.failover import FAILOVER
from tests.proof.scenarios.full_disk import FULL_DISK
from tests.proof.scenarios.handlers import HANDLERS
from tests.proof.scenarios.official_carriage import OFFICIAL_CARRIAGE
from tests.proof.scenarios.scenario import Scenario
from tests.proof.scenarios.two_trees import TWO_TREES
from tests.proof.scenarios.two_versions import TWO_VERSIONS

SCENARIOS: tuple[Scenario, ...] = (
    FAILOVER,
    TWO_TREES,
    TWO_VERSIONS,
    BACKUP,
    CARRIAGE,
    OFFICIAL_CARRIAGE,
    CLIENT_PACKAGE,
    HANDLERS,
    FULL_DISK,
)
