from django.urls import path

from mailbox.dialects.corvid import views

urlpatterns = [
    path("a2a/tasks/send", views.TaskSendView.as_view()),
    path("a2a/tasks/<str:task_id>", views.TaskView.as_view()),
    path("api/agents", views.AgentProfilesView.as_view()),
    path("api/agents/<str:name>", views.AgentView.as_view()),
    path("api/agents/<str:name>/agent-card", views.AgentCardView.as_view()),
    path("api/agents/<str:name>/invoke", views.InvokeView.as_view()),
    path(".well-known/agent-card.json", views.HubCardView.as_view()),
    path(".well-known/agents/<str:name>", views.PublicAgentCardView.as_view()),
]
