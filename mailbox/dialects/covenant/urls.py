from __future__ import annotations

from django.urls import path

from mailbox.dialects.base import paths  # noqa: F401 (brings <id:...>)
from mailbox.dialects.covenant import admin_views, audit_views, quota_views, receive_views, repair_views, views

urlpatterns = [
    path("a2a/tasks", views.TasksView.as_view()),
    path("a2a/tasks/next", receive_views.NextTaskView.as_view()),
    path("a2a/tasks/recent", views.RecentTasksView.as_view()),
    path("a2a/tasks/<id:task_id>/entry", views.EntryView.as_view()),
    path("a2a/tasks/<id:task_id>/result", views.TaskResultView.as_view()),
    path("a2a/tasks/<id:task_id>/tree", views.TreeView.as_view()),
    path("a2a/tasks/<id:task_id>/timeline", views.TimelineView.as_view()),
    path("a2a/tasks/<id:task_id>/release", views.ReleaseView.as_view()),
    path("a2a/tasks/<id:task_id>/heartbeat", views.HeartbeatView.as_view()),
    path("a2a/tasks/<id:task_id>/updates", views.UpdatesView.as_view()),
    path("a2a/tasks/<id:task_id>/cancel", views.CancelView.as_view()),
    path("a2a/results", views.ResultsView.as_view()),
    path("a2a/results/next", receive_views.NextResultView.as_view()),
    path("a2a/results/recent", views.RecentResultsView.as_view()),
    path("a2a/results/delivered", views.DeliveredResultsView.as_view()),
    path("a2a/results/ack", views.AckView.as_view()),
    path("a2a/queue", views.QueueView.as_view()),
    path("a2a/status", views.StatusView.as_view()),
    path("a2a/leases", views.LeasesView.as_view()),
    path("a2a/repair", repair_views.RepairView.as_view()),
    path("a2a/retry-stale", repair_views.RetryStaleView.as_view()),
    path("a2a/compact", repair_views.CompactView.as_view()),
    path("a2a/replay-entries", repair_views.ReplayEntriesView.as_view()),
    path("a2a/replay-entries/drop", repair_views.DropReplayView.as_view()),
    path("a2a/deliveries", repair_views.DeliveriesView.as_view()),
    path("a2a/deliveries/<id:delivery_id>/resend", repair_views.ResendView.as_view()),
    path("a2a/peers", admin_views.PeersView.as_view()),
    path("a2a/agents", admin_views.AgentsView.as_view()),
    path("a2a/agents/<str:name>/pause", admin_views.PauseView.as_view()),
    path("a2a/agents/<str:name>/resume", admin_views.ResumeView.as_view()),
    path("a2a/agents/<str:name>/quotas", quota_views.QuotasView.as_view()),
    path("a2a/keys", admin_views.KeysView.as_view()),
    path("a2a/keys/rotate", admin_views.RotateKeyView.as_view()),
    path("a2a/keys/revoke", admin_views.RevokeKeyView.as_view()),
    path("capabilities/grant", admin_views.GrantView.as_view()),
    path("capabilities/revoke", admin_views.RevokeView.as_view()),
    path("capabilities/recent", admin_views.RecentGrantsView.as_view()),
    path("audit/recent", admin_views.AuditView.as_view()),
    path("audit/verify", audit_views.VerifyView.as_view()),
    path("audit/proof/<str:row_id>", audit_views.ProofView.as_view()),
]
