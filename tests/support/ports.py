"""Ports that are chosen before a server has them. Other servers let the system choose, and report their port."""

import random
import socket

PORTS = range(20_000, 32_000)  # below those that Linux gives to clients
CLOSED = 9  # no program listens here
_random = random.SystemRandom()  # tests with the same seed must not draw the same ports


def lasting_port() -> int:
    """Return a free port for a program that cannot report one, or that leaves and returns while clients connect.

    Linux could give one of its own ports to such a client meanwhile.
    """
    while True:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port := _random.choice(PORTS)))
            except OSError:
                continue
        return port
