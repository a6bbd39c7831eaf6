from django.urls import path

from dashboard.access import AccessPage
from dashboard.agents import AgentDetailPage, AgentList, CloseToAnyone, OpenToAnyone
from dashboard.audit import AuditList, AuditPage
from dashboard.deliveries import DeliveryList, Resend, ResendMany
from dashboard.failures import FailureList, FailurePage
from dashboard.flow_map import Map
from dashboard.go import Go, Suggest
from dashboard.guide import Help
from dashboard.health import HealthPage, HealthText
from dashboard.idempotency import Drop, ReplayList
from dashboard.leases import ForceError, LeaseDetailPage, LeaseList, Requeue
from dashboard.overview.views import Overview
from dashboard.people.settings import Password, SecondFactorPage, Settings
from dashboard.people.sign_in import Favicon, SecondStep, SignIn, SignOut
from dashboard.repairs import Continue, Discard, PlanList, PlanPage, PlanTwin, RepairList, Repairs
from dashboard.saved_views import ChangeView, SavedViews
from dashboard.scheduler import DryRun, RunOnce, Scan, Scheduler
from dashboard.send import Acknowledge, Send
from dashboard.tasks.diff import TaskDiff
from dashboard.tasks.files import TaskForClients, TaskJson, TaskMedia, TaskPart
from dashboard.tasks.views import ResultList, TaskDetailPage, TaskList
from dashboard.time_charts import Charts
from dashboard.trees.views import TreeJson, TreeList, TreePage

app_name = "ops"
urlpatterns = [
    path("", Overview.as_view(), name="overview"),
    path("leases/", LeaseList.as_view(), name="leases"),
    path("leases.<slug:form>", LeaseList.as_view(), name="leases-twin"),
    path("leases/<uuid:lease_id>/", LeaseDetailPage.as_view(), name="lease"),
    path("leases/<uuid:lease_id>/requeue/", Requeue.as_view(), name="requeue"),
    path("leases/<uuid:lease_id>/force-error/", ForceError.as_view(), name="force-error"),
    path("tasks/", TaskList.as_view(), name="tasks"),
    path("tasks.<slug:form>", TaskList.as_view(), name="tasks-twin"),
    path("tasks/<uuid:task_id>/", TaskDetailPage.as_view(), name="task"),
    path("tasks/<uuid:task_id>/diff/", TaskDiff.as_view(), name="task-diff"),
    path("tasks/<uuid:task_id>/json", TaskJson.as_view(), name="task-json"),
    path("tasks/<uuid:task_id>/a2a", TaskForClients.as_view(), name="task-for-clients"),
    path("trees/", TreeList.as_view(), name="trees"),
    path("trees/<uuid:root>/", TreePage.as_view(), name="tree"),
    path("trees/<uuid:root>/json", TreeJson.as_view(), name="tree-json"),
    path("tasks/<uuid:task_id>/parts/<slug:part>", TaskPart.as_view(), name="task-part"),
    path("tasks/<uuid:task_id>/media/<slug:part>", TaskMedia.as_view(), name="task-media"),
    path("tasks/<uuid:task_id>/read/", Acknowledge.as_view(), name="read"),
    path("send/", Send.as_view(), name="send"),
    path("results/", ResultList.as_view(), name="results"),
    path("results.<slug:form>", ResultList.as_view(), name="results-twin"),
    path("map/", Map.as_view(), name="map"),
    path("failures/", FailureList.as_view(), name="failures"),
    path("failures/<slug:fingerprint>/", FailurePage.as_view(), name="failure"),
    path("agents/", AgentList.as_view(), name="agents"),
    path("agents.<slug:form>", AgentList.as_view(), name="agents-twin"),
    path("agents/<str:name>/", AgentDetailPage.as_view(), name="agent"),
    path("agents/<str:name>/open/", OpenToAnyone.as_view(), name="open-agent"),
    path("agents/<str:name>/close/", CloseToAnyone.as_view(), name="close-agent"),
    path("scheduler/", Scheduler.as_view(), name="scheduler"),
    path("scheduler/scans.<slug:form>", Scheduler.as_view(), name="scans-twin"),
    path("scheduler/scans/<slug:number>/", Scan.as_view(), name="scan"),
    path("scheduler/dry-run/", DryRun.as_view(), name="dry-run"),
    path("scheduler/run-once/", RunOnce.as_view(), name="run-once"),
    path("deliveries/", DeliveryList.as_view(), name="deliveries"),
    path("deliveries.<slug:form>", DeliveryList.as_view(), name="deliveries-twin"),
    path("deliveries/resend/", ResendMany.as_view(), name="resend-many"),
    path("deliveries/<uuid:delivery_id>/", Resend.as_view(), name="delivery"),
    path("access/", AccessPage.as_view(), name="access"),
    path("idempotency/", ReplayList.as_view(), name="idempotency"),
    path("idempotency.<slug:form>", ReplayList.as_view(), name="idempotency-twin"),
    path("idempotency/<slug:number>/", Drop.as_view(), name="cached-result"),
    path("repairs/", Repairs.as_view(), name="repairs"),
    path("repairs.<slug:form>", RepairList.as_view(), name="repairs-twin"),
    path("repairs/plans/", PlanList.as_view(), name="plans"),
    path("repairs/plans.<slug:form>", PlanList.as_view(), name="plans-twin"),
    path("repairs/<slug:number>/", PlanPage.as_view(), name="plan"),
    path("repairs/<slug:number>.<slug:form>", PlanTwin.as_view(), name="plan-twin"),
    path("repairs/<slug:number>/discard/", Discard.as_view(), name="plan-discard"),
    path("repairs/<slug:number>/continue/", Continue.as_view(), name="plan-continue"),
    path("audit/", AuditList.as_view(), name="audit"),
    path("audit.<slug:form>", AuditList.as_view(), name="audit-twin"),
    path("audit/<slug:number>/", AuditPage.as_view(), name="audit-event"),
    path("charts/", Charts.as_view(), name="charts"),
    path("views/", SavedViews.as_view(), name="views"),
    path("views/<slug:number>/", ChangeView.as_view(), name="view"),
    path("go/", Go.as_view(), name="go"),
    path("go/suggest/", Suggest.as_view(), name="suggest"),
    path("help/", Help.as_view(), name="help"),
    path("health/", HealthPage.as_view(), name="health"),
    path("health.txt", HealthText.as_view(), name="health-text"),
    path("settings/", Settings.as_view(), name="settings"),
    path("settings/password/", Password.as_view(), name="password"),
    path("settings/second-factor/", SecondFactorPage.as_view(), name="second-factor"),
    path("sign-in/code/", SecondStep.as_view(), name="second-step"),
    path("sign-in/", SignIn.as_view(), name="sign-in"),
    path("sign-out/", SignOut.as_view(), name="sign-out"),
    path("favicon.svg", Favicon.as_view(), name="favicon"),
]
