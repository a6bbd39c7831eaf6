from __future__ import annotations

from typing import ClassVar

from django.db import models

from mailbox.database.managers import managed_by


class PublicRouteQuerySet(models.QuerySet["PublicRoute"]):
    def live(self) -> PublicRouteQuerySet:
        return self.filter(revoked_at=None)


class PublicRoute(models.Model):
    """A secret URL, ``/p/<token>/``, that acts as an agent, for clients that cannot authenticate.

    Only the SHA-256 of the token is stored. A hub has no public route until an operator adds one.
    """

    agent = models.ForeignKey("mailbox.Agent", models.CASCADE, related_name="routes")
    public_id = models.CharField(max_length=8, unique=True)  # the look-up part of the token, not secret
    digest = models.CharField(max_length=64)  # hex SHA-256 of the whole token
    rate_limit = models.PositiveIntegerField()  # requests a minute
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)  # set once; None: open
    last_used_at = models.DateTimeField(null=True, blank=True)  # coarse: written at most once a minute

    objects: ClassVar[PublicRouteQuerySet] = managed_by(PublicRouteQuerySet)

    def __str__(self) -> str:
        return f"/p/p_{self.public_id}_…"
