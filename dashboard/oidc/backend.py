"""The person whom a provider of OpenID Connect names, as a person of the hub."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation
from django.db import IntegrityError
from jwt import PyJWK, PyJWKSet, get_unverified_header
from jwt.exceptions import PyJWTError
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from dashboard.base import passwords
from dashboard.oidc import provider
from dashboard.oidc.provider import UnusableAnswerError
from mailbox.access.callers import Role
from mailbox.access.people import provisioning

LONGEST_NAME = 150  # characters of a person's name, which is the address
JWT = "application/jwt"
OF_TOKENS = (PyJWTError, ArithmeticError, LookupError, TypeError, ValueError)  # raised by what reads a foreign token


class Backend(OIDCAuthenticationBackend):  # type: ignore[misc]  # its package has no types
    """Finds a person by the address that the provider has verified.

    Raises `SuspiciousOperation` for tokens and people that are not right, and `UnusableAnswerError` for an answer of
    the provider that cannot be used.
    """

    def get_token(self, payload: dict[str, Any]) -> dict[str, Any]:
        _, body = provider.ask("POST", self.OIDC_OP_TOKEN_ENDPOINT, data=payload)
        found = provider.json_object(body)
        return {name: provider.text_of(found, name) for name in ("id_token", "access_token")}

    def retrieve_matching_jwk(self, token: str) -> PyJWK:
        """Return the provider's key that the token names, of the algorithm that the hub expects."""
        _, body = provider.ask("GET", self.OIDC_OP_JWKS_ENDPOINT)
        named = get_unverified_header(token).get("kid")
        for key in PyJWKSet.from_dict(provider.json_object(body)):
            if key.key_id == named and key.algorithm_name == self.OIDC_RP_SIGN_ALGO:
                return key
        raise SuspiciousOperation("The provider has no such key as the token names.")

    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:
        """Return the claims of a token that the provider made for this hub. The base class checks its signature.

        The token of a sign-in, which has a ``nonce``, must end. One with the claims about a person need not.
        """
        try:
            claims: dict[str, Any] = super().verify_token(token, **kwargs)
        except OF_TOKENS as error:
            raise UnusableAnswerError(f"the token cannot be used: {type(error).__name__}: {error}") from error
        audience = claims.get("aud")
        meant = audience if isinstance(audience, list) else [audience]
        if claims.get("iss") != settings.A2A_OIDC_ISSUER or settings.OIDC_RP_CLIENT_ID not in meant:
            raise SuspiciousOperation("The token is of another issuer or for another client.")
        if "nonce" in kwargs and not (claims.get("exp") and claims.get("sub")):
            raise SuspiciousOperation("The token names no person or no end.")
        return claims

    def get_userinfo(self, access_token: str, id_token: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the claims of the token, and those about the same person at the provider."""
        bearer = {"Authorization": f"Bearer {access_token}"}
        kind, body = provider.ask("GET", self.OIDC_OP_USER_ENDPOINT, headers=bearer)
        about = self.verify_token(body.decode(errors="replace")) if kind == JWT else provider.json_object(body)
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
        address = claims.get("email")
        is_address = isinstance(address, str) and address != "" and address.isprintable()
        is_verified = is_address and claims.get("email_verified") is True
        return is_verified and (not settings.A2A_OIDC_ROLES or role_in(claims) is not None)

    def create_user(self, claims: dict[str, Any]) -> User:
        """Add the person; find the person whom another sign-in has added meanwhile."""
        if len(claims["email"]) > LONGEST_NAME:
            raise SuspiciousOperation(f"The address has more than {LONGEST_NAME} characters.")
        try:
            return provisioning.add(claims["email"], role_in(claims), passwords.address_of(self.request))
        except IntegrityError:
            people = self.filter_users_by_claims(claims)
            if len(people) != 1:
                raise SuspiciousOperation("The address is the name of a person who has another address.") from None
            return self.update_user(people[0], claims)

    def update_user(self, user: User, claims: dict[str, Any]) -> User:
        """Give the person the role that the provider says, unless the hub alone gives roles."""
        role = role_in(claims)
        return provisioning.give_role(user, role, passwords.address_of(self.request)) if role else user


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
