"""Find the passwords on the command lines of programs that take one there: see `commands`."""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from siding.secretmask.commands import GLUED, LOGIN, LOGINS, NEXT, PROGRAMS
from siding.secretmask.credit import Meter
from siding.secretmask.lazily import lazily
from siding.secretmask.span import LEFT, SecretSpan, plain_span
from siding.secretmask.values import stands_for_one

_VALUE = rb"\\{0,6}[\"']?([^\s\"'`\\|;&]{4,})"
_OPTIONS = rb"(?:[ \t]-\w+)*[ \t]"
_OTHERS = {
    "openssl": rb"[ \t]-pass(?:in|out)?[ \t]pass:" + _VALUE,
    # The password is the word after the user; before the user is a file, unless there is a ``-n``.
    "htpasswd": rb"(?:[ \t]-\w+)*?[ \t](?:-(?=\w*b)(?=\w*n)\w+"
    + _OPTIONS
    + rb"|-(?=\w*b)\w+"
    + _OPTIONS
    + rb"[^\s-]\S*[ \t])[^\s-]\S*[ \t]"
    + _VALUE,
}
_LOOK, _PROGRAM = 6, 10  # steps for a line with an option, and for each program in it
_LINE = 512  # bytes before and behind an option that belong to its command


def client_passwords(
    data: bytes, options: Iterable[int], limit: int, meter: Meter
) -> Iterator[SecretSpan]:
    """Yield the passwords in the command lines that have short options at `options`."""
    looked = 0
    for at in options:
        if at < looked:
            continue
        end = data.find(b"\n", at, min(limit, at + _LINE))
        looked = end if end >= 0 else min(limit, at + _LINE)
        start = max(data.rfind(b"\n", max(0, at - _LINE), at), at - _LINE, 0)
        programs = list(_programs().finditer(data, start, looked))
        meter.spend(_LOOK + _PROGRAM * len(programs))
        stops = [*(each.start() for each in programs[1:]), looked]
        for program, stop in zip(programs, stops, strict=False):
            name = program[0].removesuffix(b".exe")
            for found in _options_of(name).finditer(data, program.end(), stop):
                span = _to_its_end(data, found, limit)
                if span is not None:
                    yield span


def _to_its_end(data: bytes, found: re.Match[bytes], limit: int) -> SecretSpan | None:
    assert found.lastindex is not None
    start, end = found.span(found.lastindex)
    behind = _WORD_END.search(data, end, limit)
    last = limit if behind is None else behind.start()
    if stands_for_one(data[start : min(last, start + LEFT)]):
        return None
    if last < limit:
        return plain_span(start, last, b"password")
    return SecretSpan(start, last, b"password", until=_WORD_END)


_WORD_END = lazily(rb"[\s\"'`\\|;&]")


@cache
def _programs() -> re.Pattern[bytes]:
    """Return the pattern of a program's name, with ``.exe`` or without.

    Each alternative begins with a letter, and what is before the name is looked at behind it: so
    only the places with one of these letters are tried.
    """
    by_letter: dict[str, list[str]] = {}
    for name in sorted(PROGRAMS, key=len, reverse=True):
        by_letter.setdefault(name[0], []).append(re.escape(name[1:]))
    names = "|".join(
        rf"{letter}(?:(?<![\w.-]{letter})|(?<=\\[nt]{letter}))(?:{'|'.join(rests)})"
        for letter, rests in by_letter.items()
    )
    return re.compile(rf"(?:{names})(?:\.exe)?(?=[ \t])".encode())


@cache
def _options_of(program: bytes) -> re.Pattern[bytes]:
    name = program.decode()
    before = rb"(?:[^\n|;&]{0,200}?[ \t])??"
    login = rb"[ \t=]{0,4}\\{0,6}[\"']?[^\s:%\"'\\]{1,64}[:%]([^\s\"'`\\|;&]{3,})"
    patterns = (
        *(_option(each) + rb"[ \t=]+(?!-)" + _VALUE for each in NEXT.get(name, ())),
        *(
            rb"[ \t]login[ \t]" + before + each.encode() + rb"[ \t=]+(?!-)" + _VALUE
            for each in LOGIN.get(name, ())
        ),
        *(_option(each) + login for each in LOGINS.get(name, ())),
        *((_OTHERS[name],) if name in _OTHERS else ()),
        *((_option(GLUED[name]) + _VALUE,) if name in GLUED else ()),
    )
    return re.compile(b"|".join(patterns))


def _option(text: str) -> bytes:
    return rb"[ \t]" + re.escape(text.encode())
