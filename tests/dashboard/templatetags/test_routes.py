"""The tag of addresses writes what Django's own tag writes."""

import uuid

import pytest
from django.template import Context, Template, TemplateSyntaxError
from django.urls import NoReverseMatch, reverse

from dashboard.templatetags import routes

ID, OTHER = uuid.UUID("01234567-89ab-4def-8123-456789abcdef"), uuid.UUID(int=7)
ROUTES = [
    ("ops:overview", ()),
    ("ops:task", (ID,)),
    ("ops:task", (str(ID),)),
    ("ops:task-part", (ID, "status-1")),
    ("ops:audit-event", (42,)),
    ("ops:plan-twin", (7, "csv")),
    ("ops:agent", ("bob@local",)),
    ("ops:agent", ("ü ?&#%{}@local",)),
]


def rendered(text, **context):
    return Template(text).render(Context(context))


@pytest.mark.parametrize(("route", "args"), ROUTES)
def test_an_address_is_that_of_django(route, args):
    assert [routes.path_of(route, *args) for _ in range(2)] == [reverse(route, args=args)] * 2


def test_the_address_of_another_id_follows_the_first():
    assert routes.path_of("ops:task", ID) == f"/ops/tasks/{ID}/"
    assert routes.path_of("ops:task", OTHER) == f"/ops/tasks/{OTHER}/"


def test_the_tag_writes_an_address_or_keeps_it_under_a_name():
    assert rendered("{% url 'ops:task' id %}", id=ID) == f"/ops/tasks/{ID}/"
    assert rendered("{% url name id as here %}[{{ here }}]", name="ops:task", id=ID) == f"[/ops/tasks/{ID}/]"


def test_an_address_is_escaped_where_the_template_escapes():
    assert rendered("{% url 'ops:agent' 'a&b' %}") == "/ops/agents/a&amp;b/"
    assert rendered("{% autoescape off %}{% url 'ops:agent' 'a&b' %}{% endautoescape %}") == "/ops/agents/a&b/"


def test_named_arguments_are_those_of_django():
    assert rendered("{% url 'ops:task' task_id=id %}", id=ID) == f"/ops/tasks/{ID}/"


@pytest.mark.parametrize("args", ["", "''", "'no id'"])
def test_an_address_that_no_route_has_is_an_error_or_empty(args):
    with pytest.raises(NoReverseMatch):
        rendered(f"{{% url 'ops:task' {args} %}}")
    assert rendered(f"{{% url 'ops:task' {args} as here %}}[{{{{ here }}}}]") == "[]"


def test_a_tag_without_a_route_is_a_mistake():
    with pytest.raises(TemplateSyntaxError):
        rendered("{% url %}")
