"""Redact the words of a command and the values of variables.

The tables say which programs take a password on their command line, and in which option; lines of
text are searched for these programs by `clients`.
"""

from collections.abc import Callable, Mapping, Sequence

from siding.secretmask.span import mark

# By program: the options whose next word is a password …
NEXT = {
    "sshpass": ("-p",),
    "redis-cli": ("-a", "--pass"),
    "ldapsearch": ("-w",),
    "ldapadd": ("-w",),
    "ldapmodify": ("-w",),
    "ldapdelete": ("-w",),
    "ldappasswd": ("-w", "-s"),
    "ldapwhoami": ("-w",),
    "mosquitto_pub": ("-P",),
    "mosquitto_sub": ("-P",),
    "mongo": ("-p",),
    "mongosh": ("-p",),
    "mongodump": ("-p",),
    "mongorestore": ("-p",),
    "mongoexport": ("-p",),
    "mongoimport": ("-p",),
    "sqlcmd": ("-P",),
    "bcp": ("-P",),
    "smbclient": ("-P",),
    "snmpwalk": ("-A", "-X"),
    "snmpget": ("-A", "-X"),
    "snmpset": ("-A", "-X"),
    "openssl": ("-k",),
    "zip": ("-P",),
    "unzip": ("-P",),
}
# … those with the password in the same word (``mysql -pPASSWORD``) …
GLUED = {
    "mysql": "-p",
    "mysqldump": "-p",
    "mysqladmin": "-p",
    "mysqlimport": "-p",
    "mariadb": "-p",
    "mariadb-dump": "-p",
    "sshpass": "-p",
    "7z": "-p",
    "7za": "-p",
}
# … those whose next word is ``NAME:PASSWORD`` (or, of Samba, ``NAME%PASSWORD``) …
LOGINS = {
    "curl": ("-u", "--user", "-U", "--proxy-user"),
    "http": ("-a", "--auth"),
    "https": ("-a", "--auth"),
    "xh": ("-a", "--auth"),
    "xhs": ("-a", "--auth"),
    "smbclient": ("-U", "--user"),
    "rpcclient": ("-U", "--user"),
}
# … and those of the command ``login``.
LOGIN = dict.fromkeys(
    (
        *("docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "az"),
        *("cosign", "crane", "regctl", "notation"),
    ),
    ("-p",),
)
# Where the password is so many words behind another one: that begins so, if it ends with a dot.
BEHIND = {
    "poetry": (("http-basic.", 2),),
    "rclone": (("pass", 1), ("password2", 1), ("obscure", 1)),
}
PROGRAMS = frozenset({*NEXT, *GLUED, *LOGINS, *LOGIN, "htpasswd"})

_SECRET_WORDS = tuple(
    """
    TOKEN SECRET PASSWORD PASSWD PASSPHRASE CREDENTIAL PRIVATE API_KEY APIKEY ACCESS_KEY AUTH
    COOKIE SESSION_KEY DSN
    """.split()
)


def masked_words(mask: Callable[[str], str], words: Sequence[str]) -> list[str]:
    """Return a command's words without secrets: see `Redactor.mask_words`."""
    masked = list(map(mask, words))
    behind = [each for word in words for each in BEHIND.get(word.rpartition("/")[2], ())]
    program = ""
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if not word.startswith("-") and "=" not in word and not before.startswith("-"):
            name = word.rpartition("/")[2]
            program = name if name in PROGRAMS else program
        if masked[at] == word:
            masked[at] = _by_option(program, before, word)
    for start, count in behind:
        for at, word in enumerate(words[count:], start=count):
            said = words[at - count]
            is_said = said == start or (start[-1] == "." and said.startswith(start))
            if is_said and masked[at] == word and word[0:1] != "-" and not _harmless(word):
                masked[at] = mark(b"password").decode()
    return masked


def masked_variables(mask: Callable[[str], str] | None, env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables without secrets; a value is replaced whole if its name sounds secret.

    The other values go through `mask` (`Redactor.mask_text`); with None they stay as they are.
    """
    return {name: _variable(mask, name, env[name]) for name in env}


def sounds_secret(name: str) -> bool:
    """Return whether a variable's name suggests that its value is secret."""
    from siding.secretmask.names import meaning

    upper = name.upper()
    return (
        any(word in upper for word in _SECRET_WORDS)
        or upper.endswith("KEY")
        or meaning(name.encode("utf-8", "replace")) is not None
    )


def _variable(mask: Callable[[str], str] | None, name: str, value: str) -> str:
    if sounds_secret(name):
        from siding.secretmask.names import meaning

        named = meaning(name.encode("utf-8", "replace"))
        return mark(b"env" if named is None else named.kind).decode()
    return value if mask is None else mask(value)


def _by_option(program: str, before: str, word: str) -> str:
    """Return `word`, redacted if it is, or holds, the password of the option `before` it."""
    glued = GLUED.get(program)
    if glued is not None and word.startswith(glued) and len(word) > len(glued):
        return word if _harmless(word[2:]) else glued + mark(b"password").decode()
    if before in (*NEXT.get(program, ()), *LOGIN.get(program, ())):
        return word if _harmless(word) else mark(b"password").decode()
    if before in LOGINS.get(program, ()) and ":" in word:
        name, _, password = word.partition(":")
        return word if _harmless(password) else f"{name}:{mark(b'password').decode()}"
    if before.startswith("-") and "=" not in before and not word.startswith("-"):
        from siding.secretmask.names import Tier, meaning  # most words follow no option

        named = meaning(before.lstrip("-").encode("utf-8", "replace"))
        if named is not None and named.tier is not Tier.KEY and not _harmless(word):
            return mark(named.kind).decode()
    return word


def _harmless(value: str) -> bool:
    """Return whether the value is too short to be a secret, or only stands for one (``$TOKEN``)."""
    from siding.secretmask.values import stands_for_one

    data = value.encode("utf-8", "surrogateescape")
    return len(data) < 4 or stands_for_one(data)
