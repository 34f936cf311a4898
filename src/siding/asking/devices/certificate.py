"""The certificate of the dashboard on the address that is served to devices: signed by itself.

No authority vouches for it. A person compares its SHA-256, which the terminal shows, with what the
browser shows, once; from then on the browser knows it. So it lives long, and a new one is made only
when it ends soon or lacks a name.
"""

import datetime as dt
import ipaddress
import ssl
from collections.abc import Sequence

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from siding.ground.hashing import sha256_hex

DAYS = 397  # browsers on telephones refuse one that lives much longer
RENEWED_DAYS = 30  # before its end
_SLACK = dt.timedelta(days=1)  # the clock of a device may be behind


def new_certificate(names: Sequence[str], now: dt.datetime) -> bytes:
    """Return a new key and its certificate for these hosts, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Siding")])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SLACK)
        .not_valid_after(now + dt.timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName([_name(each) for each in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, SHA256())
    )
    plain = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return plain + made.public_bytes(Encoding.PEM)


def is_good(pem: bytes, names: Sequence[str], now: dt.datetime) -> bool:
    """Return whether a certificate is for these hosts and does not end soon."""
    try:
        found = x509.load_pem_x509_certificate(pem)
        has = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return False
    left = found.not_valid_after_utc - now
    young = found.not_valid_before_utc <= now and left > dt.timedelta(days=RENEWED_DAYS)
    return young and {_name(each) for each in names} <= set(has)


def fingerprint(pem: bytes) -> str:
    """Return the SHA-256 of a certificate as browsers show it: ``AB:CD:…``."""
    begin = pem.index(b"-----BEGIN CERTIFICATE-----")
    digest = sha256_hex(ssl.PEM_cert_to_DER_cert(pem[begin:].decode("ascii"))).upper()
    return ":".join(digest[at : at + 2] for at in range(0, len(digest), 2))


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return x509.DNSName(host)
