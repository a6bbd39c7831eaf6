"""Scenarios with hubs and databases of their own. The long form runs `SCENARIOS`."""

from tools.proof.scenarios.backup import BACKUP
from tools.proof.scenarios.behind_pgbouncer import BEHIND_PGBOUNCER
from tools.proof.scenarios.carriage import CARRIAGE
from tools.proof.scenarios.client_package import CLIENT_PACKAGE
from tools.proof.scenarios.failover import FAILOVER
from tools.proof.scenarios.full_disk import FULL_DISK
from tools.proof.scenarios.handlers import HANDLERS
from tools.proof.scenarios.official_carriage import OFFICIAL_CARRIAGE
from tools.proof.scenarios.remote_outage import REMOTE_OUTAGE
from tools.proof.scenarios.scenario import Scenario
from tools.proof.scenarios.two_trees import TWO_TREES
from tools.proof.scenarios.two_versions import TWO_VERSIONS

SCENARIOS: tuple[Scenario, ...] = (
    FAILOVER,
    TWO_TREES,
    TWO_VERSIONS,
    BACKUP,
    BEHIND_PGBOUNCER,
    CARRIAGE,
    OFFICIAL_CARRIAGE,
    REMOTE_OUTAGE,
    CLIENT_PACKAGE,
    HANDLERS,
    FULL_DISK,
)
