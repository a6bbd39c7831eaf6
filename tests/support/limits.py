"""Start a program under a limit of the operating system: python -m tests.support.limits NAME NUMBER COMMAND...

NAME is the limit's name without its prefix, such as FSIZE. Limits also hold for root, unlike the modes of files.
"""

import os
import resource
import signal
import sys


def main(name: str, number: str, *command: str) -> None:
    """Set the limit, and replace this process by the command. A write beyond FSIZE is an error and kills no process."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (int(number), int(number)))
    os.execv(command[0], command)  # noqa: S606 (a test's own command)


if __name__ == "__main__":
    main(*sys.argv[1:])
