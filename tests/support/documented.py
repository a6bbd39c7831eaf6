"""A client that checks each answer against the OpenAPI document."""

from __future__ import annotations

from typing import Any

from django.test import Client

from tests.support.api import assert_as_documented


class DocumentedClient(Client):
    def request(self, **request: Any) -> Any:
        response = super().request(**request)
        if response.content:
            assert_as_documented(request["REQUEST_METHOD"], request["PATH_INFO"], response)
        return response
