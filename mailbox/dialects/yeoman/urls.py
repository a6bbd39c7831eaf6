from django.urls import path

from mailbox.dialects.yeoman import views

urlpatterns = [
    path("api/v1/a2a/receive", views.ReceiveView.as_view()),
    path("api/v1/a2a/capabilities", views.CapabilitiesView.as_view()),
    path("api/v1/a2a/peers/local", views.LocalPeersView.as_view()),
    path("api/v1/a2a/tasks", views.WorkflowTasksView.as_view()),
    path(".well-known/a2a-agent", views.DiscoveryView.as_view()),
    path("api/tasks", views.SubmittedTasksView.as_view()),
    path("api/tasks/<str:task_id>", views.SubmittedTaskView.as_view()),
    path("api/v1/tasks", views.VersionedTasksView.as_view()),
    path("api/v1/tasks/<str:task_id>", views.SubmittedTaskView.as_view(operation_suffix="_v1")),
]
