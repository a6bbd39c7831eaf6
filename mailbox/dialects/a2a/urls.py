from django.urls import URLPattern, include, path, re_path

from mailbox.dialects.a2a import views

_OF_TENANT = "_of_tenant"
_UNKNOWN = views.UnknownRouteView.as_view()


def _rest(suffix: str = "") -> list[URLPattern]:
    """Return the routes of the binding. The last one takes every other path."""
    routes = [path(route, view.as_view(operation_suffix=suffix)) for route, view in views.ROUTES.items()]
    return [*routes, re_path("", _UNKNOWN)]


urlpatterns = [
    path("agents/<str:agent>/.well-known/agent-card.json", views.OfficialCardView.as_view()),
    path(".well-known/jwks.json", views.KeySetView.as_view()),
    path("agents/<str:agent>/a2a", views.RpcView.as_view()),
    path("agents/<str:agent>/a2a/", views.RpcView.as_view(schema=None)),
    path("agents/<str:agent>/rest", _UNKNOWN),
    path("agents/<str:agent>/rest/", include(_rest())),
    path("tenants/a2a", views.TenantRpcView.as_view(operation_suffix=_OF_TENANT)),
    path("tenants/rest/<str:agent>", _UNKNOWN),
    path("tenants/rest/<str:agent>/", include(_rest(_OF_TENANT))),
]
