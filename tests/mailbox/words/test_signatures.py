import base64
import hmac

import base58
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from mailbox.words import ed25519, signatures
from mailbox.words.errors import BadSignatureError
from mailbox.words.signatures import RequestParts, RequestSignature

pytestmark = pytest.mark.one_database

# Published test data. Source: RFC 9421, appendix B.
RFC_PUBLIC = base58.b58encode(base64.b64decode("JrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=")).decode()
RFC_PRIVATE = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----
"""
RFC_SHARED = base64.b64decode(
    "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ=="
)
RFC_BODY = b'{"hello": "world"}'
RFC_SHA_512 = "WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew=="
RFC_SHA_256 = "X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE="
RFC_REQUEST = RequestParts(
    method="POST",
    authority="example.com",
    target_uri="https://example.com/foo?param=Value&Pet=dog",
    headers={
        "date": "Tue, 20 Apr 2021 02:07:55 GMT",
        "content-type": "application/json",
        "content-digest": f"sha-512=:{RFC_SHA_512}:",
        "content-length": "18",
    },
)

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
URL = "https://hub.example/a2a/tasks?x=1"
NOW = 1_800_000_000


def of_the_rfc(keyid, *components, signature=b""):
    names = " ".join(f'"{name}"' for name in components)
    return RequestSignature(
        pubkey=RFC_PUBLIC,
        nonce="",
        created=1618884473,
        expires=1618884773,
        components=components,
        parameters=f'({names});created=1618884473;keyid="{keyid}"',
        signature=base64.b64decode(signature),
    )


def test_the_ed25519_vector_of_the_rfc_verifies():
    covered = ("date", "@method", "@path", "@authority", "content-type", "content-length")
    known = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
    signature = of_the_rfc("test-key-ed25519", *covered, signature=known)

    assert signature.fits(RFC_REQUEST)
    assert base64.b64encode(ed25519.private_key(RFC_PRIVATE).sign(signature.base(RFC_REQUEST))).decode() == known


def test_the_signature_base_fits_the_hmac_vector_of_the_rfc():
    signature = of_the_rfc("test-shared-secret", "date", "@authority", "content-type")

    digest = hmac.digest(RFC_SHARED, signature.base(RFC_REQUEST), "sha256")

    assert base64.b64encode(digest) == b"pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8="


def test_the_signature_base_is_the_full_coverage_one_of_the_rfc():
    names = ("date", "@method", "@path", "@query", "@authority", "content-type", "content-digest", "content-length")

    assert of_the_rfc("test-key-rsa-pss", *names).base(RFC_REQUEST).decode().split("\n")[:-1] == [
        '"date": Tue, 20 Apr 2021 02:07:55 GMT',
        '"@method": POST',
        '"@path": /foo',
        '"@query": ?param=Value&Pet=dog',
        '"@authority": example.com',
        '"content-type": application/json',
        f'"content-digest": sha-512=:{RFC_SHA_512}:',
        '"content-length": 18',
    ]


@pytest.mark.parametrize(
    "field",
    [f"sha-512=:{RFC_SHA_512}:", f"sha-256=:{RFC_SHA_256}:", f"sha-256=:{RFC_SHA_256}:,sha-512=:{RFC_SHA_512}:"],
)
def test_the_digests_of_the_rfcs_fit_their_body(field):
    signatures.check_digest(field, RFC_BODY)
    with pytest.raises(BadSignatureError, match="digest"):
        signatures.check_digest(field, RFC_BODY + b" ")


def test_the_digest_that_is_sent_is_the_rfc_s():
    assert signatures.digest_of(RFC_BODY) == f"sha-256=:{RFC_SHA_256}:"


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://www.example.com/path?param=value", ("www.example.com", "https://www.example.com/path?param=value")),
        ("https://WWW.Example.com:443", ("www.example.com", "https://www.example.com/")),
        ("http://127.0.0.1:3000/a", ("127.0.0.1:3000", "http://127.0.0.1:3000/a")),
        ("http://[::1]:80/a", ("[::1]", "http://[::1]/a")),
    ],
)
def test_the_place_of_a_url_is_normal(url, place):
    assert signatures.place_of(url) == place


def signed(**how):
    return signatures.sign(KEY, method="POST", url=URL, now=NOW, **how)


def test_a_request_is_read_as_it_was_signed():
    headers = signed(body=b"{}", headers={"A2A-Receive-Attempt-Id": "one"})
    authority, target_uri = signatures.place_of(URL)
    sent = {"content-digest": headers["Content-Digest"], "a2a-receive-attempt-id": "one"}

    read = RequestSignature.read(headers["Signature-Input"], headers["Signature"])

    assert read.fits(RequestParts(method="POST", authority=authority, target_uri=target_uri, headers=sent))
    assert (read.pubkey, read.created, read.expires) == (ed25519.public_of(KEY), NOW, NOW + 300)
    assert set(read.components) == {*signatures.REQUIRED, "content-digest", "a2a-receive-attempt-id"}


@pytest.mark.parametrize(("now", "holds"), [(NOW - 31, False), (NOW - 30, True), (NOW + 299, True), (NOW + 300, False)])
def test_a_signature_holds_from_its_creation_to_its_expiry(now, holds):
    headers = signed()
    read = RequestSignature.read(headers["Signature-Input"], headers["Signature"])

    if holds:
        read.check_time(now)
    else:
        with pytest.raises(BadSignatureError, match="expired"):
            read.check_time(now)


GOOD = (
    f'a2a=("@method" "@authority" "@target-uri");created={NOW};expires={NOW + 300};nonce="0123456789abcdef"'
    f';keyid="{ed25519.public_of(KEY)}";alg="ed25519"'
)
SIGNATURE = f"a2a=:{base64.b64encode(bytes(64)).decode()}:"


def test_the_well_formed_fields_of_this_test_are_read():
    assert RequestSignature.read(GOOD, SIGNATURE).nonce == "0123456789abcdef"


@pytest.mark.parametrize(
    "field",
    [
        "",
        "a2a",
        "a2a=1",
        "a2a=?1",
        f"{GOOD},b=()",
        GOOD.replace(";created", "; created"),
        GOOD.replace('"@method" ', '"@method"  '),
        GOOD.replace('"@method"', '"@method";req'),
        GOOD.replace('"@method"', "method"),
        GOOD.replace('"@method"', '"@method" "@method"'),
        GOOD.replace('"@method"', '"@status"'),
        GOOD.replace('"@method"', '"Date"'),
        GOOD.replace('"@method"', " ".join(f'"x-{number}"' for number in range(20))),
        GOOD.replace(f"created={NOW}", f'created="{NOW}"'),
        GOOD.replace(f"created={NOW}", f"created={NOW}.0"),
        GOOD.replace(f"created={NOW}", f"created=@{NOW}"),
        GOOD.replace(f"created={NOW}", "created=999999999999999"),
        GOOD.replace(f";created={NOW}", ""),
        GOOD.replace(f"created={NOW}", f"created={NOW};created={NOW}"),
        GOOD.replace(f"expires={NOW + 300}", f"expires={NOW + 301}"),
        GOOD.replace(f"expires={NOW + 300}", f"expires={NOW}"),
        GOOD.replace('alg="ed25519"', 'alg="hmac-sha256"'),
        GOOD.replace('alg="ed25519"', "alg=ed25519"),
        GOOD.replace('alg="ed25519"', 'tag="x"'),
        GOOD.replace('nonce="', 'nonce="é'),
        GOOD.replace('nonce="', 'nonce="\\"'),
        GOOD.replace('nonce="', 'nonce="' + "x" * 49),
        GOOD.replace('keyid="', 'keyid="0'),
        GOOD + ";x=" + "y" * 5000,
    ],
)
def test_a_malformed_input_is_refused(field):
    assert field != GOOD
    with pytest.raises(BadSignatureError):
        RequestSignature.read(field, SIGNATURE)


@pytest.mark.parametrize(
    "field",
    [
        None,
        "",
        SIGNATURE.replace("a2a=", "b="),
        SIGNATURE + ";x=1",
        SIGNATURE[:-3] + ":",
        'a2a="x"',
        f"{SIGNATURE}, b=:AA==:",
    ],
)
def test_a_malformed_signature_is_refused(field):
    with pytest.raises(BadSignatureError):
        RequestSignature.read(GOOD, field)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_refused_and_never_an_error_of_another_kind(field, signature):
    for one, other in ((field, signature), (GOOD + field, SIGNATURE), (GOOD, SIGNATURE + signature)):
        try:
            RequestSignature.read(one, other)
        except BadSignatureError:
            continue
        assert (one.strip(" \t"), other.strip(" \t")) == (GOOD, SIGNATURE)


def times(scalar, point):
    """Return the multiple of a point of the curve of Ed25519, in affine coordinates."""
    prime = 2**255 - 19
    d = -121665 * pow(121666, -1, prime) % prime
    total = (0, 1)
    for _ in range(scalar):
        (x, y), (u, v) = total, point
        cross = d * x * u * y * v % prime
        total = (
            (x * v + u * y) * pow(1 + cross, -1, prime) % prime,
            (y * v + x * u) * pow(1 - cross, -1, prime) % prime,
        )
    return total


def test_the_refused_points_are_exactly_those_of_small_order():
    prime = 2**255 - 19
    d = -121665 * pow(121666, -1, prime) % prime
    for y in ed25519._SMALL_ORDER:
        square = (y * y - 1) * pow(d * y * y + 1, -1, prime) % prime
        x = pow(square, (prime + 3) // 8, prime)
        x = x if x * x % prime == square else x * pow(2, (prime - 1) // 4, prime) % prime
        assert x * x % prime == square
        assert times(8, (x, y)) == (0, 1)
        for sign in (0, 2**255):
            text = base58.b58encode((y + sign).to_bytes(32, "little")).decode()
            assert "small order" in (ed25519.problem_with(text) or "")
    assert len(ed25519._SMALL_ORDER) == 5  # three with one x or two, and two with two: eight points


@pytest.mark.parametrize("y", [2**255 - 19, 2**255 - 18, 2**255 - 1])
def test_a_second_encoding_of_a_point_is_refused(y):
    assert "canonical" in (ed25519.problem_with(base58.b58encode(y.to_bytes(32, "little")).decode()) or "")


def test_a_key_is_read_from_its_seed_and_from_pem():
    key = ed25519.private_key(RFC_PRIVATE)

    assert ed25519.public_of(key) == RFC_PUBLIC
    assert ed25519.problem_with(RFC_PUBLIC) is None
    assert ed25519.seed_of(ed25519.private_key(ed25519.seed_of(key) + "\n")) == ed25519.seed_of(key)


@pytest.mark.parametrize("text", ["", "0", "abc", "-----BEGIN nothing"])
def test_a_text_that_is_no_key_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        ed25519.private_key(text)
