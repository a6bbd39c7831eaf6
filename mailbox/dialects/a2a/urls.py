from __future__ import annotations

from django.urls import URLPattern, include, path, re_path

from mailbox.dialects.a2a import card_views
from mailbox.dialects.a2a import rest_views as rest
from mailbox.dialects.a2a import rpc_views as rpc

_OF_TENANT = "_of_tenant"
_REST: list[tuple[str, type[rest.RestView]]] = [
    ("message:send", rest.SendView),
    ("message:stream", rest.StreamView),
    ("tasks", rest.OfficialTasksView),
    ("tasks/<str:task_id>:cancel", rest.CancelTaskView),
    ("tasks/<str:task_id>:subscribe", rest.SubscribeView),
    ("tasks/<str:task_id>/pushNotificationConfigs", rest.PushConfigsView),
    ("tasks/<str:task_id>/pushNotificationConfigs/<str:config_id>", rest.PushConfigView),
    ("tasks/<str:task_id>", rest.OfficialTaskView),
    ("extendedAgentCard", rest.ExtendedCardView),
]
_UNKNOWN = rest.UnknownRouteView.as_view()


def _rest(suffix: str = "") -> list[URLPattern]:
    """Return the routes of the binding. The last one takes every other path."""
    routes = [path(route, view.as_view(operation_suffix=suffix)) for route, view in _REST]
    return [*routes, re_path("", _UNKNOWN)]


urlpatterns = [
    path("agents/<str:agent>/.well-known/agent-card.json", card_views.OfficialCardView.as_view()),
    path(".well-known/jwks.json", card_views.KeySetView.as_view()),
    path("agents/<str:agent>/a2a", rpc.RpcView.as_view()),
    path("agents/<str:agent>/a2a/", rpc.RpcView.as_view(schema=None)),
    path("agents/<str:agent>/rest", _UNKNOWN),
    path("agents/<str:agent>/rest/", include(_rest())),
    path("tenants/a2a", rpc.TenantRpcView.as_view(operation_suffix=_OF_TENANT)),
    path("tenants/rest/<str:agent>", _UNKNOWN),
    path("tenants/rest/<str:agent>/", include(_rest(_OF_TENANT))),
]
