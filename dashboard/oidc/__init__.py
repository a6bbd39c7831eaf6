"""The sign-in of people by OpenID Connect. It needs the extra ``oidc``."""
