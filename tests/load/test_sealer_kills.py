import json
import subprocess
import sys

from tests.support.hub import PATIENCE, ROOT

KILLS = 5
WRITERS = 2


def started(database, command):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.load.sealer", command],
        cwd=ROOT,
        env=database.environment,
        stdout=subprocess.PIPE,
    )


def killed(process):
    process.kill()
    process.wait(PATIENCE)
    assert process.stdout is not None
    process.stdout.close()


def verified(database):
    checked = started(database, "verify")
    assert checked.stdout is not None
    with checked.stdout:
        found = checked.stdout.read()
    assert checked.wait(PATIENCE) == 0
    return json.loads(found)


def test_a_sealer_killed_at_any_moment_leaves_a_journal_without_an_alarm(database):
    """Two sealers and two writers run at once, and one of the sealers is killed again and again."""
    others = [started(database, command) for command in (*["write"] * WRITERS, "seal")]
    try:
        for number in range(KILLS):
            sealer = started(database, "seal")
            assert sealer.stdout is not None
            for _ in range(number + 1):
                assert sealer.stdout.readline()
            killed(sealer)
        for writer in others[:WRITERS]:
            assert writer.wait(PATIENCE) == 0
    finally:
        for process in others:
            killed(process)

    problem, blocks, unsealed = verified(database)
    assert problem is None
    assert blocks > KILLS
    assert unsealed == 0
