from __future__ import annotations

from django.urls import path

from mailbox.dialects.a2a import card_views

urlpatterns = [
    path("agents/<str:agent>/.well-known/agent-card.json", card_views.OfficialCardView.as_view()),
    path(".well-known/jwks.json", card_views.KeySetView.as_view()),
]
