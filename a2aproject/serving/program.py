"""Runs a module as a program that ends with the supervisor: ``python program.py MODULE ARGUMENT...``.

The supervisor starts its services by the path of this file, so they run in any working directory.
"""

import runpy
import sys
from pathlib import Path

PATH = str(Path(__file__).resolve())


def main() -> None:
    """Run the module that the first argument names, with the other arguments."""
    sys.path[0] = str(Path(PATH).parents[2])
    from a2aproject.serving import stopping

    stopping.follow_supervisor()
    stopping.end_forked_processes_at_once()
    del sys.argv[0]
    if sys.argv[0] == "granian":
        from a2aproject.serving import connections

        connections.keep_workers_beside_a_dead_one()
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
