"""Find the hashes of passwords, as in ``/etc/shadow``."""

from collections.abc import Iterator

from siding.secretmask.formats import BEHIND_TOKEN
from siding.secretmask.lazily import lazily
from siding.secretmask.span import SecretSpan

_HASH = lazily(
    rb"\$(?:(?:apr1|1)\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{20,}"
    rb"|2[abxy]?\$\d\d\$[./A-Za-z0-9]{50,}"
    rb"|[56]\$(?:rounds=\d+\$)?[^$\s:]{1,16}\$[./A-Za-z0-9]{40,}"
    rb"|(?:y|gy|7)\$[./A-Za-z0-9]+\$[./A-Za-z0-9]+\$[./A-Za-z0-9]{40,}"
    rb"|argon2(?:id|i|d)\$[A-Za-z0-9=,$+/]{20,}"
    rb"|(?:scrypt|pbkdf2(?:-sha\d+)?)\$[A-Za-z0-9=,$+/.]{20,}|[PH]\$[./A-Za-z0-9]{31}"
    rb"|\d{4,8}\$[A-Za-z0-9./]{6,32}\$[A-Za-z0-9+/]{20,}=*)"
)


def password_hashes(data: bytes, limit: int) -> Iterator[SecretSpan]:
    """Yield the hashes; what they begin with says how they were made."""
    for found in _HASH.finditer(data):
        start, end = found.span()
        until = None if end < limit else BEHIND_TOKEN
        yield SecretSpan(start, end, b"password-hash", until=until)
