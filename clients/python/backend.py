"""Builds the package with flit, once the client for threads is written. The format is that of PEP 517."""

from typing import Any

import write_sync
from flit_core import buildapi


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel and return its file's name."""
    write_sync.write()
    return str(buildapi.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel that links to the sources, and return its file's name."""
    write_sync.write()
    return str(buildapi.build_editable(wheel_directory, config_settings, metadata_directory))


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """Build the archive of the sources and return its file's name."""
    write_sync.write()
    return str(buildapi.build_sdist(sdist_directory, config_settings))
