"""Outbound calls over TLS: a server proves its name by a certificate of a public authority."""

import ipaddress
import socket
import ssl
import threading
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from mailbox.outbound import exchange
from mailbox.outbound.errors import NoAnswerError

pytestmark = pytest.mark.one_database

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"


@pytest.fixture
def certificate(tmp_path):
    """The file of a certificate for 127.0.0.1 with its key, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2100, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "server.pem"
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + made.public_bytes(Encoding.PEM)
    file.write_bytes(text)
    return file


@contextmanager
def tls_server(certificate):
    """Answer each connection over TLS until the block ends; yield the URL."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError), context.wrap_socket(connection, server_side=True) as tls:
                    tls.recv(65536)
                    tls.sendall(ANSWER)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def test_a_certificate_of_no_public_authority_is_refused_whatever_the_environment_trusts(
    certificate, monkeypatch, settings
):
    settings.A2A_OUTBOUND_ALLOW = ["127.0.0.0/8"]
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    exchange._client.cache_clear()  # the client reads the authorities once

    with tls_server(certificate) as url:
        trusting = httpx.get(url, verify=ssl.create_default_context(cafile=certificate))
        with pytest.raises(NoAnswerError) as refused:
            exchange.exchange("GET", url, within=5.0, headers={})

    assert trusting.text == "hi"
    assert "CERTIFICATE_VERIFY_FAILED" in str(refused.value.__cause__)
