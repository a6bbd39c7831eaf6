from __future__ import annotations

from django.urls import path

from dashboard.views import (
    agents,
    audit,
    deliveries,
    finding,
    guide,
    idempotency,
    leases,
    overview,
    repairs,
    results,
    session,
    tasks,
)

app_name = "ops"
urlpatterns = [
    path("", overview.Overview.as_view(), name="overview"),
    path("leases/", leases.LeaseList.as_view(), name="leases"),
    path("leases.<slug:form>", leases.LeaseList.as_view(), name="leases-twin"),
    path("leases/<uuid:lease_id>/", leases.LeasePage.as_view(), name="lease"),
    path("leases/<uuid:lease_id>/requeue/", repairs.Requeue.as_view(), name="requeue"),
    path("leases/<uuid:lease_id>/force-error/", repairs.ForceError.as_view(), name="force-error"),
    path("tasks/", tasks.TaskList.as_view(), name="tasks"),
    path("tasks.<slug:form>", tasks.TaskList.as_view(), name="tasks-twin"),
    path("tasks/<uuid:task_id>/", tasks.TaskPage.as_view(), name="task"),
    path("tasks/<uuid:task_id>/json", tasks.TaskJson.as_view(), name="task-json"),
    path("results/", results.ResultList.as_view(), name="results"),
    path("results.<slug:form>", results.ResultList.as_view(), name="results-twin"),
    path("agents/", agents.AgentList.as_view(), name="agents"),
    path("agents.<slug:form>", agents.AgentList.as_view(), name="agents-twin"),
    path("agents/<str:name>/", agents.AgentPage.as_view(), name="agent"),
    path("deliveries/", deliveries.DeliveryList.as_view(), name="deliveries"),
    path("deliveries.<slug:form>", deliveries.DeliveryList.as_view(), name="deliveries-twin"),
    path("deliveries/<uuid:delivery_id>/", deliveries.Resend.as_view(), name="delivery"),
    path("idempotency/", idempotency.ReplayList.as_view(), name="idempotency"),
    path("idempotency.<slug:form>", idempotency.ReplayList.as_view(), name="idempotency-twin"),
    path("idempotency/<slug:number>/", idempotency.Drop.as_view(), name="cached-result"),
    path("audit/", audit.AuditList.as_view(), name="audit"),
    path("audit.<slug:form>", audit.AuditList.as_view(), name="audit-twin"),
    path("audit/<slug:number>/", audit.AuditPage.as_view(), name="audit-event"),
    path("go/", finding.Go.as_view(), name="go"),
    path("help/", guide.Help.as_view(), name="help"),
    path("settings/", session.Settings.as_view(), name="settings"),
    path("sign-in/", session.SignIn.as_view(), name="sign-in"),
    path("sign-out/", session.SignOut.as_view(), name="sign-out"),
    path("favicon.svg", session.Favicon.as_view(), name="favicon"),
]
