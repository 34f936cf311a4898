"""Decide whether a value is a secret, or a placeholder, a reference, code or a plain word."""

import base64
import binascii
import re
from collections.abc import Sequence
from functools import lru_cache

from siding.secretmask.lazily import lazily

_REMEMBERED = 2048  # judgements of each kind: what is printed is often printed again
# Matched against values in lower case, so that each alternative is told apart by its first byte.
_REFERENCE = lazily(
    rb"""(?x)
    \$(?:\{|\(|\$|[a-z_]\w*(?:$|[/.:}\])\s])) | \{\{ | \{% | %\( | %s\b | %[a-z_]+% | <[a-z%/!$|-]
    | \[?<?redacted\b | \#\{
    | \[(?:redacted|hidden|filtered|masked|removed|secret) | op:// | vault: | ssm: | arn:
    | env[:.(\[]
    | file:/ | process\.env | os\.(?:environ|getenv) | getenv | system\.get | secrets?[.\[]\w
    | (?:var|local|data|config|settings|import\.meta|deno\.env|self|this|args|opts|options|params
       |request|req|ctx|context|input|form|response|res|body|user|credentials?)(?:\.|\[|->)\w
    | keyring | getpass | https?:// | ~/ | [a-z]:\\ | sha\d+[:-]
    | x:\d+:\d+: | @microsoft | @@?[a-z_./-]+$
    | projects/ | aws-sm | gcp-sm | ref\+ | enc\[
    | !(?:ref|sub|getatt|join|vault|secret|env|include)\w*\b
    | function\s*\( | lambda\b | new\s | await\s
    | \(\)
    """
)
# What a value of letters and digits alone can match of `_REFERENCE` and `_PLACEHOLDER`.
_PLAIN_WORD = lazily(
    rb"getenv|keyring|getpass|lambda\Z|(?:foo(?:bar)?(?:baz)?|abc(?:d(?:ef?)?)?(?:123)?)\Z"
    rb"|(?:todo|fixme|tbd|x+)\Z"
)
_FEW = lazily(rb"(?s)(?:(.)\1*+(?:(.)(?:\1|\2)*+)?)?\Z")  # two different bytes at most
# A line that `_is_of_few`, or one that a part of `_PLAIN_WORD` matches.
_DOUBTED_LINE = lazily(
    rb"\n(?:(.)\1*+(?:(.)(?:\1|\2)*+)?|foo(?:bar)?(?:baz)?|abc(?:d(?:ef?)?)?(?:123)?)(?=\n)"
)
# Of letters and digits, what `_INSIDE` or the rest of `_PLAIN_WORD` finds has one of these in it.
_IN_PLACEHOLDERS = (
    *(b"xxxx", b"example", b"placeholder", b"changeme", b"changeit", b"replaceme", b"redacted"),
    *(b"dummy", b"getenv", b"keyring", b"getpass", b"lambda"),
)
_FORM = lazily(  # a path, an alias of YAML, or code between two quoted texts
    rb"(?:~|\.{1,2})?(?:/(?:[a-z0-9._@+-]+|[A-Z][a-z]+|[A-Z_]+))+/?$"
    rb"|\*[a-z_]+$|[,;)\]}] ?[A-Za-z_(]|[,;)\]}]+$| ?\+ "
)
_PLACEHOLDER = lazily(
    rb"""(?x)
    (?:your|my|our|the|some|insert|enter|put|paste|change|replace|add|set|use|type|dummy|fake
    |sample|placeholder
       |todo|fixme|example|redacted|none|not|no|invalid|missing|unset|todo|any|test|secret
       |super)[-_ ]
    | foo(?:bar)?(?:baz)?$ | abc(?:d(?:ef?)?)?(?:123)?$ | todo$ | fixme$ | tbd$ | x+$ | \?+$
    | -+$ | _+$ | \#+$
    """
)
_INSIDE = lazily(
    rb"example|placeholder|change[-_]?(?:me|it)|replace[-_]?me|redacted|dummy|xxxx|\*\*\*\*|\.\.\."
    rb"|\xe2\x80\xa6|\xe2\x80\xa2\xe2\x80\xa2|your[-_]"
)
_WORDS = frozenset(
    b"password passwd secret token none null nil true false undefined yes no on off string str "
    b"text required optional default test testing tests admin root user guest postgres mysql "
    b"redis changeit unset empty unknown disabled enabled prompt basic bearer digest oauth "
    b"oauth2 jwt public private int integer number bool boolean bytes any object array varchar "
    b"username login anonymous nobody passphrase hidden masked filtered removed expired "
    b"invalid missing ok error failed key value apikey api_key accesstoken plain plaintext "
    b"bcrypt argon2 scrypt pbkdf2 md5 sha1 sha256 sha512 hs256 rs256 es256 aes256 base64 utf-8 "
    b"utf8 pass rabbitmq guestguest sa oracle".split()
)
_NAME_WORDS = lazily(rb"passw|passp|secret|token|_key|key_|apikey|cred|auth|pwd")
# Whatever of letters and digits `_INSIDE`, `_NAME_WORDS` and `_PLAIN_WORD` find, and more.
_MORE_THAN_RANDOM = lazily(
    rb"example|placeholder|changeme|changeit|replaceme|redacted|dummy|xxxx|passw|passp|secret|token"
    rb"|apikey|cred|auth|pwd|getenv|keyring|getpass|lambda|foo|abc|todo|fixme|tbd"
)
_HEX = b"0123456789abcdef"
_IDENTIFIER = lazily(rb"[A-Za-z_][A-Za-z_]*$")
_DOTTED = lazily(rb"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+$")
_TEMPLATE = lazily(rb"\{[A-Za-z_][\w.()\[\]'\"]*\}")
_CALL = lazily(rb"[A-Za-z_][\w.:]*[(\[{]")
_WORDY = lazily(rb"_*[A-Za-z]+(?:[-_/.:|,+ ][A-Za-z]*)*$")
_HARMLESS = lazily(
    rb"""(?x)
    v?\d+(?:\.\d+)*(?:[-+.]?(?:rc|beta|alpha|dev|post)\d*)?$ | \d{4}-\d\d-\d\d
    | [\d.,:]+\s*[a-z%]{0,3}$ | 0x[0-9a-f]{1,8}$
    | \w+\.(?:py|js|ts|tsx|go|rs|java|json|ya?ml|toml|md|txt|sh|pem|crt|key|pub|env|cfg|conf|html
    |css)$
    | (?:\d{1,3}\.){3}\d{1,3}
    """
)
_OF_NUMBERS = frozenset(b"vV0123456789")  # what a harmless one of letters and digits begins with
_CONSONANTS = lazily(rb"[BCDFGHJKLMNPQRSTVWXZ][bcdfghjklmnpqrstvwxz]{4}")  # of no word
_LETTERS = 12  # so many in a row are no name of a program if they read like no words
_DIGIT = lazily(rb"[0-9]")
_BRACKETS = (b"(", b"[", b"{", b"|")


@lru_cache(maxsize=_REMEMBERED)
def stands_for_one(value: bytes) -> bool:
    """Return whether the value is a placeholder, or a reference to a secret kept elsewhere."""
    lower = value.lower()
    if lower in _WORDS or _INSIDE.search(lower) or _is_of_few(value):
        return not (value.startswith(b"$") and _crypted(value))
    if value.isalnum():
        return _PLAIN_WORD.match(lower) is not None
    if value.startswith(b"$") and _crypted(value):
        return False
    return (
        _PLACEHOLDER.match(lower) is not None
        or _REFERENCE.match(lower) is not None
        or _FORM.match(value) is not None
        or b"${" in value
        or b"$(" in value
        or b"{{" in value
        or (b"{" in value and _TEMPLATE.search(value) is not None)
    )


def none_stands_for_one(values: Sequence[bytes]) -> bool:
    """Return whether none of many values stands for a secret; each has six letters and digits.

    False if some have to be judged one by one. To judge them together takes a fifth of the time.
    """
    lines = b"\n%b\n" % b"\n".join(values).lower()
    if not are_hex(values) and (  # in which none of these words can be
        any(word in lines for word in _IN_PLACEHOLDERS) or not _WORDS.isdisjoint(lines.split())
    ):
        return False
    return _DOUBTED_LINE.search(lines) is None


def are_hex(values: Sequence[bytes]) -> bool:
    """Return whether the values are of hexadecimal digits alone, in lower case."""
    return not b"".join(values).translate(None, _HEX)


def _is_of_few(value: bytes) -> bool:
    """Return whether there are two different bytes in it at most."""
    if len(value) > 2 and value[0] != value[1] != value[2] != value[0]:
        return False  # most values, in a third of the time
    return _FEW.match(value) is not None


def _crypted(value: bytes) -> bool:
    """Return whether the value is a hash such as ``$6$…``, not a variable such as ``$HOME``."""
    return re.match(rb"\$[a-z0-9-]{1,12}\$.", value) is not None


def is_code(value: bytes) -> bool:
    """Return whether an unquoted value is a name or an expression of a program."""
    if _IDENTIFIER.match(value):
        return len(value) < 24 or b"_" in value
    return bool(_DOTTED.match(value) or _CALL.match(value))


@lru_cache(maxsize=_REMEMBERED)
def is_password(value: bytes, *, quoted: bool, assigned: bool) -> bool:
    """Return whether the value of a name that means a password is a password.

    `assigned`: only a literal can be there (``NAME=value`` in an environment file).
    """
    if len(value) < 4 or stands_for_one(value):
        return False
    literal = quoted or assigned
    mixed = value.isalnum() and not value.isalpha()  # letters and digits: no name, code or words
    if not mixed and _IDENTIFIER.match(value) and _names(value):
        return False
    if len(value) >= _LETTERS and value.isalpha() and _is_jumbled(value):
        return True
    if literal:
        return not (b" " in value and _is_prose(value))
    if value[:1] in _BRACKETS or value.startswith(b"!$"):
        return False
    if len(value) < 6 or (not mixed and is_code(value)) or _names(value):
        return False
    return mixed or not _WORDY.match(value)


def is_surely_password(value: bytes) -> bool:
    """Return whether a value of at least six letters and digits is a password, in quotes or not.

    False if `is_password` has to tell.
    """
    return not value.isalpha() and _is_only_random(value, value.lower())


def is_surely_token(value: bytes) -> bool:
    """Return whether a value of at least six letters and digits is a token, in quotes or not.

    False if `is_token` has to tell.
    """
    if value.isalpha() or len(value) < 8:
        return False
    lower = value.lower()
    if value[0] in _OF_NUMBERS and _HARMLESS.match(lower):
        return False
    return _is_only_random(value, lower)


def _is_only_random(value: bytes, lower: bytes) -> bool:
    """Return whether letters and digits have nothing in them that a person would have written."""
    if lower.translate(None, _HEX):
        worded = lower in _WORDS or _MORE_THAN_RANDOM.search(lower) is not None
    else:
        worded = b"abc" in lower  # no other one of these words is of such digits alone
    return not (worded or _is_of_few(value))


def is_harmless(value: bytes) -> bool:
    """Return whether a value is a number, a measure, a version, a date, an address or a file."""
    return _HARMLESS.match(value.lower()) is not None


def _names(value: bytes) -> bool:
    """Return whether there is a word in it that announces a secret, so that it is a name."""
    return _NAME_WORDS.search(value.lower()) is not None


@lru_cache(maxsize=_REMEMBERED)
def is_token(value: bytes, *, quoted: bool) -> bool:
    """Return whether the value of a name that means a token looks made by a machine, or is long."""
    if len(value) < 8 or stands_for_one(value):
        return False
    plain = value.isalnum()
    if (not plain or value[0] in _OF_NUMBERS) and _HARMLESS.match(value.lower()):
        return False
    if plain and not value.isalpha():
        return True
    if not quoted and value[:1] in _BRACKETS:
        return False
    if b" " in value or (not quoted and (_CALL.match(value) or _DOTTED.match(value))):
        return False
    if _WORDY.match(value):
        return len(value) >= 20 and not reads_like_words(value)
    return _DIGIT.search(value) is not None or len(value) >= 12


@lru_cache(maxsize=_REMEMBERED)
def is_random(value: bytes) -> bool:
    """Return whether a value is long and looks random; for names that can mean other things."""
    if len(value) < 16 or stands_for_one(value) or _HARMLESS.match(value.lower()) or b" " in value:
        return False
    if re.match(rb"[A-Fa-f0-9]{8}-[A-Fa-f0-9]{4}-", value) or _CALL.match(value):
        return False
    digits = len(value) - len(value.translate(None, b"0123456789"))
    if digits < 2 or _DOTTED.match(value):
        return False
    pieces = re.split(rb"[-_./:]", value)
    return max(len(piece) for piece in pieces) >= 14


def reads_like_words(value: bytes) -> bool:
    """Return whether a value of letters alone reads like words: capitals where words begin."""
    pieces = re.findall(rb"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", value)
    return len(value) / max(1, len(pieces)) >= 3.5 and max(map(len, pieces)) < 24


def is_told(value: bytes) -> bool:
    """Return whether a value behind ``the password is`` is one, which most words there are not."""
    lower = value.lower()
    kinds = lower != value != value.upper() and _DIGIT.search(value) is not None
    return (kinds and len(value) >= 8 and is_token(value, quoted=False)) or is_random(value)


def is_userinfo(value: bytes) -> bool:
    """Tell whether a value is a name and a password as the header `Authorization` has them."""
    try:
        decoded = base64.b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii()


def _is_jumbled(letters: bytes) -> bool:
    """Return whether letters are of both cases, and not as in words."""
    if letters.islower() or letters.isupper():
        return False
    return not reads_like_words(letters) or _CONSONANTS.search(letters) is not None


def _is_prose(value: bytes) -> bool:
    words = value.split()
    return all(
        re.fullmatch(rb"[\"'(]*[A-Za-z][A-Za-z'-]*[.,:;!?)\"']*|\d+|[-&/|]", word) for word in words
    )
