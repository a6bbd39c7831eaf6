from tests.support.cast import alice, bob, failures_are_noted_anew, mallory, olga
from tests.support.official_rounds import olive
from tests.support.official_servers import offie
from tests.support.remote_agents import now, remote, rita

__all__ = ["alice", "bob", "failures_are_noted_anew", "mallory", "now", "offie", "olga", "olive", "remote", "rita"]
