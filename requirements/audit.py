"""Look the pinned packages up in the public list of known vulnerabilities: `make audit`.

Usage: audit.py FILE... The exit status is 0 if every package was looked up and none is on the list, 1 if one is on it,
and 3 if packages could not be looked up, for example without a network. Status 3 is no clean bill.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CLEAN, VULNERABLE, UNKNOWN = 0, 1, 3
COMMAND = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json")


def main(files: list[str]) -> int:
    program = str(Path(sys.executable).with_name("pip-audit"))
    statuses = [_audited(file, program) for file in files]
    return VULNERABLE if VULNERABLE in statuses else max(statuses)


def _audited(file: str, program: str) -> int:
    ran = subprocess.run([program, *COMMAND, "-r", file], capture_output=True, text=True, check=False)  # noqa: S603 (pip-audit)
    try:
        packages = json.loads(ran.stdout)["dependencies"]
    except (ValueError, KeyError):
        _say(f"{file}: NOT CHECKED, no data could be had: {ran.stderr.strip().splitlines()[-1:]}")
        return UNKNOWN
    return judged(file, packages)


def judged(file: str, packages: list[dict[str, Any]]) -> int:
    """Print what pip-audit reports of each package of ``file``, and return the exit status."""
    unknown = [each["name"] for each in packages if "skip_reason" in each]
    weak = [(each, found) for each in packages for found in each.get("vulns", ())]
    for each, found in weak:
        fixed = ", ".join(found["fix_versions"]) or "no version yet"
        _say(f"{file}: {each['name']} {each['version']}: {found['id']}, mended in {fixed}")
    if unknown or not packages:
        _say(f"{file}: NOT CHECKED: {len(unknown)} of {len(packages)} packages could not be looked up")
    else:
        _say(f"{file}: {len(packages)} packages looked up, {len(weak)} known vulnerabilities")
    if weak:
        return VULNERABLE
    return UNKNOWN if unknown or not packages else CLEAN


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
