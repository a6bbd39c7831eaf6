"""Django's ``url`` tag for templates of hundreds of links: most of a list's time would go into them.

The settings load it in place of Django's own tag.
"""

from functools import cache, lru_cache
from typing import Any
from uuid import UUID

from django.template import Library
from django.template.base import Parser, Token
from django.template.context import Context
from django.template.defaulttags import URLNode
from django.template.defaulttags import url as parse_url
from django.urls import NoReverseMatch, reverse
from django.utils.html import conditional_escape

register = Library()

KEPT = 2_048  # addresses with a name in them
# Stand for an id in the address of a route. No other part of an address is like them.
STANDING_FOR: dict[type, Any] = {UUID: UUID("7f9c2b1e-4d3a-4c58-9e67-0b8a5d1f3c42"), int: 7_293_846_150_923_417}


def path_of(route: str, *args: Any) -> str:
    """Return what Django's ``reverse`` returns. An address of ids is written without a search for its route."""
    kinds = tuple(map(type, args))
    if all(kind in STANDING_FOR for kind in kinds):
        return _shape(route, kinds).format(*args)
    return _named(route, *args)


@cache
def _shape(route: str, kinds: tuple[type, ...]) -> str:
    """Return the address with a replacement field for each id."""
    path = reverse(route, args=[STANDING_FOR[kind] for kind in kinds]).replace("{", "{{").replace("}", "}}")
    for kind in kinds:
        path = path.replace(str(STANDING_FOR[kind]), "{}", 1)
    return path


@lru_cache(KEPT)
def _named(route: str, *args: Any) -> str:
    return reverse(route, args=args)


class RouteNode(URLNode):
    def render(self, context: Context) -> str:
        if self.kwargs:
            return super().render(context)
        try:
            path = path_of(self.view_name.resolve(context), *(arg.resolve(context) for arg in self.args))
        except NoReverseMatch:
            return super().render(context)
        if self.asvar:
            context[self.asvar] = path
            return ""
        return conditional_escape(path) if context.autoescape else path


@register.tag("url")
def url(parser: Parser, token: Token) -> RouteNode:
    """Parse the tag as Django does."""
    parsed = parse_url(parser, token)
    return RouteNode(parsed.view_name, parsed.args, parsed.kwargs, parsed.asvar)
