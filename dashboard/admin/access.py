"""The pages of Django's admin for people, their groups, API keys and grants. Every change is journalled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.forms import CheckboxSelectMultiple
from django.utils import timezone

from dashboard.admin.agents import ChangedByAdmins, ReadByRole, caller_of, note, role_of_request
from mailbox.access.agents import grants
from mailbox.access.callers import Caller, Role
from mailbox.access.credentials import keys
from mailbox.access.people import second_factor, staff
from mailbox.access.requests import Request
from mailbox.journal import entries
from mailbox.journal.entries.people import PersonData
from mailbox.models import ApiKey, CapabilityGrant
from mailbox.words import advice
from mailbox.words.errors import MailboxError

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest, HttpResponse

if TYPE_CHECKING:
    GroupBase = admin.ModelAdmin[Group]
    PersonBase = UserAdmin[User]
    RevocableBase = admin.ModelAdmin[Model]
else:
    GroupBase = RevocableBase = admin.ModelAdmin
    PersonBase = UserAdmin

STAFF = "is_staff"

admin.site.unregister([User, Group])


@admin.register(User)
class PersonAdmin(ChangedByAdmins, PersonBase):
    """The hub's people. To remove a person, an admin makes them inactive, because the journal goes on naming them."""

    list_display = ("username", "groups_of", "is_active", "is_staff", "last_login")
    list_filter = ("groups", "is_active")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Permissions", {"fields": ("is_active", "groups", "is_staff")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = (
        (None, {"classes": ("wide",), "fields": ("username", "usable_password", "password1", "password2", "groups")}),
    )
    readonly_fields = ("last_login", "date_joined")
    filter_horizontal = ()
    actions = ("reset_second_factor",)

    @admin.action(description="Remove lost second factor", permissions=["change"])
    def reset_second_factor(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        caller = caller_of(request)
        removed = [person.username for person in queryset if second_factor.reset(caller, person.username)]
        messages.success(request, f"Removed for {', '.join(removed)}." if removed else "No second factor to remove.")

    @admin.display(description="groups")
    def groups_of(self, person: User) -> str:
        return ", ".join(sorted(group.name for group in person.groups.all())) or "none"

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("groups")

    def get_fieldsets(self, request: HttpRequest, obj: Any | None = None) -> Any:
        """Return the fields. Only an admin who may set the password sees its field, which names the hash algorithm."""
        if self.has_change_permission(request, obj):
            return super().get_fieldsets(request, obj)
        return [(None, {"fields": ("username",)}), *self.fieldsets[1:]]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        told = {
            "label": "Admin site access",
            "help_text": "Admins always have it. Viewers and operators can read there.",
        }
        return super().formfield_for_dbfield(db_field, request, **kwargs, **(told if db_field.name == STAFF else {}))

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Return a box for each group, because there are three."""
        return super().formfield_for_manytomany(db_field, request, **{**kwargs, "widget": CheckboxSelectMultiple()})

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        person = form.instance
        staff.follow(person)
        names = [name for name in form.changed_data if not name.startswith(("password", "usable")) and name != STAFF]
        names += [STAFF] if person.is_staff != bool(form.initial.get(STAFF)) else []
        data = cast(PersonData, {"username": person.username, **{name: _journalled(person, name) for name in names}})
        entry = entries.person_changed(data) if change else entries.person_added(data)
        note(caller_of(request), Request.to_manage_person(person.username), [entry])

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002
        with transaction.atomic():
            response: HttpResponse = super().user_change_password(request, id, form_url)
            if request.method == "POST" and response.status_code == 302:
                username = User.objects.get(pk=id).username
                changed = entries.person_changed({"username": username, "password": "changed"})
                person = Request.to_manage_person(username)
                note(caller_of(request), person, [changed])
        return response


@admin.register(Group)
class RoleAdmin(ReadByRole, GroupBase):
    """The three roles. The hub's code fixes the rights of each role."""

    fields = ("name",)
    ordering = ("pk",)


class Revocable(ReadByRole, RevocableBase):
    """Rows that admins revoke, each through its verb. The pages show no secret: the hub stores none."""

    actions = ("revoke",)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return role_of_request(request) == Role.ADMIN

    def revoke_one(self, caller: Caller, row: Any) -> None:
        """Revoke the row through its verb."""
        raise NotImplementedError

    @admin.action(description="Revoke (permanent)", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Model]) -> None:
        caller = caller_of(request)
        done = 0
        for row in queryset.filter(revoked_at=None):
            try:
                self.revoke_one(caller, row)
            except MailboxError as refusal:
                messages.error(request, f"{row}: {advice.to_person(refusal)}")
            else:
                done += 1
        messages.success(request, f"{done} revoked. Access ends with the next request.")


@admin.register(ApiKey)
class ApiKeyAdmin(Revocable):
    list_display = ("__str__", "owner", "made_by", "created_at", "expires_at", "revoked_at", "last_used_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter),)
    list_select_related = ("agent", "user")
    search_fields = ("public_id", "agent__display", "user__username")
    fields = ("public_id", "owner", "made_by", "replaces", "created_at", "expires_at", "revoked_at", "last_used_at")
    readonly_fields = ("owner",)
    ordering = ("-pk",)

    @admin.display
    def owner(self, key: ApiKey) -> str:
        return str(key.agent or f"user:{key.user}")

    def revoke_one(self, caller: Caller, row: ApiKey) -> None:
        keys.revoke_key(caller, row.public_id)


@admin.register(CapabilityGrant)
class CapabilityGrantAdmin(Revocable):
    list_display = ("action", "subject", "scope", "granted_by", "created_at", "expires_at", "uses", "max_uses", "state")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter),)
    list_select_related = ("subject",)
    search_fields = ("action", "subject__display", "granted_by")
    ordering = ("-pk",)

    @admin.display
    def state(self, grant: CapabilityGrant) -> str:
        if grant.revoked_at:
            return "revoked"
        if grant.expires_at and grant.expires_at < timezone.now():
            return "expired"
        return "used up" if grant.max_uses is not None and grant.uses >= grant.max_uses else "live"

    def revoke_one(self, caller: Caller, row: CapabilityGrant) -> None:
        grants.revoke(caller, row.grant_id)


def _journalled(person: User, name: str) -> Any:
    value = getattr(person, name)
    if name == "groups":
        return sorted(group.name for group in value.all())
    return value if isinstance(value, bool) else str(value)
