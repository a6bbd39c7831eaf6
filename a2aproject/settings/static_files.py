"""The settings of static files.

`make serve` and `make site` collect them under hashed names, which browsers may keep for years, and compressed. Where
they are not collected, the web processes serve them straight from the packages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLLECTED = "whitenoise.storage.CompressedManifestStaticFilesStorage"
OWN = "dashboard/static/ops"
PACKAGES = "requirements/base.txt"


def static_files(base: Path, collected: Path) -> dict[str, Any]:
    """Return the settings for the project in the folder ``base``, with the files of ``collected`` if they are usable.

    They are used only if no file of the dashboard is newer, and the list of packages is not newer either.
    """
    manifest = collected / "staticfiles.json"
    is_collected = manifest.exists() and manifest.stat().st_mtime >= max(
        file.stat().st_mtime for file in [base / PACKAGES, *(base / OWN).iterdir()]
    )
    storage = COLLECTED if is_collected else "django.contrib.staticfiles.storage.StaticFilesStorage"
    return {
        "STATIC_ROOT": collected if is_collected else None,
        "STORAGES": {
            "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
            "staticfiles": {"BACKEND": storage},
        },
        "WHITENOISE_USE_FINDERS": not is_collected,
        "WHITENOISE_KEEP_ONLY_HASHED_FILES": True,
    }
