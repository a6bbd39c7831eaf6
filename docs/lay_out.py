"""Lay out the pages for the site: python docs/lay_out.py FOLDER (`make site`).

The pages are written to be read in the repository. Three things differ in the site:
the pages of `ELSEWHERE` join those of `docs`, a link to a file that is no page becomes text, and so does a diagram.
"""

import os.path
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
CONFIGURATION = ROOT / "docs" / "zensical.toml"
ASSETS = "assets"
THEME = "theme"  # the templates that differ from those of the tool
ELSEWHERE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contribute/index.md",
    "SECURITY.md": "operate/reporting.md",
    "clients/javascript/README.md": "reference/javascript-package.md",
    "clients/python/README.md": "reference/python-package.md",
}
FRONT = "README.md"  # the site has a front of its own, without the headings of that page

_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"^(```\w+) (\S+)$", re.MULTILINE)
_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<path>(?![a-z]+:)[^)#\s]+)(?P<anchor>#[^)\s]+)?\)")


def main(folder: Path) -> None:
    """Replace the folder's pages by the pages of the project."""
    shutil.rmtree(folder, ignore_errors=True)
    places = pages()
    for path, place in places.items():
        written = folder / "pages" / place
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(laid_out((ROOT / path).read_text(), path, places))
    shutil.copytree(ROOT / "docs" / ASSETS, folder / "pages" / ASSETS)
    shutil.copytree(ROOT / "docs" / THEME, folder / THEME)
    shutil.copy(CONFIGURATION, folder)


def pages() -> Mapping[str, str]:
    """Return the place of each page in the site, by its path in the repository."""
    own = {path.relative_to(ROOT).as_posix(): path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    return {path: place.as_posix() for path, place in sorted(own.items())} | ELSEWHERE


def laid_out(text: str, path: str, places: Mapping[str, str]) -> str:
    """Return the text of the page at ``path`` as the site has it. ``places`` are those of `pages`."""
    parts = _FENCED.split(text)
    parts[::2] = [_LINK.sub(lambda link: _linked(link, path, places), part) for part in parts[::2]]
    parts[1::2] = [_shown(block) for block in parts[1::2]]
    return "".join(parts)


def _linked(link: re.Match[str], path: str, places: Mapping[str, str]) -> str:
    target = os.path.normpath(PurePosixPath(path).parent / link["path"])
    place, anchor = ("index.md", "") if target == FRONT else (places.get(target), link["anchor"] or "")
    if target.startswith(f"docs/{ASSETS}/"):
        place = target.removeprefix("docs/")
    if place is None:
        return link["text"] if link["text"].startswith("`") else f"{link['text']} (`{target}`)"
    way = os.path.relpath(place, PurePosixPath(places[path]).parent)
    return f"{link['picture']}[{link['text']}]({way}{anchor})"


def _shown(block: str) -> str:
    if not block.startswith("```mermaid"):
        return _NAMED.sub(r'\1 title="\2"', block)
    inner = "\n".join(f"    {line}" for line in block.splitlines())
    return f'??? note "The diagram as text (Mermaid)"\n\n{inner}\n'


if __name__ == "__main__":
    main(Path(sys.argv[1]))
