"""Find the secrets in the columns of a table whose head line names them.

    id | email | password        user,password,role      NAME    PASSWORD    AGE
   ----+-------+----------       bob,hunter22x,admin     admin   hunter22x   3d
     1 | a@b.c | hunter22x

A table with bars (of psql, mysql, Markdown, or drawn in boxes) has a line that separates its head,
and goes on as long as lines have bars. One with commas, semicolons or tabs goes on as long as lines
have as many cells; one whose columns are aligned, as long as its columns are there. A stream keeps
which columns are secret, and the last line until it is whole, so it needs little memory however
long the table is.
"""

import re
from collections.abc import Iterator, Sequence

from siding.ground.namedtuples import NamedTuple
from siding.secretmask.credit import Meter
from siding.secretmask.formats import STARTS, token_at
from siding.secretmask.lazily import lazily
from siding.secretmask.names import Meaning, Tier, meaning
from siding.secretmask.span import JUDGED, RIGHT, SecretSpan, plain_span
from siding.secretmask.values import (
    is_harmless,
    is_password,
    is_random,
    is_surely_password,
    is_surely_token,
    is_token,
    reads_like_words,
)

_LONGEST_HEAD = 1000  # bytes: so much is always in sight when the end of a line comes
_LONGEST_ROW = RIGHT
_MOST = 64  # columns
_TOGETHER = 1 << 13  # bytes of rows that are split at once
_PLAIN = 6  # letters and digits
_LETTERS = 12  # of a token without a digit
_SHORTEST = 4  # bytes; what is shorter is no password
_BOX = b"\xe2\x94\x82"
_BARS = (b"|", _BOX)
_ALIGNED = b"  "
_head_cell = re.compile(rb"[A-Za-z][\w.-]*(?: [\w.-]+){0,3}\Z").match
_separates = re.compile(rb"(?s)(?:[|+=: \t-]|\xe2[\x94\x95].)+\Z").match
_RULED = (b"-", b"=", b"\xe2\x94\x80", b"\xe2\x95\x90")
_aligned_cell = re.compile(rb"\S+(?: \S+)*").finditer
_AROUND = b" \t\r`*"
# Under these names alone a column has other things than secrets more often than not.
_VAGUE = frozenset(b"token secret auth credential credentials cred creds pass pwd pw psw".split())


class Column(NamedTuple):
    """A column of secrets: which one it is, or the offset at which it is aligned."""

    at: int
    known: Meaning
    vague: bool


class Table(NamedTuple):
    """What a head line says. `separated`: no line that separates the head has to come any more."""

    delimiter: bytes
    size: int
    columns: tuple[Column, ...]
    separated: bool


class State(NamedTuple):
    """The table at the line that begins at `read`, up to which all lines were read."""

    table: Table | None
    read: int


def in_tables(
    data: bytes, state: State, heads: Sequence[int], stop: int, *, final: bool
) -> tuple[list[SecretSpan], State]:
    """Return the secrets in the columns of tables, and the state behind what was read.

    `heads`: offsets of words that may be in head lines. No line is read that begins at `stop` or
    behind it, nor one that is not whole, unless no more bytes follow (`final`).
    """
    spans: list[SecretSpan] = []
    table, at = state
    waiting = iter(sorted(heads))
    while at < stop:
        if table is not None and table.separated and table.delimiter != _ALIGNED:
            at = _rows(data, at, min(stop, at + _TOGETHER), table, spans)
        if table is None:
            at = _next_head(data, at, waiting)
            if not 0 <= at < stop:
                return spans, State(None, state.read if at < 0 else at)
        elif at == stop:
            break
        end = data.find(b"\n", at)
        if end < 0 and not final:
            if table is None:
                return spans, State(None, at)
            if len(data) - at <= _LONGEST_ROW:
                return [*spans, SecretSpan(at, len(data), b"password", pending=True)], State(
                    table, at
                )
        behind = len(data) if end < 0 else end + 1
        if table is not None:
            table = _row(data, at, behind, table, spans)
        if table is None:
            table = _head(data[at:behind].rstrip(b"\r\n"))
        if behind > stop:  # it is read again, with what comes
            return spans, State(state.table if at == state.read else table, at)
        at = behind
    return spans, State(table, at)


def _rows(data: bytes, at: int, stop: int, table: Table, spans: list[SecretSpan]) -> int:
    """Read the rows that are like most, with as many cells as the head; return the end of them.

    That is the beginning of the first line that `_row` has to read.
    """
    delimiter, size, columns, _ = table
    last = data.rfind(b"\n", at, stop)
    for line in data[at:last].split(b"\n") if last > at else ():
        cells = line.split(delimiter)
        if len(cells) != size or 0x22 in line or len(line) > _LONGEST_ROW:
            break
        for column in columns:
            cell = cells[column[0]]
            if len(cell) >= _SHORTEST:
                start = (
                    at + len(delimiter.join(cells[: column[0]])) + len(delimiter) * (column[0] > 0)
                )
                _judge(data, start, start + len(cell), column, spans)
        at += len(line) + 1
    return at


def _next_head(data: bytes, read: int, heads: Iterator[int]) -> int:
    """Return where the next line begins that may be a head; -1 if there is none."""
    for head in heads:
        if head >= read:
            begin = data.rfind(b"\n", 0, head) + 1
            if begin >= max(read, 1) and head - begin < _LONGEST_HEAD:
                return begin
    return -1


def _head(line: bytes) -> Table | None:
    """Return the table of which this is the head line; None if it is none."""
    if len(line) > _LONGEST_HEAD:
        return None
    delimiter = next((each for each in (*_BARS, b"\t", b",", b";", _ALIGNED) if each in line), None)
    if delimiter is None:
        return None
    if delimiter == _ALIGNED:
        return _aligned_head(line)
    barred = delimiter in _BARS
    names = [each.strip(b' \t`*"') for each in line.split(delimiter)]
    if barred:  # the outer bars
        inner = names[not names[0] : len(names) - (not names[-1])]
    else:
        inner = names
    if not 1 < len(names) <= _MOST or not inner or not all(map(_head_cell, inner)):
        return None
    columns = _columns(enumerate(names))
    return Table(delimiter, len(names), columns, not barred) if columns else None


def _aligned_head(line: bytes) -> Table | None:
    cells = [(found.start(), found[0]) for found in _aligned_cell(line)]
    if not 1 < len(cells) <= _MOST or cells[0][0] or not all(_head_cell(name) for _, name in cells):
        return None
    columns = _columns(cells)
    return Table(_ALIGNED, len(cells), columns, True) if columns else None


def _columns(names: "Sequence[tuple[int, bytes]] | enumerate[bytes]") -> tuple[Column, ...]:
    found = []
    for at, name in names:
        known = meaning(name.replace(b" ", b"_"))
        if known is not None and known.tier in (Tier.PASSWORD, Tier.TOKEN):
            found.append(Column(at, known, name.lower() in _VAGUE))
    return tuple(found)


def _row(data: bytes, at: int, end: int, table: Table, spans: list[SecretSpan]) -> Table | None:
    """Add the secrets of the line ``data[at:end]``; return the table, None if it ends before it."""
    line = data[at:end].rstrip(b"\r\n")
    if not line or len(line) > _LONGEST_ROW:
        return None
    if table.delimiter == _ALIGNED:
        return _aligned_row(data, at, line, table, spans)
    if table.delimiter in _BARS:
        if _separates(line) and any(each in line for each in _RULED):
            return table._replace(separated=True)
        if not table.separated or table.delimiter not in line:
            return None
    cells = _cells(line, table.delimiter)
    if len(cells) != table.size:
        return table if table.delimiter in _BARS else None
    for column in table.columns:
        start = at + sum(map(len, cells[: column.at])) + column.at * len(table.delimiter)
        _judge(data, start, start + len(cells[column.at]), column, spans)
    return table


def _cells(line: bytes, delimiter: bytes) -> list[bytes]:
    cells = line.split(delimiter)
    if b'"' not in line or delimiter in _BARS:
        return cells
    joined: list[bytes] = []  # those within the same quotes are one
    for cell in cells:
        if joined and joined[-1][:1] == b'"' and joined[-1].count(b'"') % 2:
            joined[-1] += delimiter + cell
        else:
            joined.append(cell)
    return joined


def _aligned_row(
    data: bytes, at: int, line: bytes, table: Table, spans: list[SecretSpan]
) -> Table | None:
    if _separates(line):
        return table
    for column in table.columns:
        if column.at and line[column.at - 2 : column.at] != _ALIGNED:
            return None
        cell = line[column.at :].split(_ALIGNED, 1)[0]
        _judge(data, at + column.at, at + column.at + len(cell), column, spans)
    return table


def _judge(data: bytes, start: int, end: int, column: Column, spans: list[SecretSpan]) -> None:
    """Add the cell ``data[start:end]`` if it is a secret."""
    cell = data[start:end]
    start += len(cell) - len(cell.lstrip(_AROUND))
    value = cell.strip(_AROUND)
    if len(value) > 1 and value[0] == value[-1] == 0x22:
        value, start = value[1:-1], start + 1
    if _is_secret(value[:JUDGED], column):
        spans.append(plain_span(start, start + len(value), column.known.kind))


def _is_secret(value: bytes, column: Column) -> bool:
    if 0x20 in value or value.startswith(b"[redacted:"):
        return False
    if value.isalnum() and len(value) >= _PLAIN and not column.vague:  # most, in a fraction of it
        sure = is_surely_password if column.known.tier is Tier.PASSWORD else is_surely_token
        if sure(value):
            return True
    if column.known.tier is Tier.PASSWORD:
        if column.vague and (is_harmless(value) or value.isdigit()):
            return False
        return is_password(value, quoted=False, assigned=_is_jumbled(value))
    if not column.vague:
        return is_token(value, quoted=False) or (len(value) >= _LETTERS and _is_jumbled(value))
    mixed = value.isalnum() and not (value.islower() or value.isupper() or value.isdigit())
    return is_random(value) or (mixed and len(value) >= 16 and is_token(value, quoted=False))


def _is_jumbled(value: bytes) -> bool:
    """Return whether a value is of letters alone, but not as in words."""
    return value.isalpha() and not value.islower() and not reads_like_words(value)


# --------------------------------------------------------------------------------------------------
# Find a value whose name stands beside it under a key of its own, in the same or the next
# line
#
#     - name: DB_PASSWORD          <add key="ApiSecret" value="…"/>
#       value: hunter22            <name>db.password</name><value>…</value>
#
# Manifests of Kubernetes, tasks of ECS, settings of .NET and Hadoop, and parameters of
# CloudFormation are written so, with the name first or the value first. Lines may be those of a
# text in JSON (``\n``), and quotes may be escaped.


_QUOTE = rb"(?:\\{0,6}[\"']|&quot;)?"
_GAP = rb"(?:[ \t\r\n]|\\[nrt]){0,40}"
_NAME = rb"[A-Za-z_][\w.:/-]{1,80}"
_VALUE = lazily(
    rb"(?:(?<![\w.-])|(?<=Parameter))[vV]alue" + _QUOTE + rb"(?:[ \t]{0,4}[:=][ \t]{0,8}|>)"
)
# Behind the name there may be its end (`</name>`), a comma, and other attributes on no line.
_BEFORE = lazily(
    rb"(?:(?<![\w.-])|(?<=Parameter))(?:[nN]ame|[kK]ey)"
    + _QUOTE
    + rb"(?:[ \t]{0,4}[:=][ \t]{0,8}|>)"
    + _QUOTE
    + rb"("
    + _NAME
    + rb")"
    + _QUOTE
    + rb"(?:</\w{3,10}>)?,?"
    + _GAP
    + rb"[<\"']?\\{0,6}[\"']?\Z"
)
_BEHIND = lazily(
    rb",?"
    + _GAP
    + _QUOTE
    + rb"(?:Parameter)?(?:[nN]ame|[kK]ey)"
    + _QUOTE
    + rb"[ \t]{0,4}[:=][ \t]{0,8}"
    + _QUOTE
    + rb"("
    + _NAME
    + rb")(?![\w.:/-])"
)
_COMES = lazily(
    rb",?"
    + _GAP
    + _QUOTE
    + rb"[\w.:/-]{0,80}"
    + _QUOTE
    + rb"[ \t:=]{0,12}"
    + _QUOTE
    + rb"[\w./:-]{0,80}\Z"
)
_QUOTED = lazily(rb"(\\{0,6}[\"']|&quot;)((?:(?!\1)[^\n\r]){4,4096}?)(?=\1)")
_OPEN = lazily(rb"(\\{0,6}[\"'])(?:(?!\1)[^\n\r]){0,4096}\Z")
_PLAIN_BESIDE = lazily(rb"[^\s\"'`<>,;{}\\]{4,4096}")
_STEPS = 12  # for each value
_LEFT = 200  # bytes before the key of a value in which its name begins


def apart(data: bytes, limit: int, meter: Meter, *, final: bool) -> list[SecretSpan]:
    """Return the secrets whose names stand beside them."""
    spans = []
    for found in _VALUE.finditer(data):
        meter.spend(_STEPS)
        span = _beside(data, found.start(), found.end(), limit, final=final)
        if span is not None:
            spans.append(span)
    return spans


def _beside(data: bytes, at: int, start: int, limit: int, *, final: bool) -> SecretSpan | None:
    left = data[max(0, at - _LEFT) : at].removesuffix(b"Parameter")
    before = _BEFORE.search(left) if b"ame" in left or b"ey" in left else None
    known = None if before is None else meaning(before[1])
    if before is not None and known is None:
        return None
    quoted = _QUOTED.match(data, start, limit)
    if quoted is None and known is not None and not final and _OPEN.match(data, start, limit):
        return SecretSpan(start, limit, known.kind, pending=True)
    found = quoted or _PLAIN_BESIDE.match(data, start, limit)
    if found is None:
        return None
    begin, end = found.span(2 if quoted else 0)
    value = data[begin : min(end, begin + JUDGED)]
    if known is None:  # the name may come behind it
        return _before_its_name(data, begin, end, value, quoted, limit, final=final)
    if not _is_secret_beside(value, known, quoted=quoted is not None):
        return None
    if end == limit and not final:
        return SecretSpan(begin, end, known.kind, pending=True)
    return _span(data, begin, end, known)


def _before_its_name(
    data: bytes,
    begin: int,
    end: int,
    value: bytes,
    quoted: re.Match[bytes] | None,
    limit: int,
    *,
    final: bool,
) -> SecretSpan | None:
    behind = end if quoted is None else end + len(quoted[1])
    name = _BEHIND.match(data, behind, limit)
    if name is None:
        waits = not final and _COMES.match(data, behind, limit) is not None
        if waits and is_password(value, quoted=quoted is not None, assigned=True):
            return SecretSpan(begin, limit, b"password", pending=True)
        return None
    if name.end() == limit and not final:
        return SecretSpan(begin, limit, b"password", pending=True)
    known = meaning(name[1])
    if known is None or not _is_secret_beside(value, known, quoted=quoted is not None):
        return None
    return _span(data, begin, end, known)


def _is_secret_beside(value: bytes, known: Meaning, *, quoted: bool) -> bool:
    if known.tier is Tier.PASSWORD:
        return is_password(value, quoted=quoted, assigned=True)
    if known.tier is Tier.TOKEN:
        return is_token(value, quoted=True)
    return is_random(value)


def _span(data: bytes, start: int, end: int, known: Meaning) -> SecretSpan:
    token = token_at(data, start, end) if data[start : start + 3] in STARTS else None
    return plain_span(start, end, token[0] if token and token[1] == end else known.kind)
