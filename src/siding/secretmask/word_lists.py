"""Find secrets that are lists: the words of a wallet's seed, and recovery codes.

A list is found by the name before it. The words of a seed are those of BIP 39.
"""

from collections.abc import Iterable, Iterator

from siding.secretmask.lazily import lazily
from siding.secretmask.span import RIGHT, SecretSpan

_SIZES = (12, 15, 18, 21, 24)
_SEED_NAME = lazily(
    rb"(?i)(?:mnemonic|phrase)(?:[ _](?:seed|words|phrase)){0,2}"
    rb"(?=[ \t\\]{0,8}[:=\n\r\"'\[]|[ ](?:is|was|are)[ \t:\r\n])[\\\"']{0,8}(?:[ ](?:is|was|are))?"
    rb"[ \t]{0,8}[:=]{0,2}[ \t\r\n]{0,8}[\\\"'\[]{0,8}"
)
_WORD = lazily(
    rb"(?:\d{1,2}[.):][ \t]{0,3})?([a-z]{3,8})(?![A-Za-z0-9_=:-])[,\"']{0,3}[ \t\r\n]{0,8}\"?"
)
_CODES_NAME = lazily(
    rb"(?i)(?:recovery|backup|scratch|emergency|rescue|one-time)[ _-]?(?:2fa |mfa |login )?codes"
    rb"[\\\"']{0,8}[ \t]{0,8}[:=]{0,2}[ \t\r\n]{0,8}[\\\"'\[]{0,8}"
)
_BEFORE_CODES = tuple(b"recovery backup scratch emergency rescue time 2fa mfa login".split())
_CODE = lazily(
    rb"(?:\d{1,2}[.)][ \t]{1,3}|[*-][ \t])?(?=[a-z-]{0,40}[0-9]|[A-Z-]{0,40}[0-9])"
    rb"([A-Za-z0-9]{4,16}(?:-[A-Za-z0-9]{4,16}){0,5})(?![A-Za-z0-9_=:.-])"
    rb"[,\"']{0,3}[ \t\r\n]{0,8}\"?"
)
_SHORTEST_CODE = 6
_FEWEST_CODES = 3


def listed(data: bytes, places: Iterable[int], limit: int, *, final: bool) -> Iterator[SecretSpan]:
    """Yield the lists that the words at `places` announce (from `prefilter.triggers`)."""
    covered = 0
    for at in places:
        if at < covered:
            continue
        seed = _SEED_NAME.match(data, at, limit)
        span = None
        if seed is not None:
            span = _seed(data, seed.end(), limit, final=final)
        elif data[max(0, at - 24) : at].rstrip(b" _-").lower().endswith(_BEFORE_CODES):
            codes = _CODES_NAME.search(data, max(0, at - 24), min(limit, at + 64))
            if codes is not None and codes.start() < at < codes.end():
                span = _codes(data, codes.end(), limit, final=final)
        if span is not None:
            yield span
            covered = span.end


def _seed(data: bytes, start: int, limit: int, *, final: bool) -> SecretSpan | None:
    from siding.secretmask.bip39 import WORDS  # most output has no such list

    ends: list[int] = []
    at = start
    while len(ends) < _SIZES[-1]:
        word = _WORD.match(data, at, limit)
        if word is None or word[1] not in WORDS:
            break
        ends.append(word.end(1))
        at = word.end()
    if not final and len(ends) < _SIZES[-1] and limit - at < 16 and at > start:
        return SecretSpan(start, limit, b"seed-phrase", pending=True)
    size = max((size for size in _SIZES if size <= len(ends)), default=0)
    return SecretSpan(start, ends[size - 1], b"seed-phrase") if size else None


def _codes(data: bytes, start: int, limit: int, *, final: bool) -> SecretSpan | None:
    end, count, at = start, 0, start
    while at - start < RIGHT:
        code = _CODE.match(data, at, limit)
        if code is None or len(code[1]) < _SHORTEST_CODE:
            break
        end, at, count = code.end(1), code.end(), count + 1
    waits = not final and limit - at < 64 and start < at < start + RIGHT
    if waits and _MAY_GO_ON.match(data, at, limit):
        return SecretSpan(start, limit, b"recovery-codes", pending=True)
    return SecretSpan(start, end, b"recovery-codes") if count >= _FEWEST_CODES else None


_MAY_GO_ON = lazily(rb"[A-Za-z0-9*.)-]{0,64}[ \t]{0,3}[A-Za-z0-9-]{0,64}\Z")
