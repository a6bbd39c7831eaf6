"""A small provider of OpenID Connect on loopback, with real RS256 tokens."""

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tests.support.http_servers import Handler, serving

CLIENT, SECRET, KID = "the-hub", "secret-of-the-hub", "key-1"
PERSON = {"sub": "1", "email": "ana@example.org", "email_verified": True, "groups": ["ops"]}
DROPS, DROP_LASTS = 500, 0.02  # of a dripping answer, before its rest; seconds of the clock
KEY, FOREIGN_KEY = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))


class Provider:
    """Signs in every browser as ``person``. The tests change the fields to make it err."""

    def __init__(self) -> None:
        self.url = ""
        self.person: dict[str, Any] = dict(PERSON)
        self.about: dict[str, Any] = {}  # what the claims about the person have beside or instead
        self.claims: dict[str, Any] = {}  # the same of the token
        self.key = KEY
        self.tokens: dict[str, Any] = {}  # tokens instead
        self.status = 200
        self.given: dict[str, bytes] = {}  # whole answers instead, by their paths
        self.kinds: dict[str, str] = {}  # media types of answers other than JSON, by their paths
        self.silent = self.dripping = ""  # the path of an answer that never begins, or ends after ten seconds
        self.clock = 0.0  # seconds
        self.asked: dict[str, str] = {}  # the parameters of the last sign-in
        self.cookies: list[str] = []  # what the hub sent back of the cookies in all answers

    def authorise(self, location: str) -> dict[str, str]:
        """Take the browser's request to sign in; return the parameters with which the browser comes back."""
        self.asked = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        return {"code": "the-code", "state": self.asked["state"]}

    def token(self, given: dict[str, list[str]]) -> dict[str, Any]:
        challenge = hashlib.sha256(given["code_verifier"][0].encode()).digest()
        assert base64.urlsafe_b64encode(challenge).decode().rstrip("=") == self.asked["code_challenge"]
        assert given["client_secret"] == [SECRET]
        assert given["code"] == ["the-code"]
        assert given["redirect_uri"] == [self.asked["redirect_uri"]]
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "sub": self.person["sub"], "iat": now, "exp": now + 60}
        claims |= {"nonce": self.asked["nonce"], **self.claims}
        signed = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": KID})
        return {"access_token": "access", "token_type": "Bearer", "id_token": signed, **self.tokens}

    def answer(self, path: str, given: dict[str, list[str]]) -> object:
        if path == "/token":
            return self.token(given)
        if path == "/jwks":
            return {"keys": [{**json.loads(RSAAlgorithm.to_jwk(KEY.public_key())), "kid": KID, "alg": "RS256"}]}
        return self.person | self.about


@contextmanager
def running() -> Iterator[Provider]:
    provider = Provider()

    class ProviderHandler(Handler):
        def answer(self, body: bytes) -> None:
            path = urlsplit(self.path).path
            provider.cookies += self.headers.get_all("Cookie", [])
            if path == provider.silent:
                self.connection.recv(1)  # until the hub hangs up
                return
            answer = provider.given.get(path) or json.dumps(provider.answer(path, parse_qs(body.decode()))).encode()
            self.send_response(provider.status)
            self.send_header("Content-Type", provider.kinds.get(path, "application/json"))
            self.send_header("Set-Cookie", "planted=1; Path=/")
            self.end_headers()
            for _ in range(DROPS if path == provider.dripping else 0):
                provider.clock += DROP_LASTS
                self.wfile.write(b" ")
            self.wfile.write(answer)

    with serving(ProviderHandler) as provider.url:
        yield provider
