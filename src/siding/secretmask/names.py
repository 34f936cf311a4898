"""Decide by a name whether its value is secret: ``DB_PASSWORD`` is, ``max_tokens`` is not.

A name is split at ``_ - .`` and where the case changes. Its last word decides
(`password_reset_url` is a URL); words that only say which one it is (`_PROD`, `_BASE64`) are left
out first.
"""

from enum import IntEnum
from functools import lru_cache

from siding.ground.namedtuples import NamedTuple
from siding.secretmask.lazily import lazily


class Tier(IntEnum):
    """How closely a value under a name must look like a secret to count as one."""

    PASSWORD = 1  # anything but a reference, a placeholder or code: people choose passwords
    TOKEN = 2  # must look made by a machine: digits and letters, or long
    KEY = 3  # must look random and be long: many other things are called a key
    HEADER = 4  # `Authorization`: a scheme, then the secret
    COOKIE = 5  # `Cookie`, `Set-Cookie`: pairs


class Meaning(NamedTuple):
    """What a name says about its value: how strictly to judge it, and the kind for the mark.

    `only_random`: values of such a name are mostly no secrets, only long random ones are.
    """

    tier: Tier
    kind: bytes
    only_random: bool = False


_WORDS = lazily(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_QUALIFIERS = frozenset(
    """
    value val b64 base64 base hex enc encoded raw prod production dev development testing stage
    staging live sandbox old new current previous data plain plaintext plaintextpassword text
    primary secondary ro rw main default local qa uat a b v string str
    """.split()
)
_PASSWORDS = ("password", "passwd", "passwort", "passphrase")
_PASS = frozenset(
    """
    pass pwd passw requirepass masterauth userpass dbpass rootpass smtppass mailpass adminpass
    pgpass sshpass keypass storepass userpwd dbpwd sapwd rootpwd mysqlpwd adminpwd mypwd pswd psw
    pw
    """.split()
)
_KEYS = frozenset(
    """
    api access secret private signing signature encryption encrypt master auth account shared
    service deploy hmac jwt webhook admin consumer subscription storage crypt aes gpg pgp rsa ssh
    tls ssl vault unseal recovery session cookie license licence app application preshared psk
    functions host root client token cipher decryption symmetric
    """.split()
)
_GLUED_KEYS = tuple(
    """
    apikey accesskey secretkey privatekey authkey signingkey encryptionkey masterkey accountkey
    sharedkey servicekey clientkey presharedkey sessionkey
    """.split()
)
_NOT_KEYS = frozenset(
    """
    public pub cache primary foreign sort partition index group object row lookup map dict
    idempotency registry query translation message locale unique hash range sub hot short
    publishable anon site dedup routing react metric label tag column order sha by the s3 on press
    arrow enter any no for socket
    """.split()
)
# Of these only long random values are secret: a session also has a number, and a salt a version.
_RANDOM = {
    "pat": b"token",
    "salt": b"salt",
    "session": b"session",
    "oauth": b"token",
    "bearer": b"token",
    "jwt": b"jwt",
    "signing": b"key",
    "hmac": b"key",
    "seed": b"seed",
    "psk": b"key",
}
LAST_WORDS = tuple(each.encode() for each in (*_RANDOM, "cookie"))
_OTHERS = {
    "mnemonic": b"seed-phrase",
    "credential": b"credential",
    "credentials": b"credential",
    "creds": b"credential",
    "cred": b"credential",
    "auth": b"auth",
    "authtoken": b"token",
}


def names_credential(name: bytes) -> bool:
    """Return whether the value of a setting of this name is a credential, however it looks."""
    known = meaning(name)
    return known is not None and known.tier is not Tier.KEY


@lru_cache(maxsize=4096)
def meaning(name: bytes) -> Meaning | None:
    """Return how to judge the value of `name`; None if the name does not suggest a secret."""
    words = [word.lower() for word in _WORDS.findall(name.decode("ascii", "replace"))]
    while len(words) > 1 and (words[-1] in _QUALIFIERS or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    if words[-1] == "result" and name.lower().startswith(b"random_password."):
        return Meaning(Tier.PASSWORD, b"password")  # Terraform's
    last = words[-1]
    before = words[-2] if len(words) > 1 else ""
    if last.endswith(_PASSWORDS) or last in _PASS:
        return None if before in ("no", "forgot", "show") else Meaning(Tier.PASSWORD, b"password")
    if last in ("phrase", "word") and before == "pass":
        return Meaning(Tier.PASSWORD, b"password")
    if last.endswith("token"):
        return None if before in ("csrf", "no", "next", "page") else Meaning(Tier.TOKEN, b"token")
    if last.endswith("secret"):
        return Meaning(Tier.TOKEN, b"secret")
    if last == "authorization":
        return Meaning(Tier.HEADER, b"auth")
    if last == "cookie":
        return Meaning(Tier.COOKIE, b"cookie")
    if last.endswith("key"):
        return _key(last, before)
    if last in _RANDOM:
        alone = last in ("pat", "seed", "hmac", "psk") and not before
        return None if alone else Meaning(Tier.KEY, _RANDOM[last], only_random=True)
    kind = _OTHERS.get(last)
    return None if kind is None else Meaning(Tier.TOKEN, kind)


def _key(last: str, before: str) -> Meaning | None:
    if last.endswith(_GLUED_KEYS):
        kind = b"private-key" if last.endswith("privatekey") else b"key"
        return Meaning(Tier.TOKEN, b"api-key" if last.endswith("apikey") else kind)
    if last != "key" or before in _NOT_KEYS or not before:
        return None
    if before in _KEYS:
        kind = {"api": b"api-key", "private": b"private-key"}.get(before, b"key")
        return Meaning(Tier.TOKEN, kind)
    return Meaning(Tier.KEY, b"key")
