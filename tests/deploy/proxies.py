"""nginx and Caddy for tests: each runs the example of `deploy/` on free ports of loopback, in front of a served hub."""

import contextlib
import datetime
import getpass
import ipaddress
import os
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.support import pages
from tests.support.hub import PATIENCE, wait_until
from tests.support.ports import lasting_port

NGINX, CADDY = pages.page("deploy/nginx/a2a-hub.conf"), pages.page("deploy/caddy/Caddyfile")
MAIN = """daemon off;
user {user};
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    {temporary}
    include {folder}/a2a-hub.conf;
}}
"""
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A proxy that runs. ``plain`` is its port without TLS, if it has one. ``trust`` believes its certificate."""

    port: int
    plain: int | None
    folder: Path
    trust: ssl.SSLContext

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    def logs(self) -> str:
        """Return what the proxy logged and printed."""
        names = ("access.log", "error.log", "printed")
        return "".join(path.read_text() for path in self.folder.iterdir() if path.name in names)


@contextlib.contextmanager
def nginx(folder: Path, port: int, hub_port: int) -> Iterator[Proxy]:
    """Run nginx at the port, in front of the hub at ``hub_port``, until the block ends."""
    plain = lasting_port()
    certificate, key = _certificate(folder)
    text = NGINX
    for old, new in {
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "    listen [::]:80;\n": "",
        "    listen [::]:443 ssl;\n": "",
        "hub.example.org": "localhost",
        "/etc/ssl/hub.pem": str(certificate),
        "/etc/ssl/hub.key": str(key),
        "/var/log/nginx/a2a-hub.log": f"{folder}/access.log",
        "127.0.0.1:3000": f"127.0.0.1:{hub_port}",
    }.items():
        assert old in text, old
        text = text.replace(old, new)
    (folder / "a2a-hub.conf").write_text(text)
    temporary = " ".join(f"{name}_temp_path {folder}/{name};" for name in TEMPORARY)
    (folder / "nginx.conf").write_text(MAIN.format(user=getpass.getuser(), folder=folder, temporary=temporary))
    with _running(["nginx", "-c", str(folder / "nginx.conf")], folder, port):
        trust = ssl.create_default_context(cafile=str(certificate))
        yield Proxy(port=port, plain=plain, folder=folder, trust=trust)


@contextlib.contextmanager
def caddy(folder: Path, port: int, hub_port: int) -> Iterator[Proxy]:
    """Run Caddy at the port, in front of the hub at ``hub_port``, until the block ends. It logs each request."""
    options = "{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n"
    text = CADDY
    for old, new in {"\n{\n": f"\n{options}", "{$HUB_HOST} {\n": "{$HUB_HOST} {\n\tlog\n"}.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (folder / "Caddyfile").write_text(text)
    own = {"HUB_HOST": f"localhost:{port}", "HUB_ADDRESS": f"127.0.0.1:{hub_port}"}
    own |= {"XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "HOME": str(folder)}
    root = folder / "caddy/pki/authorities/local/root.crt"
    with _running(["caddy", "run", "--config", str(folder / "Caddyfile")], folder, port, own):
        yield Proxy(port=port, plain=None, folder=folder, trust=ssl.create_default_context(cafile=str(root)))


@dataclass(frozen=True, slots=True)
class Program:
    """A program that the tests run as ``running(folder, port, hub_port)``. It is a need of tests that have it."""

    name: str
    running: Callable[[Path, int, int], contextlib.AbstractContextManager[Proxy]]

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.name,)

    def __str__(self) -> str:
        return self.name


PROGRAMS = (Program("nginx", nginx), Program("caddy", caddy))


@contextlib.contextmanager
def _running(command: Sequence[str], folder: Path, port: int, own: Mapping[str, str] | None = None) -> Iterator[None]:
    with (folder / "printed").open("wb") as output:
        process = subprocess.Popen(command, env=os.environ | (own or {}), stdout=output, stderr=output)
    try:
        wait_until(lambda: _greets(port) or process.poll() is not None)
        assert process.poll() is None, (folder / "printed").read_text()
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _greets(port: int) -> bool:
    """Whether the proxy accepts a connection with TLS. Caddy listens before it has made its certificate."""
    anyone = ssl.create_default_context()
    anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection(("127.0.0.1", port)) as plain:
            anyone.wrap_socket(plain, server_hostname="localhost").close()
    except OSError:
        return False
    return True


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate of localhost and its key; return the paths of both."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hub")])
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    today = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    dated = builder.not_valid_before(today - datetime.timedelta(days=1)).not_valid_after(today + datetime.timedelta(9))
    signed = dated.add_extension(names, critical=False).sign(key, hashes.SHA256())
    certificate, private = folder / "hub.pem", folder / "hub.key"
    certificate.write_bytes(signed.public_bytes(Encoding.PEM))
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return certificate, private
