"""Agents, their profiles and their tools in Django's admin. Viewers read, admins change. Each change is journalled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agentcards import profiles
from agentcards.models import AgentCard, AgentProfile, Tool
from mailbox.access import audit
from mailbox.access.callers import Caller, Role
from mailbox.access.credentials import authentication
from mailbox.access.requests import Request
from mailbox.journal import entries
from mailbox.models import Agent, AuditEvent
from mailbox.words.kinds import Entry

if TYPE_CHECKING:
    from django.http import HttpRequest

if TYPE_CHECKING:
    AgentAdminBase = admin.ModelAdmin[Agent]
    CardAdminBase = admin.ModelAdmin[AgentCard]
    ProfileAdminBase = admin.ModelAdmin[AgentProfile]
    ToolAdminBase = admin.ModelAdmin[Tool]
else:
    AgentAdminBase = CardAdminBase = ProfileAdminBase = ToolAdminBase = admin.ModelAdmin

_ROLE = "a2a_role"


class ReadByRole:
    """Every member of the hub's groups may read the rows. Only the hub's verbs change them."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return role_of_request(request) is not None

    def has_view_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return role_of_request(request) is not None

    def has_add_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


class ChangedByAdmins(ReadByRole):
    """Admins may add and change rows. Each change is journalled in its own transaction."""

    def has_add_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return role_of_request(request) == Role.ADMIN

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return role_of_request(request) == Role.ADMIN


@admin.register(Agent)
class AgentAdmin(ReadByRole, AgentAdminBase):
    list_display = ("display", "pubkey", "created_at", "paused_at", "paused_reason", "on_dashboard")
    list_filter = (("paused_at", admin.EmptyFieldListFilter),)
    search_fields = ("display", "pubkey")
    ordering = ("display",)
    fields = ("display", "pubkey", "created_at", "paused_at", "paused_reason")

    @admin.display(description="dashboard")
    def on_dashboard(self, agent: Agent) -> SafeString:
        return format_html('<a href="{}">open</a>', self.view_on_site(agent))

    def view_on_site(self, agent: Agent) -> str:
        return reverse("ops:agent", args=[agent.display])


@admin.register(AgentProfile)
class AgentProfileAdmin(ChangedByAdmins, ProfileAdminBase):
    list_display = ("agent", "name", "default_project", "persona_archetype", "is_remote")
    search_fields = ("agent__display", "name", "description")
    list_select_related = ("agent",)
    ordering = ("agent__display",)

    @admin.display(boolean=True, description="remote")
    def is_remote(self, profile: AgentProfile) -> bool:
        return profile.is_remote

    def get_readonly_fields(self, request: HttpRequest, obj: AgentProfile | None = None) -> tuple[str, ...]:
        return () if obj is None else ("agent",)

    def get_exclude(self, request: HttpRequest, obj: AgentProfile | None = None) -> tuple[str, ...]:
        """Hide a remote URL from people who may not change it, because it may hold a secret."""
        return () if self.has_change_permission(request, obj) else ("remote_url", "card_url")

    def save_model(self, request: HttpRequest, obj: AgentProfile, form: Any, change: bool) -> None:
        changed = [name for name in _changed(obj) if name in profiles.FIELDS]
        obj.changed_at = timezone.now()
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            profiles.forget_outage(obj, changed)
            asked = Request.to_change_profile(obj.agent)
            note(caller_of(request), asked, [profiles.change_of(obj, changed)])


@admin.register(Tool)
class ToolAdmin(ChangedByAdmins, ToolAdminBase):
    list_display = ("name", "is_default", "tags", "description")
    list_filter = ("is_default",)
    search_fields = ("name", "description")
    ordering = ("pk",)

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return role_of_request(request) == Role.ADMIN

    def save_model(self, request: HttpRequest, obj: Tool, form: Any, change: bool) -> None:
        told = {name: getattr(obj, name) for name in _changed(obj)}
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            note(caller_of(request), Request.to_manage_tools(), [entries.tool_changed(obj.name, told)])

    def delete_model(self, request: HttpRequest, obj: Tool) -> None:
        self.delete_queryset(request, Tool.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: models.QuerySet[Tool]) -> None:
        with transaction.atomic():
            names = list(queryset.select_for_update().order_by("pk").values_list("name", flat=True))
            Tool.objects.filter(name__in=names).delete()
            note(caller_of(request), Request.to_manage_tools(), [entries.tool_removed(name) for name in names])


@admin.register(AgentCard)
class AgentCardAdmin(ReadByRole, CardAdminBase):
    list_display = ("name", "job_id", "registered_by", "registered_at")
    search_fields = ("name", "job_id")
    list_select_related = ("registered_by",)
    ordering = ("pk",)


def role_of_request(request: HttpRequest) -> Role | None:
    """Return the person's role when the request arrived. The admin asks for it once per object on a page."""
    if not hasattr(request, _ROLE):
        setattr(request, _ROLE, authentication.role_of(request.user) if isinstance(request.user, User) else None)
    role: Role | None = getattr(request, _ROLE)
    return role


def _changed(row: models.Model) -> list[str]:
    """Return the fields that differ from the stored row, or all fields of a new row."""
    stored = type(row)._default_manager.filter(pk=row.pk).first()
    names = [field.name for field in row._meta.fields if not field.primary_key]
    return [name for name in names if stored is None or getattr(stored, name) != getattr(row, name)]


def caller_of(request: HttpRequest) -> Caller:
    """Return the person who made the admin's request, as the journal names them."""
    name = f"user:{request.user.get_username()}"
    return Caller(
        name=name,
        source=AuditEvent.Source.DASHBOARD,
        role=role_of_request(request),
        address=request.META.get("REMOTE_ADDR", ""),
    )


def note(caller: Caller, asked: Request, made: Iterable[Entry[Any]]) -> None:
    """Write the check and the entries in the current transaction, which is the admin's own."""
    journal = audit.Journal(caller)
    journal.admit(asked)
    for entry in made:
        journal.beside(entry)
    journal.write()
