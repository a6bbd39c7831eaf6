"""The command line ``a2a``: a hub from a terminal, over HTTP."""

import sys


def main() -> None:
    """Run the command line with the arguments of this process."""
    sys.modules["httpx._main"] = None  # type: ignore[assignment]  # httpx's own command line, which imports rich
    try:
        from a2a_hub_client.cli import app
    except ModuleNotFoundError as missing:
        sys.exit(f'a2a: {missing}. The command line needs the extra "cli": pip install "a2a-hub-client[cli]"')
    app.run()
