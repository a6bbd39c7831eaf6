from django.urls import path

from mailbox.dialects.corvid import agent_views, views

urlpatterns = [
    path("a2a/tasks/send", views.TaskSendView.as_view()),
    path("a2a/tasks/<str:task_id>", views.TaskView.as_view()),
    path("api/agents", agent_views.AgentProfilesView.as_view()),
    path("api/agents/<str:name>", agent_views.AgentView.as_view()),
    path("api/agents/<str:name>/agent-card", agent_views.AgentCardView.as_view()),
    path("api/agents/<str:name>/invoke", agent_views.InvokeView.as_view()),
    path(".well-known/agent-card.json", agent_views.HubCardView.as_view()),
    path(".well-known/agents/<str:name>", agent_views.PublicAgentCardView.as_view()),
]
