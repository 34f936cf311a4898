"""The proxy that measures, before servers that speak TLS, and through a proxy of the person's."""

import datetime as dt
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from integration.wire.test_meter import answer, request
from integration.wire.world import EgressAtWork, MeterAtWork, Server, Talk, meter
from siding.sandbox.wire.spec import Via
from unit.sandbox.wire.answers import ANSWERS

NAME = "localhost"
GOOD = answer(ANSWERS[2].body, b"Content-Type: application/json\r\n")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The certificate of a server by this name, which signs itself, and its key."""
    directory, key = tmp_path_factory.mktemp("tls"), ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (directory / "cert").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (directory / "key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return directory / "cert", directory / "key"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


def secured(talk: Talk, certificate: tuple[Path, Path]) -> Talk:
    """Return a connection with TLS on it, at the server's end."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return Talk(context.wrap_socket(talk.sock, server_side=True))


def asked(proxy: MeterAtWork, server: Server, certificate: tuple[Path, Path]) -> None:
    """Ask the server through the proxy, twice over one connection, and see the answers."""
    client = proxy.client()
    client.send(request())
    at_server = secured(server.accept(), certificate)
    for count in range(2):
        if count:
            client.send(request())
        head = at_server.until(b"}").decode()
        assert head.startswith("POST /v1/messages?beta=true HTTP/1.1\r\n")
        assert f"hOST: {NAME}\r\n" in head
        at_server.send(GOOD)
        assert client.take(len(GOOD)) == GOOD
    client.close()
    lines = proxy.ends()
    assert [line["tokens"]["output"] for line in lines] == [25, 25]
    assert {line["host"] for line in lines} == {NAME}


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"])
def test_a_server_is_known_by_its_certificate(
    tmp_path: Path, server: Server, certificate: tuple[Path, Path], variable: str
) -> None:
    trusts = {variable: str(certificate[0])}
    with meter(tmp_path, server, env=trusts, tls=True, host=NAME, authority=NAME) as proxy:
        asked(proxy, server, certificate)


def test_a_server_that_is_not_known_gets_nothing(
    tmp_path: Path, server: Server, certificate: tuple[Path, Path]
) -> None:
    with meter(tmp_path, server, tls=True, host=NAME, authority=NAME) as proxy:
        client = proxy.client()
        client.send(request())
        with pytest.raises(ssl.SSLError):
            secured(server.accept(), certificate)
        assert client.rest().startswith(b"HTTP/1.1 502 ")
        (line,) = proxy.ends()
        assert line["ended"] == "unreachable"


def test_the_proxy_of_the_person_is_used(
    tmp_path: Path, server: Server, certificate: tuple[Path, Path]
) -> None:
    with ExitStack() as stack:
        hosts = (f"{NAME}:{server.port}", "127.0.0.0/8")
        own = EgressAtWork(tmp_path / "own", hosts, {NAME: ["127.0.0.1"]})
        stack.callback(own.close)
        route = {"tls": True, "host": NAME, "authority": NAME, "via": Via("127.0.0.1", own.port)}
        trusts = {"SSL_CERT_FILE": str(certificate[0])}
        asked(
            stack.enter_context(meter(tmp_path, server, env=trusts, **route)), server, certificate
        )
        assert own.asked == [NAME]
        other = {**route, "host": "other.example", "authority": "other.example"}
        refused = stack.enter_context(meter(tmp_path / "2", server, env=trusts, **other))
        client = refused.client()
        client.send(request())
        assert b"the proxy says 'HTTP/1.1 403" in client.rest()
