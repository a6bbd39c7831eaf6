from django.urls import path

from tests.mailbox.dialects.example import views

urlpatterns = [
    path("example/tasks", views.TasksView.as_view()),
    path("example/tasks/<id:task_id>", views.TaskView.as_view()),
]
