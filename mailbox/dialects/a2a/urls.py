from __future__ import annotations

from django.urls import include, path

from mailbox.dialects.a2a import card_views
from mailbox.dialects.a2a import rest_views as rest
from mailbox.dialects.a2a import rpc_views as rpc

_REST = [
    path("message:send", rest.SendView.as_view()),
    path("message:stream", rest.StreamView.as_view()),
    path("tasks", rest.OfficialTasksView.as_view()),
    path("tasks/<str:task_id>:cancel", rest.CancelTaskView.as_view()),
    path("tasks/<str:task_id>:subscribe", rest.SubscribeView.as_view()),
    path("tasks/<str:task_id>/pushNotificationConfigs", rest.PushConfigsView.as_view()),
    path("tasks/<str:task_id>/pushNotificationConfigs/<str:config_id>", rest.PushConfigView.as_view()),
    path("tasks/<str:task_id>", rest.OfficialTaskView.as_view()),
    path("extendedAgentCard", rest.ExtendedCardView.as_view()),
]

urlpatterns = [
    path("agents/<str:agent>/.well-known/agent-card.json", card_views.OfficialCardView.as_view()),
    path(".well-known/jwks.json", card_views.KeySetView.as_view()),
    path("agents/<str:agent>/a2a", rpc.RpcView.as_view()),
    path("agents/<str:agent>/a2a/", rpc.RpcView.as_view()),
    path("agents/<str:agent>/rest/", include(_REST)),
    path("tenants/a2a", rpc.TenantRpcView.as_view()),
    path("tenants/rest/<str:agent>/", include(_REST)),
]
