from django.urls import path

from mailbox.dialects.marianne import registry_views, views

urlpatterns = [
    path("a2a/inboxes/<str:agent>/tasks", views.InboxTasksView.as_view()),
    path("a2a/inboxes/<str:agent>/tasks/<id:task_id>", views.InboxTaskView.as_view()),
    path("a2a/inboxes/<str:agent>/tasks/<id:task_id>/accept", views.AcceptView.as_view()),
    path("a2a/inboxes/<str:agent>/tasks/<id:task_id>/complete", views.CompleteView.as_view()),
    path("a2a/inboxes/<str:agent>/tasks/<id:task_id>/fail", views.FailView.as_view()),
    path("a2a/inboxes/<str:agent>/context", views.ContextView.as_view()),
    path("a2a/inboxes/<str:agent>/export", views.ExportView.as_view()),
    path("a2a/inboxes/<str:agent>/import", views.ImportView.as_view()),
    path("a2a/inboxes/<str:agent>/delegate", views.DelegateView.as_view()),
    path("a2a/registry", registry_views.CardsView.as_view()),
    path("a2a/registry/<text:job_id>", registry_views.CardView.as_view()),
]
