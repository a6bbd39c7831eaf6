import pytest
from django.contrib.auth.models import User

from mailbox.access.callers import Caller, Role
from mailbox.access.people import saved_views
from mailbox.models import AuditEvent, SavedView
from mailbox.words.errors import CapabilityMissingError, InvalidRequestError
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = pytest.mark.django_db

ANA = Caller(name="user:ana", source=AuditEvent.Source.DASHBOARD, role=Role.OPERATOR)
VIC = Caller(name="user:vic", source=AuditEvent.Source.DASHBOARD, role=Role.VIEWER)


def person(name, role):
    factories.person(name, role)
    return User.objects.get(username=name)


@pytest.fixture
def ana():
    return person("ana", Role.OPERATOR)


@pytest.fixture
def vic():
    return person("vic", Role.VIEWER)


def save(caller, owner, name="slow", **fields):
    return saved_views.save(caller, owner, **{"page": "tasks", "name": name, "query": "q=age%3A%3E1h", **fields})


def names(owner):
    return [view.name for view in saved_views.visible_to(owner.pk)]


def test_a_private_view_is_of_its_person_alone_and_is_not_journalled(ana, vic):
    view = save(VIC, vic, " slow ")

    assert (view.page, view.name, view.query, view.is_shared) == ("tasks", "slow", "q=age%3A%3E1h", False)
    assert (names(vic), names(ana)) == (["slow"], [])
    assert not AuditEvent.objects.exists()


def test_a_shared_view_is_seen_by_all_people_and_is_journalled(ana, vic):
    save(ANA, ana, is_shared=True)

    assert names(vic) == ["slow"]
    (row,) = factories.journal(Kind.VIEW_SHARED)
    assert row.fields == {"username": "ana", "page": "tasks", "name": "slow", "query": "q=age%3A%3E1h"}
    assert factories.journal(Kind.CAPABILITY_CHECK)[0].fields["required_actions"] == ["a2a.views.share"]


def test_a_viewer_shares_no_view(vic):
    with pytest.raises(CapabilityMissingError, match=r"a2a\.views\.share"):
        save(VIC, vic, is_shared=True)
    assert names(vic) == []
    view = save(VIC, vic)

    with pytest.raises(CapabilityMissingError):
        saved_views.share(VIC, vic, view.pk)

    assert not SavedView.objects.get().is_shared
    assert not factories.journal(Kind.VIEW_SHARED)


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\x00b", "a\nb", "\u202eodd"])
def test_a_name_that_cannot_be_shown_is_refused(ana, name):
    with pytest.raises(InvalidRequestError) as refusal:
        save(ANA, ana, name)

    assert list(refusal.value.fields) == ["name"]


@pytest.mark.parametrize(
    ("fields", "path"),
    [({"page": "settings"}, "page"), ({"query": "q=" + "x" * 8000}, "query"), ({"query": "q=\u00fc"}, "query")],
)
def test_another_page_and_a_query_that_is_too_long_are_refused(ana, fields, path):
    with pytest.raises(InvalidRequestError) as refusal:
        save(ANA, ana, **fields)

    assert list(refusal.value.fields) == [path]


def test_a_name_is_unique_for_a_person_and_a_page(ana, vic):
    save(ANA, ana)
    save(ANA, ana, page="leases")
    save(VIC, vic)
    other = save(ANA, ana, "other")

    with pytest.raises(InvalidRequestError, match="already have"):
        save(ANA, ana)
    with pytest.raises(InvalidRequestError, match="already have"):
        saved_views.rename(ANA, ana, other.pk, "slow")


def test_views_of_a_person_and_shared_views_are_limited(ana, monkeypatch):
    monkeypatch.setattr(saved_views, "MOST", 2)
    monkeypatch.setattr(saved_views, "MOST_SHARED", 1)
    save(ANA, ana, is_shared=True)

    with pytest.raises(InvalidRequestError, match="People share 1 views"):
        save(ANA, ana, "second", is_shared=True)
    save(ANA, ana, "second")
    with pytest.raises(InvalidRequestError, match="You have 2 saved views"):
        save(ANA, ana, "third")


def test_a_person_renames_and_deletes_own_views_alone(ana, vic):
    view = save(ANA, ana, is_shared=True)

    assert saved_views.rename(VIC, vic, view.pk, "mine") is None
    assert saved_views.share(VIC, vic, view.pk) is None
    assert saved_views.delete(VIC, vic, view.pk) is None
    with pytest.raises(CapabilityMissingError):
        saved_views.unshare(VIC, vic, view.pk)
    assert names(vic) == ["slow"]

    saved_views.rename(ANA, ana, view.pk, "fast")
    assert names(vic) == ["fast"]
    assert [row.fields["name"] for row in factories.journal(Kind.VIEW_SHARED)] == ["slow", "fast"]

    saved_views.delete(ANA, ana, view.pk)
    assert names(ana) == []
    assert [row.fields["name"] for row in factories.journal(Kind.VIEW_UNSHARED)] == ["fast"]


def test_an_operator_ends_the_sharing_by_another_person(ana):
    ben = person("ben", Role.OPERATOR)
    view = save(ANA, ana, is_shared=True)

    saved_views.unshare(Caller(name="user:ben", source=AuditEvent.Source.DASHBOARD, role=Role.OPERATOR), ben, view.pk)

    assert (names(ben), names(ana)) == ([], ["slow"])
    (row,) = factories.journal(Kind.VIEW_UNSHARED)
    assert (row.actor, row.fields["username"]) == ("user:ben", "ana")
    assert saved_views.unshare(ANA, ana, view.pk) is None


def test_a_person_who_became_a_viewer_ends_the_own_sharing_but_renames_no_shared_view(ana):
    view, viewer = (
        save(ANA, ana, is_shared=True),
        Caller(name="user:ana", source=AuditEvent.Source.DASHBOARD, role=Role.VIEWER),
    )

    with pytest.raises(CapabilityMissingError):
        saved_views.rename(viewer, ana, view.pk, "fast")
    saved_views.unshare(viewer, ana, view.pk)
    saved_views.rename(viewer, ana, view.pk, "fast")

    assert names(ana) == ["fast"]


def test_the_views_of_a_person_are_deleted_with_the_person(ana):
    save(ANA, ana)

    ana.delete()

    assert not SavedView.objects.exists()


def test_the_own_views_of_a_page_come_first(ana, vic):
    save(ANA, ana, "a shared one", is_shared=True)
    save(VIC, vic, "my own")
    save(VIC, vic, "elsewhere", page="audit")

    assert [view.name for view in saved_views.of_page(vic.pk, "tasks", most=5)] == ["my own", "a shared one"]
    assert [view.name for view in saved_views.named_like(vic.pk, "ELSE", most=5)] == ["elsewhere"]
