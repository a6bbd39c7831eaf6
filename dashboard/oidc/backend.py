"""The person whom a provider of OpenID Connect names, as a person of the hub."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from dashboard.base import passwords
from mailbox.gate.callers import Role
from mailbox.verbs.people import provided


class Backend(OIDCAuthenticationBackend):  # type: ignore[misc]  # its package has no types
    """Finds a person by the address that the provider has verified. Raises `SuspiciousOperation` for wrong tokens."""

    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:
        """Return the claims of a token that the provider made for this hub. The base class checks its signature."""
        claims: dict[str, Any] = super().verify_token(token, **kwargs)
        audience = claims.get("aud")
        meant = audience if isinstance(audience, list) else [audience]
        if claims.get("iss") != settings.A2A_OIDC_ISSUER or settings.OIDC_RP_CLIENT_ID not in meant:
            raise SuspiciousOperation("The token is of another issuer or for another client.")
        return claims

    def get_userinfo(self, access_token: str, id_token: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the claims of the token, and those about the same person at the provider."""
        about: dict[str, Any] = super().get_userinfo(access_token, id_token, payload)
        if about.get("sub") != payload.get("sub"):
            raise SuspiciousOperation("The provider tells of another person than the token names.")
        source = about if "email" in about else payload  # an address counts as verified only by its own source
        return {**payload, **about, "email": source.get("email"), "email_verified": source.get("email_verified")}

    def filter_users_by_claims(self, claims: dict[str, Any]) -> list[User]:
        """Return the people with this address. Case matters unless both addresses are ASCII.

        A database may take other letters for the same, as the dotless i of Turkish for i.
        """
        address = claims.get("email") or ""
        return [person for person in super().filter_users_by_claims(claims) if _is_same(person.email, address)]

    def verify_claims(self, claims: dict[str, Any]) -> bool:
        """Whether the provider has verified the address, and gives the person a role if it gives roles at all."""
        is_verified = bool(claims.get("email")) and claims.get("email_verified") is True
        return is_verified and (not settings.A2A_OIDC_ROLES or role_in(claims) is not None)

    def create_user(self, claims: dict[str, Any]) -> User:
        return provided.add(claims["email"], role_in(claims), passwords.address_of(self.request))

    def update_user(self, user: User, claims: dict[str, Any]) -> User:
        """Give the person the role that the provider says, unless the hub alone gives roles."""
        role = role_in(claims)
        return provided.give_role(user, role, passwords.address_of(self.request)) if role else user


def _is_same(one: str, other: str) -> bool:
    return one == other or (one.isascii() and other.isascii() and one.lower() == other.lower())


def role_in(claims: dict[str, Any]) -> Role | None:
    """Return the strongest role of the person's groups at the provider; None without one."""
    groups = claims.get(settings.A2A_OIDC_ROLES_CLAIM, [])
    named = groups if isinstance(groups, list) else [groups]
    roles = {
        settings.A2A_OIDC_ROLES[group] for group in named if isinstance(group, str) and group in settings.A2A_OIDC_ROLES
    }
    return next((role for role in (Role.ADMIN, Role.OPERATOR, Role.VIEWER) if role in roles), None)
