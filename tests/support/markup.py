"""Markup as a reader of the page gets it, independent of the layout of its template."""

import re

EDGED = "a|b|button|caption|div|figcaption|h1|li|p|strong|td|th|title|ul"


def squeezed(html: str) -> str:
    """Return ``html`` with white space as one space, and without that at the edges of tags and of blocks."""
    html = re.sub(r"\s+", " ", html).replace(" >", ">")
    return re.sub(rf" (</(?:{EDGED})>)", r"\1", re.sub(rf"(<(?:{EDGED})\b[^>]*>) ", r"\1", html))
