"""Find secrets behind words of a program that are no name: ``IDENTIFIED BY``, ``snyk auth``, …

A row has the literals of which one is in each phrase, so that a search for them finds the few
places to look at, and a pattern for the bytes around. Its group `secret` is the secret.
"""

import re
from collections.abc import Iterator
from functools import cache

from siding.ground.namedtuples import NamedTuple
from siding.secretmask.credit import Meter
from siding.secretmask.lazily import lazily
from siding.secretmask.prefilter import positions
from siding.secretmask.span import SecretSpan, plain_span

_STEPS = 12  # for each literal
_LEFT, _RIGHT = 256, 512  # bytes around a literal that are looked at
# What is in quotes. Without the closing one at the end of the data, it may come.
_QUOTED = (
    r"(?P<q>\\{0,6}[\"'])"
    r"(?:(?P<secret>(?:(?!(?P=q))[^\n\r]){3,256})(?P=q)|(?P<begun>[^\n\r]{0,256})\Z)"
)
_PLAIN = r"[^\s\"'`\\|;&<>]"
_WORD = rf"(?P<plain>{_PLAIN}{{4,256}})"
_BLANKS = r"[ \t]{1,16}"


_PROMPT = (
    r"(?:(?<=nter )|(?<=nter PEM )|(?<=your )|(?<=new ))WHAT"
    r"(?: (?:for|of|to) [^:\n]{1,120}| \([^)\n]{1,80}\)):[ \t]{1,4}"
    r"(?P<plain>[^\s\[(<]\S{3,255})(?=[ \t]*(?:\r?\n|\\n|\\r|\Z))"
)
_PRINTED = rf"(?:echo|printf)(?:{_BLANKS}-[neE]+)?(?:{_BLANKS}[\"']%s(?:\\n)?[\"'])?{_BLANKS}"
_PIPED = lazily(
    rb"(?:echo|printf)(?:[ \t]+-[neE]+)?(?:[ \t]+[\"']%s(?:\\n)?[\"'])?[ \t]+"
    rb"([^\s|\"'][^\s|]{2,200}|\"[^\"\n]{3,200}\"|'[^'\n]{3,200}')[ \t]*"
    rb"(?:\|[^\n|]{0,160})?\Z"
)
# Programs, or their options, that read a secret from where the words before it go.
_READS = (
    r"(?:--(?:password|token|pat|api-key|secret|auth-?key)-stdin\b|--with-token\b"
    r"|secrets? (?:put|set) |passwd [^\n|;&]{0,40}--stdin\b|(?<= )chpasswd\b)"
)


class Phrase(NamedTuple):
    """`kind` of the secret; one of the `literals` is in each text that `pattern` matches.

    So is `sign`, for which a search takes next to nothing: where it is missing none is made. The
    literals of one without a sign are among those that `prefilter` looks for.
    """

    kind: bytes
    literals: tuple[bytes, ...]
    pattern: str
    sign: bytes = b""


_PHRASES = (
    Phrase(
        b"password",
        (b"dentified", b"DENTIFIED"),
        rf"(?i)identified{_BLANKS}(?:with{_BLANKS}[\w'\"`.]{{1,64}}{_BLANKS})?(?:by|as){_BLANKS}"
        rf"(?:password{_BLANKS})?(?:{_QUOTED}|(?=[^\s;]*[0-9]){_WORD})",
    ),
    Phrase(b"token", (b"sonar.login",), rf"sonar\.login[ \t]*[=:][ \t]*[\"']?{_WORD}"),
    Phrase(
        b"token",
        (b"snyk config set ",),
        rf"snyk{_BLANKS}config{_BLANKS}set{_BLANKS}api=(?P<plain>[A-Za-z0-9_.-]{{20,256}})",
    ),
    Phrase(  # of wpa_supplicant and NetworkManager: a phrase in quotes, 64 digits, or a whole line
        b"password",
        (b"psk=",),
        r"(?m)(?:(?<![\w.-])|(?<=\\[nt]))psk=(?:"
        rf"(?=\\{{0,6}}\"){_QUOTED}"
        rf"|(?P<plain>[0-9a-fA-F]{{64}}(?![\w-])|(?<=^psk=){_PLAIN}{{8,63}}(?!{_PLAIN})))",
        sign=b"psk=",
    ),
    Phrase(
        b"password",
        (b"http-basic.",),
        rf"config{_BLANKS}(?:--\w+{_BLANKS})*http-basic\.[\w.-]+{_BLANKS}(?!-){_PLAIN}+{_BLANKS}"
        rf"(?:{_QUOTED}|{_WORD})",
        sign=b"http-basic.",
    ),
    Phrase(
        b"password",
        (b"rclone ",),
        rf"rclone{_BLANKS}(?:obscure|config{_BLANKS}(?:create|update|password){_BLANKS}"
        rf"[^\n|;&]{{0,200}}?[ \t](?:pass|password2?)){_BLANKS}(?!-)(?:{_QUOTED}|{_WORD})",
        sign=b"rclone ",
    ),
    Phrase(  # a line of .pgpass
        b"password",
        (b":5432:",),
        r"(?m)^(?:[\w-]+(?:\.[\w-]+)*|\*|/[\w/.-]+):5432:[\w*.-]+:[\w*.@-]+:"
        r"(?P<plain>[^\s:]{3,256})[ \t]*\r?$",
    ),
    Phrase(
        b"password",
        (b":*:",),
        r"(?m)^(?:[\w-]+(?:\.[\w-]+)*|\*):(?:\d{2,5}|\*):[\w*.-]+:[\w*.@-]+:"
        r"(?P<plain>[^\s:]{3,256})[ \t]*\r?$",
        sign=b"*",
    ),
    Phrase(
        b"password",
        (b"net use ", b"NET USE "),
        rf"(?i)net{_BLANKS}use{_BLANKS}(?:(?:[a-z]:|\*){_BLANKS})?\\\\\S+{_BLANKS}"
        rf"(?:/(?!user:)\S+{_BLANKS})*(?:/user:\S+{_BLANKS})?(?![/*])\"?{_WORD}",
        sign=b"\\",
    ),
    Phrase(
        b"password",
        (b"-stdin", b"--with-token", b"chpasswd"),
        rf"{_PRINTED}(?:{_QUOTED}|{_WORD})[ \t]*\|[^\n|;&]{{0,90}}?{_READS}",
        sign=b"|",
    ),
    Phrase(
        b"password",
        (b" <<< ",),
        rf"{_READS}[^\n|;&]{{0,120}}<<< (?:{_QUOTED}|{_WORD})",
        sign=b"<",
    ),
    Phrase(
        b"password",
        (b"sudo -",),
        rf"{_PRINTED}(?:{_QUOTED}|{_WORD})[ \t]*\|[ \t]*sudo{_BLANKS}(?:-\S+{_BLANKS})*?"
        r"(?:-[A-Za-z]*S|--stdin)\b",
        sign=b"|",
    ),
    Phrase(
        b"password",
        (b"sudo -",),
        rf"sudo{_BLANKS}(?:-\S+{_BLANKS})*?(?:-[A-Za-z]*S|--stdin)\b[^\n|;&]{{0,120}}<<<[ \t]*"
        rf"(?:{_QUOTED}|{_WORD})",
        sign=b"<",
    ),
)
_IDENTIFIED = tuple(each for each in _PHRASES if not each.sign)
_SIGNS = {each.sign for each in _PHRASES if each.sign}
_SIGNED = [(sign, [each for each in _PHRASES if each.sign == sign]) for sign in sorted(_SIGNS)]
# What follows a name and a blank, by the last word of the name: `pairs` has found that already.
PHRASES = {
    b"requirepass": Phrase(b"password", (), rf"requirepass{_BLANKS}(?:{_QUOTED}|{_WORD})\s"),
    b"masterauth": Phrase(b"password", (), rf"masterauth{_BLANKS}(?:{_QUOTED}|{_WORD})\s"),
    b"auth-pass": Phrase(
        b"password", (), rf"auth-pass{_BLANKS}[\w.-]+{_BLANKS}(?:{_QUOTED}|{_WORD})\s"
    ),
    b"auth": Phrase(
        b"token",
        (),
        rf"(?<=snyk )auth{_BLANKS}(?:-\S+{_BLANKS})*(?P<plain>[A-Za-z0-9_.-]{{20,256}})",
    ),
    b"passphrase": Phrase(b"password", (), _PROMPT.replace("WHAT", "passphrase")),
    b"password": Phrase(
        b"password",
        (),
        r"password (?:is generated for [\w@%.-]{1,80}: |to proceed to installation:\s{1,8})"
        r"(?P<secret>\S{4,255})(?=\s|\Z)|" + _PROMPT.replace("WHAT", "password"),
    ),
    b"pass": Phrase(
        b"password",
        (),
        r"pass phrase(?: for [^:\n]{1,120})?:[ \t]{1,4}(?P<plain>[^\s\[(<]\S{3,255})"
        r"(?=[ \t]*(?:\r?\n|\\n|\\r|\Z))",
    ),
}


def phrases(data: bytes, meter: Meter, *, any_word: bool, final: bool) -> Iterator[SecretSpan]:
    """Yield the secrets behind these words; `any_word`: whether `prefilter` found one of them."""
    wanted = [*_IDENTIFIED] if any_word else []
    for sign, some in _SIGNED:
        if sign in data:
            wanted += some
    for phrase in wanted:
        for literal in phrase.literals:
            for at in positions(data, literal):
                meter.spend(_STEPS)
                yield from _around(data, at, phrase, final=final)
    if not final:
        line = data.rfind(b"\n", max(0, len(data) - _LEFT)) + 1
        begun = (
            _PIPED.search(data, line) if b"cho " in data[line:] or b"intf " in data[line:] else None
        )
        if begun is not None:  # it may go to sudo
            yield SecretSpan(begun.start(1), len(data), b"password", pending=True)


def behind_name(
    data: bytes, left: int, name: bytes, limit: int, *, final: bool
) -> SecretSpan | None:
    """Return the secret of a phrase that begins with this name, one of `PHRASES`, at `left`."""
    phrase = PHRASES[name]
    found = _compiled(phrase.pattern).match(data, left, min(limit, left + _RIGHT))
    return None if found is None else _span(data, found, phrase, final=final)


def _around(data: bytes, at: int, phrase: Phrase, *, final: bool) -> Iterator[SecretSpan]:
    left = max(data.rfind(b"\n", max(0, at - _LEFT), at), at - _LEFT, 0)
    end = data.find(b"\n", at, at + _RIGHT)
    end = min(len(data), at + _RIGHT) if end < 0 else end + 1
    for found in _compiled(phrase.pattern).finditer(data, left, end):
        span = _span(data, found, phrase, final=final)
        if span is not None:
            yield span


def _span(data: bytes, found: re.Match[bytes], phrase: Phrase, *, final: bool) -> SecretSpan | None:
    groups = found.groupdict()
    if groups.get("begun") is not None:
        begin = found.start("q")
        return None if final else SecretSpan(begin, len(data), phrase.kind, pending=True)
    plain = groups.get("plain") is not None
    group = "plain" if plain else "secret"
    value = found[group]
    from siding.secretmask.values import stands_for_one

    if stands_for_one(value) or (plain and value.isalpha() and value.islower()):
        return None
    start, behind = found.span(group)
    if behind == len(data) and not final:
        return SecretSpan(start, behind, phrase.kind, pending=True)
    return plain_span(start, behind, phrase.kind)


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())
