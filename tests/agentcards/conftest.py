from tests.support.cast import alice, bob, failures_are_noted_anew, mallory, olga
from tests.support.remote_agents import now, remote, rita

__all__ = ["alice", "bob", "failures_are_noted_anew", "mallory", "now", "olga", "remote", "rita"]
