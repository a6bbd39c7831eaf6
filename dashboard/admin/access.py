"""The admin of people, groups, API keys, grants and agents. Viewers read, admins change. Every change is journalled."""

from collections.abc import Iterable
from typing import Any, ClassVar, cast

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import Model, QuerySet
from django.forms import CheckboxSelectMultiple
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agentcards import models, profiles
from dashboard.access import state_of
from dashboard.base import sessions
from dashboard.templatetags.ops import words_of
from mailbox.access import audit, callers, requests
from mailbox.access.agents import grants
from mailbox.access.credentials import authentication, keys
from mailbox.access.people import provisioning, second_factor, staff
from mailbox.journal import access_entries, hub_entries
from mailbox.models import Agent, ApiKey, CapabilityGrant
from mailbox.words import errors, kinds

_ROLE = "a2a_role"
STAFF = "is_staff"


class ReadByRole(admin.ModelAdmin):  # type: ignore[type-arg]
    """Every member of the hub's groups may read the rows. Only the hub's verbs change them."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return role_of_request(request) is not None

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return role_of_request(request) is not None

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ChangedByAdmins(ReadByRole):
    """Admins may add and change rows. Each change is journalled in its own transaction."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return role_of_request(request) == callers.Role.ADMIN

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return role_of_request(request) == callers.Role.ADMIN


class OnDashboard(ReadByRole):
    """Rows with a page under ``/ops/``. ``page`` is its route, and the attribute of the row that is the argument."""

    page: ClassVar[tuple[str, str]]

    def page_of(self, row: Any) -> str:
        """Return the address of the row's own page."""
        route, name = self.page
        return reverse(f"ops:{route}", args=[getattr(row, name)])

    @admin.display(description="dashboard")
    def on_dashboard(self, row: Any) -> SafeString:
        return format_html('<a href="{}">open</a>', self.page_of(row))

    def view_on_site(self, row: Any) -> str:
        return self.page_of(row)


@admin.register(Agent)
class AgentAdmin(OnDashboard):
    page = ("agent", "display")
    list_display = ("display", "pubkey", "created_at", "paused_at", "paused_reason", "on_dashboard")
    list_filter = (("paused_at", admin.EmptyFieldListFilter),)
    search_fields = ("display", "pubkey")
    ordering = ("display",)
    fields = ("display", "pubkey", "created_at", "paused_at", "paused_reason")


@admin.register(models.AgentProfile)
class AgentProfileAdmin(ChangedByAdmins):
    list_display = ("agent", "name", "default_project", "persona_archetype", "is_remote")
    search_fields = ("agent__display", "name", "description")
    list_select_related = ("agent",)
    ordering = ("agent__display",)

    @admin.display(boolean=True, description="remote")
    def is_remote(self, profile: models.AgentProfile) -> bool:
        return profile.is_remote

    def get_readonly_fields(self, request: HttpRequest, obj: models.AgentProfile | None = None) -> tuple[str, ...]:
        return () if obj is None else ("agent",)

    def get_exclude(self, request: HttpRequest, obj: models.AgentProfile | None = None) -> tuple[str, ...]:
        """Hide a remote URL from people who may not change it, because it may hold a secret."""
        return () if self.has_change_permission(request, obj) else ("remote_url", "card_url")

    def save_model(self, request: HttpRequest, obj: models.AgentProfile, form: Any, change: bool) -> None:
        changed = [name for name in _changed(obj) if name in profiles.FIELDS]
        obj.changed_at = timezone.now()
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            profiles.forget_outage(obj, changed)
            gate_request = requests.Request.to_change_profile(obj.agent)
            note(caller_of(request), gate_request, [profiles.change_of(obj, changed)])


@admin.register(models.Tool)
class ToolAdmin(ChangedByAdmins):
    list_display = ("name", "is_default", "tags", "description")
    list_filter = ("is_default",)
    search_fields = ("name", "description")
    ordering = ("pk",)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return role_of_request(request) == callers.Role.ADMIN

    def save_model(self, request: HttpRequest, obj: models.Tool, form: Any, change: bool) -> None:
        details = {name: getattr(obj, name) for name in _changed(obj)}
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            note(
                caller_of(request),
                requests.Request.to_manage_tools(),
                [hub_entries.ToolChangedEntry(obj.name, details)],
            )

    def delete_model(self, request: HttpRequest, obj: models.Tool) -> None:
        self.delete_queryset(request, models.Tool.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[models.Tool]) -> None:
        with transaction.atomic():
            names = list(queryset.select_for_update().order_by("pk").values_list("name", flat=True))
            models.Tool.objects.filter(name__in=names).delete()
            removed = [hub_entries.ToolRemovedEntry(name) for name in names]
            note(caller_of(request), requests.Request.to_manage_tools(), removed)


@admin.register(models.AgentCard)
class AgentCardAdmin(ReadByRole):
    list_display = ("name", "job_id", "registered_by", "registered_at")
    search_fields = ("name", "job_id")
    list_select_related = ("registered_by",)
    ordering = ("pk",)


def role_of_request(request: HttpRequest) -> callers.Role | None:
    """Return the person's role when the request arrived. The admin asks for it once per object on a page."""
    if not hasattr(request, _ROLE):
        setattr(request, _ROLE, authentication.role_of(request.user) if isinstance(request.user, User) else None)
    role: callers.Role | None = getattr(request, _ROLE)
    return role


def _changed(row: Model) -> list[str]:
    """Return the fields that differ from the stored row, or all fields of a new row."""
    stored = type(row)._default_manager.filter(pk=row.pk).first()
    names = [field.name for field in row._meta.fields if not field.primary_key]
    return [name for name in names if stored is None or getattr(stored, name) != getattr(row, name)]


def caller_of(request: HttpRequest) -> callers.Caller:
    """Return the person who made the admin's request."""
    return sessions.caller_of(request, cast(User, request.user), role_of_request(request))


def note(caller: callers.Caller, request: requests.Request, made: Iterable[kinds.Entry]) -> None:
    """Write the check and the entries in the current transaction, which is the admin's own."""
    journal = audit.Journal(caller)
    journal.admit(request)
    for entry in made:
        journal.beside(entry)
    journal.write()


admin.site.unregister([User, Group])


@admin.register(User)
class PersonAdmin(ChangedByAdmins, UserAdmin):  # type: ignore[type-arg]
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
    actions = ("reset_second_factor", "unlink_provider")

    @admin.action(description="Remove lost second factor", permissions=["change"])
    def reset_second_factor(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        caller = caller_of(request)
        removed = [person.username for person in queryset if second_factor.reset(caller, person.username)]
        messages.success(request, f"Removed for {', '.join(removed)}." if removed else "No second factor to remove.")

    @admin.action(description="Unlink account at the provider", permissions=["change"])
    def unlink_provider(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        caller = caller_of(request)
        unlinked = [person.username for person in queryset if provisioning.unlink(caller, person.username)]
        messages.success(request, f"Unlinked for {', '.join(unlinked)}." if unlinked else "No account to unlink.")

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
        options = {
            "label": "Admin site access",
            "help_text": "Admins always have it. Viewers and operators can read there.",
        }
        return super().formfield_for_dbfield(db_field, request, **kwargs, **(options if db_field.name == STAFF else {}))

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Return a box for each group, because there are three."""
        return super().formfield_for_manytomany(db_field, request, **{**kwargs, "widget": CheckboxSelectMultiple()})

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        person = form.instance
        staff.follow(person)
        names = [name for name in form.changed_data if not name.startswith(("password", "usable")) and name != STAFF]
        names += [STAFF] if person.is_staff != bool(form.initial.get(STAFF)) else []
        data = {"username": person.username, **{name: _journalled(person, name) for name in names}}
        entry = access_entries.PersonChangedEntry if change else access_entries.PersonAddedEntry
        note(caller_of(request), requests.Request.to_manage_person(person.username), [entry(**data)])

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002
        with transaction.atomic():
            response: HttpResponse = super().user_change_password(request, id, form_url)
            if request.method == "POST" and response.status_code == 302:
                username = User.objects.get(pk=id).username
                changed = access_entries.PersonChangedEntry(username, password=access_entries.CHANGED)
                person = requests.Request.to_manage_person(username)
                note(caller_of(request), person, [changed])
        return response


@admin.register(Group)
class RoleAdmin(ReadByRole):
    """The three roles. The hub's code fixes the rights of each role."""

    fields = ("name",)
    ordering = ("pk",)


class Revocable(ReadByRole):
    """Rows that admins revoke, each through its verb. The pages show no secret: the hub stores none."""

    actions = ("revoke",)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return role_of_request(request) == callers.Role.ADMIN

    def revoke_row(self, caller: callers.Caller, row: Any) -> None:
        """Revoke the row through its verb."""
        raise NotImplementedError

    @admin.action(description="Revoke (permanent)", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Model]) -> None:
        caller = caller_of(request)
        done = 0
        for row in queryset.filter(revoked_at=None):
            try:
                self.revoke_row(caller, row)
            except errors.MailboxError as refusal:
                messages.error(request, f"{row}: {errors.text_for_person(refusal)}")
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

    def revoke_row(self, caller: callers.Caller, row: ApiKey) -> None:
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
        return words_of(state_of(grant, timezone.now()))

    def revoke_row(self, caller: callers.Caller, row: CapabilityGrant) -> None:
        grants.revoke(caller, row.grant_id)


def _journalled(person: User, name: str) -> Any:
    value = getattr(person, name)
    if name == "groups":
        return sorted(group.name for group in value.all())
    return value if isinstance(value, bool) else str(value)
