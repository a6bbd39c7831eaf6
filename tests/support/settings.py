"""The settings of the hub under other environment variables, read in this process."""

import importlib
import os
import sys
from types import ModuleType
from unittest.mock import patch

import a2aproject.settings

PACKAGE = a2aproject.settings.__name__
UNSET = {"DATABASE_URL": "", "PUBLIC_URL": "", "SECRET_KEY": "", "CI": ""}


def settings_of(**environment: str) -> ModuleType:
    """Import the settings anew with these variables. The settings of this process stay as they are."""
    ours = {name: module for name, module in sys.modules.items() if f"{name}.".startswith(f"{PACKAGE}.")}
    with patch.dict(os.environ, UNSET | environment), patch.object(a2aproject, "settings"):
        for name in ours:
            del sys.modules[name]
        try:
            return importlib.import_module(PACKAGE)
        finally:
            sys.modules.update(ours)
