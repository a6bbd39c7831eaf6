from django.urls import path

from mailbox.dialects.mcp import views

urlpatterns = [path("mcp", views.McpView.as_view())]
