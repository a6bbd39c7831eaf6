"""The routes of each dialect, as the URL configuration of its doors lists them."""

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple
from uuid import uuid4

from django.urls import URLPattern

from mailbox.dialects.base.view import DialectView
from tests.mailbox.dialects.conformance import registry
from tests.support.api import schema
from tests.support.doors import RECIPIENT, HttpDoor, Refused

Json = dict[str, Any]
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
NAMES = {"agent": RECIPIENT, "name": RECIPIENT}
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})


class Route(NamedTuple):
    """A route of a dialect. ``template`` is the path as the OpenAPI document writes it."""

    template: str
    view: type[DialectView]

    @property
    def path(self) -> str:
        """Return a path of the route that names bob, and nothing else that there is."""
        return self.path_to(str(uuid4()))

    def path_to(self, text: str) -> str:
        """Return a path of the route with ``text`` in the place of each parameter that names no agent."""
        return re.sub(r"\{(\w+)\}", lambda found: NAMES.get(found[1], text), self.template)

    @property
    def methods(self) -> frozenset[str]:
        return frozenset(name for name in METHODS if hasattr(self.view, name.lower()))

    def operation(self, method: str) -> Json:
        """Return the method as the OpenAPI document describes it."""
        operation: Json = schema()["paths"][self.template][method.lower()]
        return operation

    @property
    def is_public(self) -> bool:
        return any(self.operation(method).get("security") == [] for method in self.methods)


def described(patterns: Iterable[Any], prefix: str = "/") -> Iterator[Route]:
    """Yield the routes of the dialects that the OpenAPI document describes."""
    for entry in patterns:
        if not isinstance(entry, URLPattern):
            yield from described(entry.url_patterns, prefix + str(entry.pattern))
            continue
        view = getattr(entry.callback, "cls", None)
        own = getattr(entry.callback, "initkwargs", {})
        if isinstance(view, type) and issubclass(view, DialectView) and own.get("schema", view.schema) is not None:
            yield Route(PARAMETER.sub(r"{\1}", prefix + str(entry.pattern)), view)


def of_doors() -> dict[type[HttpDoor], list[Route]]:
    """Return the routes whose errors have the shape of a door's, by door."""
    found: dict[type[HttpDoor], list[Route]] = {}
    for module in registry.MODULES:
        doors = [door for door in registry.doors_of(module) if issubclass(door, HttpDoor)]
        for route in described(import_module(doors[0].urlconf).urlpatterns) if doors else ():
            if route.view.__module__.split(".")[-2] == module.parent.name:
                serving = next(door for door in doors if re.search(door.serves, route.template))
                found.setdefault(serving, []).append(route)
    return found


ROUTES = of_doors()


def closed_routes(door: type[HttpDoor]) -> Iterator[tuple[Route, str]]:
    """Yield the routes of the door's dialect that need a key, with each of their methods."""
    for route in ROUTES[door]:
        if not route.is_public:
            yield from ((route, method) for method in sorted(route.methods))


def plain_request(door: type[HttpDoor]) -> tuple[str, str]:
    """Return the method and the path of one request of the dialect, a read if it has any."""
    route, method = min(closed_routes(door), key=lambda found: found[1] != "GET")
    return method, route.path


def refused(client: HttpDoor, method: str, path: str, body: Any = None, **how: Any) -> int:
    """Send a request, which must be refused in the shape of the dialect; return the status."""
    try:
        answer = client.call(method, path, body, **how)
    except Refused as refusal:
        return refusal.status
    raise AssertionError(f"{method} {path} is answered with {answer}")


every_route = registry.parametrized(ROUTES)
