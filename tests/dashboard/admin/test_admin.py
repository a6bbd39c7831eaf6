"""Django's admin of the hub: every role reads it, admins change it, and no role changes the journal."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import get_resolver, reverse

from mailbox.models import ApiKey, AuditEvent, CapabilityGrant
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

READ_ONLY = ("auditevent", "task", "lease", "message", "artifact", "result", "replayentry")


def staff_client(role, name="ada", **fields):
    user = User.objects.create_user(name, is_staff=True, **fields)
    if role is not None:
        user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def journal():
    return list(AuditEvent.objects.order_by("pk").values_list("pk", "kind", "actor", "data", "at"))


@pytest.mark.parametrize("model", READ_ONLY)
@pytest.mark.parametrize(("role", "status"), [("viewer", 200), ("admin", 200), (None, 403)])
def test_every_role_reads_rows_and_no_role_changes_them(history, model, role, status):
    client = staff_client(role, is_superuser=False)
    row = apps.get_model("mailbox", model)._default_manager.all()[0]
    page = f"/admin/mailbox/{model}/"

    assert client.get(page).status_code == status
    assert client.get(f"{page}{row.pk}/change/").status_code == status
    assert client.get(f"{page}add/").status_code == 403
    assert client.post(f"{page}{row.pk}/change/", {}).status_code == 403
    assert client.post(f"{page}{row.pk}/delete/", {"post": "yes"}).status_code == 403


@pytest.mark.parametrize("model", READ_ONLY)
def test_admin_lists_link_to_the_dashboard(history, model):
    text = staff_client("viewer").get(f"/admin/mailbox/{model}/").text

    links = {part.split('"')[0] for part in text.split('href="')[1:]}
    (link, *_) = [one for one in sorted(links) if one.startswith("/ops/")]
    assert staff_client("viewer", "vic").get(link).status_code == 200


def admin_paths():
    """Yield every path under /admin/, with ids of rows filled in."""

    def walk(patterns: Any, prefix: str) -> Any:
        for pattern in patterns:
            path = prefix + str(pattern.pattern).replace("^", "").replace("$", "")
            if hasattr(pattern, "url_patterns"):
                yield from walk(pattern.url_patterns, path)
            else:
                yield path

    resolver: Any = next(one for one in get_resolver().url_patterns if str(one.pattern) == "admin/")
    for path in walk(resolver.url_patterns, "/admin/"):
        yield path.replace("<path:object_id>", "1").replace("<id>", "1").replace("<slug:form>", "csv").partition("<")[0]


@pytest.mark.parametrize("path", sorted(set(admin_paths())))
def test_no_post_in_the_admin_edits_or_deletes_the_journal(history, path):
    client = staff_client(None, is_superuser=True)
    before = journal()
    bodies = [
        {"post": "yes"},
        {"action": "delete_selected", "_selected_action": [str(row[0]) for row in before], "post": "yes"},
        {"kind": "x", "actor": "nobody", "data": "{}", "_save": "Save"},
    ]

    answers = [client.post(path, body).status_code for body in bodies]

    assert journal()[: len(before)] == before
    assert all(status < 500 for status in answers)


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_only_admins_revoke_api_keys(bob, role):
    factories.key_of(bob)
    body = {"action": "revoke", "_selected_action": [ApiKey.objects.get().pk]}

    staff_client(role).post("/admin/mailbox/apikey/", body)

    assert ApiKey.objects.get().revoked_at is None


def test_the_admin_hides_key_secrets_and_journals_a_revoked_key(bob):
    key = factories.key_of(bob)
    row = ApiKey.objects.get()
    client = staff_client("admin")

    pages = [client.get("/admin/mailbox/apikey/").text, client.get(f"/admin/mailbox/apikey/{row.pk}/change/").text]
    client.post("/admin/mailbox/apikey/", {"action": "revoke", "_selected_action": [row.pk]})

    assert not any(key in page or row.digest in page for page in pages)
    assert row.public_id in pages[0]
    assert ApiKey.objects.get().revoked_at is not None
    (event,) = factories.journal(Kind.KEY_REVOKED)
    assert (event.actor, event.fields["public_id"]) == ("user:ada", row.public_id)


def test_revoking_a_grant_in_the_admin_is_journalled(alice):
    (grant,) = CapabilityGrant.objects.all()
    client = staff_client("admin")

    client.post("/admin/mailbox/capabilitygrant/", {"action": "revoke", "_selected_action": [grant.pk]})

    assert len(factories.journal(Kind.CAPABILITY_REVOKED)) == 1
    assert "revoked" in client.get("/admin/mailbox/capabilitygrant/").text


def test_an_admin_adds_and_changes_people_and_each_is_journalled():
    client = staff_client("admin")
    group = Group.objects.get(name="operator").pk
    secret = "long enough 4 all"
    new = {"username": "ben", "usable_password": "true", "password1": secret, "password2": secret, "groups": [group]}

    client.post("/admin/auth/user/add/", new)
    ben = User.objects.get(username="ben")
    client.post(f"/admin/auth/user/{ben.pk}/change/", {"username": "ben", "groups": [group], "is_staff": "on"})
    client.post(f"/admin/auth/user/{ben.pk}/password/", {"password1": f"{secret}!", "password2": f"{secret}!"})

    ben.refresh_from_db()
    assert (ben.is_active, ben.is_staff, ben.check_password(f"{secret}!")) == (False, True, True)
    assert factories.journal(Kind.PERSON_ADDED)[0].fields == {"username": "ben", "groups": ["operator"]}
    changed = [event.fields for event in factories.journal(Kind.PERSON_CHANGED)]
    assert changed == [
        {"username": "ben", "is_active": False, "is_staff": True},
        {"username": "ben", "password": "changed"},
    ]
    assert secret not in "".join(AuditEvent.objects.values_list("data", flat=True))


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_other_roles_see_people_without_passwords_and_change_none(role):
    client = staff_client(role)
    ada = User.objects.get(username="ada")

    page = client.get(f"/admin/auth/user/{ada.pk}/change/")

    assert page.status_code == 200
    assert "pbkdf2" not in page.text
    assert client.post(f"/admin/auth/user/{ada.pk}/change/", {"username": "eve"}).status_code == 403
    assert client.post(f"/admin/auth/user/{ada.pk}/password/", {}).status_code == 403
    assert client.post("/admin/auth/user/add/", {"username": "eve"}).status_code == 403


def test_an_admin_can_neither_become_superuser_nor_rename_roles():
    client = staff_client("admin")
    ada = User.objects.get(username="ada")
    viewer, admin = (Group.objects.get(name=name).pk for name in ("viewer", "admin"))
    kept = {"username": "ada", "is_active": "on", "is_staff": "on", "groups": [admin]}

    client.post(f"/admin/auth/user/{ada.pk}/change/", kept | {"is_superuser": "on", "user_permissions": [1]})
    renamed = client.post(f"/admin/auth/group/{viewer}/change/", {"name": "x"})

    ada.refresh_from_db()
    assert not ada.is_superuser
    assert not ada.user_permissions.exists()
    assert renamed.status_code == 403


def test_an_admin_who_leaves_the_role_loses_its_rights():
    client = staff_client("admin")
    path = f"/admin/auth/user/{User.objects.get(username='ada').pk}/change/"
    viewer = Group.objects.get(name="viewer").pk

    client.post(path, {"username": "ada", "is_active": "on", "is_staff": "on", "groups": [viewer]})

    changed = factories.journal(Kind.PERSON_CHANGED)[0].fields
    assert changed == {"username": "ada", "groups": ["viewer"], "is_staff": False}
    assert client.post(path, {"username": "ada"}).status_code == 302
    assert User.objects.get(username="ada").groups.get().name == "viewer"


def test_a_person_added_with_the_group_admin_opens_the_admin_until_the_group_is_gone():
    client, secret = staff_client("admin"), "long enough 4 all"
    admins, viewers = (Group.objects.get(name=name).pk for name in ("admin", "viewer"))
    new = {"username": "ben", "usable_password": "true", "password1": secret, "password2": secret, "groups": [admins]}

    client.post("/admin/auth/user/add/", new)
    ben, theirs = User.objects.get(username="ben"), Client()
    theirs.force_login(ben, backend="django.contrib.auth.backends.ModelBackend")
    path = f"/admin/auth/user/{ben.pk}/change/"
    entered = theirs.get("/admin/").status_code
    client.post(path, {"username": "ben", "is_active": "on", "groups": [admins]})  # with the box unticked
    stayed = theirs.get("/admin/").status_code
    client.post(path, {"username": "ben", "is_active": "on", "groups": [viewers]})

    assert (entered, stayed, theirs.get("/admin/").status_code) == (200, 200, 302)
    assert factories.journal(Kind.PERSON_ADDED)[0].fields["is_staff"] is True
    changed = [event.fields for event in factories.journal(Kind.PERSON_CHANGED)]
    assert changed[-1] == {"username": "ben", "groups": ["viewer"], "is_staff": False}


def test_failed_sign_ins_at_the_admin_lock_out_the_account(settings):
    User.objects.create_user("ada", password="correct horse battery", is_staff=True)
    wrong = {"username": "ada", "password": "wrong"}

    guesses = [Client().post("/admin/login/", wrong).status_code for _ in range(settings.AXES_FAILURE_LIMIT)]

    assert guesses[-2:] == [200, 429]
    assert Client().post("/ops/sign-in/", {**wrong, "password": "correct horse battery"}).status_code == 429


@pytest.mark.django_db(transaction=True)
def test_admin_pages_work_under_the_security_policy_in_a_browser(browse, history):
    User.objects.create_superuser("root")
    page = browse("root")
    audit = AuditEvent.objects.latest("pk")

    for path in [
        "/admin/",
        *(reverse(f"admin:mailbox_{model}_changelist") for model in (*READ_ONLY, "apikey", "capabilitygrant", "agent")),
        reverse("admin:auth_user_changelist"),
        reverse("admin:auth_user_add"),
        reverse("admin:agentcards_tool_add"),
        reverse("admin:mailbox_auditevent_change", args=[audit.pk]),
    ]:
        page.goto(path)
        assert page.locator("#content").is_visible(), path


@pytest.mark.parametrize(
    "path", ["/admin/", "/admin/password_change/", "/admin/password_change/done/", "/admin/jsi18n/"]
)
def test_no_cache_keeps_a_page_of_the_admin(path):
    assert "no-store" in staff_client("admin").get(path)["Cache-Control"]


@pytest.mark.parametrize("method", ["TRACE", "OPTIONS", "PUT", "PATCH", "DELETE", "FOO"])
def test_the_admin_answers_the_methods_of_browsers_alone(method):
    refused = staff_client("admin").generic(method, "/admin/")

    assert (refused.status_code, refused["Allow"]) == (405, "GET, HEAD, POST")
