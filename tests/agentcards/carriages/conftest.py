from tests.support.cast import alice, bob, failures_are_noted_anew
from tests.support.official_rounds import olive
from tests.support.official_servers import offie
from tests.support.remote_agents import now

__all__ = ["alice", "bob", "failures_are_noted_anew", "now", "offie", "olive"]
