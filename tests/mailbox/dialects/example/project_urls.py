from django.urls import include, path

from a2aproject import urls

urlpatterns = [*urls.urlpatterns, path("", include("tests.mailbox.dialects.example.urls"))]
