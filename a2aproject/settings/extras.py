"""The packages that only some hubs need: the extras of pyproject.toml."""

from __future__ import annotations

from importlib.util import find_spec

from a2aproject.errors import UnusableSettingError


def require(variable: str, extra: str, *modules: str) -> None:
    """Raise `UnusableSettingError` unless the modules are installed, which a hub with ``variable`` needs."""
    if not all(map(_is_installed, modules)):
        raise UnusableSettingError(f"{variable} needs the packages of the extra {extra}: run `make extras`.")


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is missing
        return False
