from __future__ import annotations

from django.urls import path

from mailbox.dialects.corvid import views

urlpatterns = [
    path("a2a/tasks/send", views.TaskSendView.as_view()),
    path("a2a/tasks/<str:task_id>", views.TaskView.as_view()),
]
