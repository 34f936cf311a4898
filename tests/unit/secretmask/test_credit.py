"""Where too much has to be judged it is masked unread: how it is counted, and what is hidden."""

import copy
import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from left_to_prove import ALL
from siding.secretmask.blocks import TAIL
from siding.secretmask.credit import ALLOWANCE, Allowance
from siding.secretmask.face import Redactor, Stream, known_values
from unit.secretmask import cases, family_cases
from unit.secretmask.test_stream import PARTS

RULES = Redactor(
    known=known_values({"MY_SECRET": "correct horse battery", "THE_TOKEN": "swordfish-77"})
)._rules
# So little that nearly every text has too much; what each block takes is always counted by itself.
NONE = Allowance(block=64, fair=0, least=0, credit=1, near=0, slack=1)
LITTLE = Allowance(block=300, fair=30, least=20, credit=200, near=0, slack=31)
ENDLESS = Allowance(credit=1 << 40)
MARK = re.compile(
    rb"\[redacted:too-much\] [\d,]+ bytes were not read: they hold too much that could be a secret"
    rb"\n?"
)
QUIET = b"the quick brown fox\n" * (2 * TAIL // 20)
READ_AGAIN = QUIET[: TAIL + 1000]  # judging begins again in it, and what is left is shown
UNREAD = b"token=aB3xY9-hunter\n" * 9  # too much for a stream without credit
BEGINNING = UNREAD + QUIET[:-1000]  # few secrets are longer than what is left of the quiet lines
DENSE = b"".join(b"password=%d-hunter\n" % number for number in range(4000))

pieces = st.sampled_from(
    [*PARTS, *(before.encode() + secret.encode() for before, secret, _ in cases.SECRETS)]
)
texts = st.lists(st.one_of(pieces, pieces, st.just(QUIET)), max_size=30).map(b"".join)
allowances = st.sampled_from([NONE, LITTLE])


def redacted(
    data: bytes, cuts: list[int], allowance: Allowance, *, sieve_after: int | None = None
) -> bytes:
    """Return what a stream makes of the data, cut at these offsets."""
    stream = Stream(RULES, sieve_after=sieve_after, allowance=allowance)
    places = sorted({min(cut, len(data)) for cut in cuts})
    out = b""
    for start, end in zip([0, *places], [*places, len(data)], strict=True):
        out += stream.feed(data[start:end])
    return out + stream.close()


def assert_nothing_more_is_shown(limited: bytes, endless: bytes) -> None:
    """What is left between the marks is in the whole outcome, in the same order."""
    at = 0
    for shown in MARK.split(limited):
        found = endless.find(shown, at)
        assert found >= 0, (shown, endless)
        at = found + len(shown)


@settings(max_examples=500 if ALL else 100, deadline=None)
@given(text=texts, cuts=st.lists(st.integers(0, 9000), max_size=20), allowance=allowances)
def test_any_pieces_give_what_the_whole_gives(
    text: bytes, cuts: list[int], allowance: Allowance
) -> None:
    assert redacted(text, cuts, allowance) == redacted(text, [], allowance)


@settings(max_examples=150 if ALL else 40, deadline=None)
@given(text=texts, cuts=st.lists(st.integers(0, 9000), max_size=9), allowance=allowances)
def test_with_a_sieve_it_is_the_same(text: bytes, cuts: list[int], allowance: Allowance) -> None:
    """Where the library is installed; elsewhere there is none."""
    outcome = redacted(text, [], allowance)
    assert redacted(text, cuts, allowance, sieve_after=0) == outcome
    assert redacted(text, cuts, allowance, sieve_after=len(text) // 2) == outcome


@settings(max_examples=60, deadline=None)
@given(text=st.lists(pieces, max_size=20).map(b"".join), allowance=allowances)
def test_byte_by_byte(text: bytes, allowance: Allowance) -> None:
    assert redacted(text, list(range(len(text))), allowance) == redacted(text, [], allowance)


@settings(max_examples=500 if ALL else 100, deadline=None)
@given(text=texts, allowance=allowances)
def test_what_is_masked_with_an_endless_credit_is_masked_with_any(
    text: bytes, allowance: Allowance
) -> None:
    assert_nothing_more_is_shown(redacted(text, [], allowance), redacted(text, [], ENDLESS))


@pytest.mark.parametrize("case", [*cases.SECRETS, *family_cases.SECRETS], ids=str)
def test_a_secret_that_begins_where_nothing_is_read(case: tuple[str, str, str]) -> None:
    """And ends where judging has begun again, or may."""
    before, secret, behind = (each.encode("utf-8", "surrogateescape") for each in case)
    text = before + secret + behind
    for back in range(0, len(text), max(1, len(text) // 7)):
        head = UNREAD if back == 0 else UNREAD + QUIET[:-back]
        data = head + text + b"\n" + READ_AGAIN
        limited = _behind_what_is_not_read(data, NONE)
        assert_nothing_more_is_shown(limited, _behind_what_is_not_read(data, ENDLESS))
        assert limited.endswith(READ_AGAIN[-500:])


def _behind_what_is_not_read(data: bytes, allowance: Allowance) -> bytes:
    """Return what a stream makes of the data: what all begin with goes once through one stream, of
    which each then has a copy."""
    begun, out = _begun(allowance)
    if not data.startswith(BEGINNING):
        return redacted(data, [], allowance)
    stream = copy.deepcopy(begun, {id(each): each for each in (RULES, allowance)})
    return out + stream.feed(data[len(BEGINNING) :]) + stream.close()


@cache
def _begun(allowance: Allowance) -> tuple[Stream, bytes]:
    stream = Stream(RULES, sieve_after=None, allowance=allowance)
    return stream, stream.feed(BEGINNING)


@pytest.mark.parametrize("lines", [5, 400])
def test_a_key_that_begins_where_nothing_is_read(lines: int) -> None:
    """It may be longer than all that is in sight where judging begins again."""
    key = b"-----BEGIN PGP MESSAGE-----\n\n" + b"hQEMA7+/wZ5x/b3Ta+p8/uYv\n" * lines
    data = b"token=aB3xY9-hunter\n" * 9 + key + b"-----END PGP MESSAGE-----\n" + QUIET
    for allowance in (NONE, LITTLE):
        shown = MARK.split(redacted(data, [], allowance))
        assert b"hQEMA7" not in b"".join(shown)
        assert shown[-1].endswith(QUIET[-4000:])


def test_what_is_quiet_is_shown_behind_what_is_dense() -> None:
    dense = DENSE * 30
    data = b"before\n" + dense + QUIET * 20 + b"a token=aB3xY9-hunter\n" + QUIET
    stream = Stream(RULES, allowance=ALLOWANCE._replace(credit=200_000))
    out = stream.feed(data) + stream.close()
    first, last = MARK.split(out)
    assert first.startswith(b"before\npassword=[redacted:password]\npassword=[redacted:password]\n")
    assert b"hunter" not in out
    assert last.endswith(QUIET + b"a token=[redacted:token]\n" + QUIET)
    told = int(out[len(first) :].split(b" ")[1].replace(b",", b""))
    assert told == stream.unread
    assert len(dense) // 2 < stream.unread < len(dense) + 2 * ALLOWANCE.block


def test_the_credit_is_for_more_than_a_file_of_secrets_has() -> None:
    out = Redactor().mask(DENSE * 2)
    assert out == b"password=[redacted:password]\n" * 8000


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"assistant","uuid":"5f2b1c3e-%04x-4abc-8def-0123456789ab","in_tokens":%d}\n',
        b"2026-11-21 %04x GET /items?page_token=aB3xY9aB3xY9 200 %d Mozilla/5.0 (X11)\n",
        b"    def token_%x(self, token: str) -> str:  # %d: the key\n        return token\n\n",
        b"sha256:%064x  src/file%d.py\n",
    ],
)
def test_ordinary_output_is_never_too_much(line: bytes) -> None:
    text = b"".join(line % (number, number) for number in range(40_000))
    stream = Stream(RULES)
    assert b"too-much" not in stream.feed(text) + stream.close()
    assert stream.unread == 0


def test_a_line_that_never_ends_is_masked_to_its_end() -> None:
    data = DENSE.replace(b"\n", b" ") * 30 + b"the end\n" + QUIET * 20
    last = MARK.split(redacted(data, [1000], ALLOWANCE))[-1]
    assert b"the end" not in last
    assert last.endswith(QUIET)


def test_a_long_text_is_masked_as_a_stream_is() -> None:
    text = (DENSE * 30).decode()
    redactor = Redactor()
    masked = redactor.mask(text.encode())
    assert redactor.mask_text(text) == masked.decode()
    assert MARK.search(masked)
    assert not redactor.is_clean(text)
    assert redactor.is_clean((QUIET * 30).decode())


def test_a_mark_is_left_as_it_is() -> None:
    once = redacted(DENSE * 30, [], ALLOWANCE)
    assert redacted(once, [], ENDLESS) == once


@pytest.mark.parametrize("allowance", [ALLOWANCE, ALLOWANCE._replace(credit=0), LITTLE])
@pytest.mark.parametrize("unit", [b"xoxb-1-", b"ghp_aB3", b"eyJ-", b"token=a"])
def test_a_secret_that_is_longer_than_many_blocks(unit: bytes, allowance: Allowance) -> None:
    """In one piece its end is known before the blocks that it covers have come by themselves."""
    text = unit * (200_000 // len(unit)) + b"@\nthe end\n"
    whole = redacted(text, [], allowance)
    assert redacted(text, [*range(997, len(text), 997)], allowance) == whole
