"""A small OpenID provider: discovery, a key set, ID tokens, and any other response that a test needs."""
import base64
import hashlib
import hmac
import json
import time
import uuid

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from stub_upstream import StubUpstream, answer

CLIENT = "hotel-app"
_MAKERS = {
    "RS256": (lambda: rsa.generate_private_key(65_537, 2_048), jwt.algorithms.RSAAlgorithm),
    "ES256": (lambda: ec.generate_private_key(ec.SECP256R1()), jwt.algorithms.ECAlgorithm),
    "EdDSA": (ed25519.Ed25519PrivateKey.generate, jwt.algorithms.OKPAlgorithm),
}


class Issuer:
    """Listens on a free port of 127.0.0.1. If `key_set` or `discovery` is set, it replaces the usual response: bytes,
    or a function that returns bytes."""

    def __init__(self, algorithms=("ES256",)):
        self.keys, self.key_set, self.discovery = {}, None, None
        self.site = StubUpstream(self._answer)
        self.url = self.site.url + "/realm"
        for algorithm in algorithms:
            self.add(algorithm)

    def add(self, algorithm, kid=None):
        """Adds a new key."""
        self.keys[kid or algorithm] = (algorithm, _MAKERS[algorithm][0]())

    def _answer(self, method, target, headers):
        if target == "/realm/.well-known/openid-configuration":
            return self._made(self.discovery, lambda: {"issuer": self.url, "jwks_uri": self.url + "/keys"})
        if target == "/realm/keys":
            return self._made(self.key_set, self.public)
        return answer({}, status=404)

    @staticmethod
    def _made(instead, usual):
        return answer(usual()) if instead is None else instead() if callable(instead) else instead

    def public(self):
        """The key set."""
        return {"keys": [
            {**_MAKERS[algorithm][1].to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig",
             "alg": algorithm} for kid, (algorithm, key) in self.keys.items()]}

    def asked(self, path="/realm/keys"):
        """How many requests a path has received."""
        return sum(target == path for _, target, _ in list(self.site.calls))

    def claims(self, subject="somebody", **changes):
        """An ID token's claims with some changed. A change to None removes the claim."""
        now = int(time.time())
        usual = {"iss": self.url, "aud": CLIENT, "sub": subject, "iat": now, "exp": now + 300,
                 "jti": uuid.uuid4().hex, "email": "victim@example.com", "email_verified": True,
                 "name": "victim", "preferred_username": "victim"}
        return {name: value for name, value in {**usual, **changes}.items() if value is not None}

    def token(self, subject="somebody", kid=None, named=None, headers=None, **changes):
        """An ID token. `named` is the key id that it names."""
        kid = kid or next(iter(self.keys))
        algorithm, key = self.keys[kid]
        return jwt.encode(self.claims(subject, **changes), key, algorithm,
                          headers={"kid": named or kid, **(headers or {})})

    def confused(self, kid, secret=None, algorithm="HS256"):
        """A token signed by HMAC, with the public key in one of its encodings as the secret."""
        public = self.keys[kid][1].public_key()
        secret = secret or public.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        signed = ".".join(map(part, [{"alg": algorithm, "kid": kid, "typ": "JWT"}, self.claims()]))
        return signed + "." + part(hmac.new(secret, signed.encode(), hashlib.sha256).digest())

    def close(self):
        """Stops the server: from now on connections are refused."""
        self.site.close()


def part(value):
    """A part of a token."""
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")
