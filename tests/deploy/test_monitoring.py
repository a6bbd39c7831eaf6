"""The dashboard for Grafana and the alert rules ask for metrics that `/metrics` has."""

import json
import re

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.a2aproject.web.test_metrics import BEARER, TOKEN
from tests.support import factories
from tests.support.cast import alice, bob
from tests.support.hub import ROOT

__all__ = ["alice", "bob"]

pytestmark = pytest.mark.django_db

NAME = re.compile(r"\b(?:a2a|process)_[a-z_]+\b")
OF_METRIC = re.compile(r"^# TYPE (\w+) (\w+)$", re.MULTILINE)
GROUPED = re.compile(r"\b(?:by|without) \(([^)]*)\)")
CHOSEN = re.compile(r"(\w+)(?:=~|!~|!=|=)\"|\{\{(\w+)\}\}")
OF_PROMETHEUS = {"job", "instance"}  # labels that every sample gets when it is read
PARTS = {"histogram": ("_bucket", "_count", "_sum")}
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "a2a-hub.json").read_text())
(GROUP,) = yaml.safe_load((ROOT / "deploy" / "prometheus" / "alerts.yml").read_text())["groups"]


def labels_in(text, legend=""):
    """Return the labels by which a query groups, chooses or names its series."""
    grouped = {label.strip() for labels in GROUPED.findall(text) for label in labels.split(",")}
    return grouped | {one or other for one, other in CHOSEN.findall(f"{text} {legend}")}


def legends():
    for panel in DASHBOARD["panels"]:
        yield from ((target["expr"], target.get("legendFormat", "")) for target in panel.get("targets", ()))
    yield from ((rule["expr"], "") for rule in GROUP["rules"])


def questions():
    for panel in DASHBOARD["panels"]:
        yield from ((panel["title"], target["expr"]) for target in panel.get("targets", ()))
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]
    yield from ((rule["alert"], rule["expr"]) for rule in GROUP["rules"])


@pytest.fixture
def answer(client, settings, alice, bob):
    """Return the metrics of a hub with a task and a request."""
    settings.A2A_METRICS_TOKEN = TOKEN
    factories.leased_task(alice, bob)
    client.get("/healthz")
    return client.get("/metrics", headers=BEARER).text


@pytest.fixture
def told(answer):
    """Return the names of all samples that `/metrics` can have."""
    types = OF_METRIC.findall(answer)
    return {name + part for name, kind in types for part in PARTS.get(kind, ("",))}


def test_every_metric_that_is_asked_for_is_told(told):
    asked = {(where, name) for where, text in questions() for name in NAME.findall(text)}

    assert len(asked) > 40
    assert sorted((where, name) for where, name in asked if name not in told) == []


def test_every_label_that_is_asked_for_is_one_of_the_metric(answer):
    labels = {
        sample.name: sample.labels.keys()
        for family in text_string_to_metric_families(answer)
        for sample in family.samples
    }
    asked = [
        (name, label)
        for text, legend in legends()
        for name in NAME.findall(text)
        for label in labels_in(text, legend) - OF_PROMETHEUS
    ]

    assert {label for _, label in asked} == {"agent", "le", "method", "route", "status"}
    assert [(name, label) for name, label in asked if label not in labels.get(name, {})] == []


def test_every_metric_of_the_hub_is_described_and_drawn(told):
    page = (ROOT / "docs" / "operate" / "monitoring.md").read_text()
    drawn = {name for _, text in questions() for name in NAME.findall(text)}
    ours = {name for name in told if name.startswith("a2a_") and not name.endswith(("_created", "_count", "_sum"))}

    assert sorted(name for name in ours if f"`{name.removesuffix('_bucket')}`" not in page) == []
    assert sorted(ours - drawn) == []


def test_every_panel_has_its_place_and_every_alert_a_sentence():
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in DASHBOARD["panels"]]
    names = [rule["alert"] for rule in GROUP["rules"]]

    assert len(set(places)) == len(places)
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)
    assert len(set(names)) == len(names)
    assert all(rule["labels"]["severity"] in ("warning", "critical") for rule in GROUP["rules"])
    assert all(rule["annotations"]["summary"].endswith(".") for rule in GROUP["rules"])
