#!/usr/bin/env python
import os
import sys


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "a2aproject.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError as error:
        raise SystemExit(
            "Django is not installed here. Run `make serve` first, then .venv/bin/python manage.py."
        ) from error
    if sys.argv[1:2] == ["a2a"]:
        os.environ["A2A_IS_COMMAND_LINE"] = "1"
    from a2aproject.errors import UnusableSettingError

    try:
        execute_from_command_line(sys.argv)
    except UnusableSettingError as refusal:
        raise SystemExit(str(refusal)) from refusal


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None  # what a shell reports for a program stopped by Ctrl-C
