"""The law of the stream: whatever the pieces, the outcome is that of the whole."""

from unittest.mock import Mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from siding.secretmask.face import Redactor, Stream, known_values
from siding.secretmask.span import RIGHT

KEY = (
    b"-----BEGIN RSA PRIVATE KEY-----\n"
    + b"".join(b"MIIEow" + bytes([65 + n]) * 58 + b"\n" for n in range(6))
    + b"q9Zx/w==\n-----END RSA PRIVATE KEY-----\n"
)
PUTTY = (
    b"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 1\nAAAAC3Nz\n"
    b"Private-Lines: 2\n" + b"aFDTX7bK" * 8 + b"\naFDTX7bKUaXG8sKl\nPrivate-MAC: 12\n"
)
PARTS = [
    b"the quick brown fox ",
    b"\n",
    b"\r\n",
    b" ",
    b"\t",
    b"",
    b"=",
    b": ",
    b'"',
    b"'",
    b"\\",
    b"\\n",
    b"password",
    b"token=",
    b"api_key: ",
    b'"secret": "',
    b"DB_PASSWORD=",
    b"Authorization: Bearer ",
    b"hunter2!x",
    b"ghp_" + b"aB3" * 12,
    b"sk-ant-api03-" + b"xY7_" * 12,
    b"AKIAGOO3JILEUUYPJSXO",
    b"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlMTIz",
    b"https://ada:",
    b"s3cr3tpw",
    b"@host/x",
    KEY,
    KEY[:150],
    KEY.replace(b"\n", b"\\n"),
    b"-----BEGIN PRIVATE KEY-----",
    b"-----END PRIVATE KEY-----",
    PUTTY,
    PUTTY[:140],
    b"b791de8e84ec2a13aadcd68b18f920c88e05eae4",
    b"${TOKEN}",
    b"<your-key>",
    b"x" * 30,
    b"$6$abcdefgh$" + b"Ab1./" * 17,
    b"Set-Cookie: sid=s%3A" + b"a1B2" * 8 + b"; Path=/",
    b"curl -u ada:",
    b"correct horse battery",
    b"swordfish-77",
    b"\x1b[32m",
    b"\x1b[0m",
    b"\xff\x00\xfe",
    b"machine h login a password ",
    b"{",
    b"}",
    b",",
    b";",
    b"&sig=",
    b"Xy%2B" + b"q8" * 20,
    b"--token ",
    b"\xc3\xa9",
    b"gh\x1b[01;31m\x1b[Kp_" + b"aB3" * 12 + b"\x1b[m\x1b[K",
    b"ghp_\xe2\x80\x8b" + b"aB3" * 12,
    b"\\u0067hp_" + b"aB3" * 12,
    "token=swordfish-77 ghp_aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3 end ".encode("utf-16-le"),
    b"dG9rZW49Z2hwX2FCM2FCM2FCM2FCM2FCM2FCM2FCM2FCM2FCMw==",
    b"mysql -u root -pTrom-bone7! app",
    b"mnemonic: legal winner thank year wave sausage worth useful legal winner thank yellow",
    b"Recovery codes:\n8f3a1-77c02\n5d2e9-10b4f\n99c1d-4e5a7\n",
    b"\n" + b"word " * 10 + b"and sk-ant-api03-xY7_xY7_xY7_x\n",
    b"\n" + b"word " * 12 + b"ghp_aB3xY9aB3xY9aB3x\n",
]
RULES = Redactor(
    known=known_values({"MY_SECRET": "correct horse battery", "THE_TOKEN": "swordfish-77"})
)
texts = st.lists(st.sampled_from(PARTS), max_size=25).map(b"".join)


@example(text=b"machine h login a password ': the quick brown fox '", cuts=[30])
@example(text=b"--password 'correct staple battery' x", cuts=[20])
@example(text=b'ENV DB_PASSWORD "correct staple battery" x', cuts=[24])
@settings(max_examples=400, deadline=None)
@given(text=texts, cuts=st.lists(st.integers(0, 2000), max_size=30))
def test_any_pieces_give_what_the_whole_gives(text: bytes, cuts: list[int]) -> None:
    stream = RULES.stream()
    places = sorted({min(cut, len(text)) for cut in cuts})
    out = b""
    for start, end in zip([0, *places], [*places, len(text)], strict=True):
        out += stream.feed(text[start:end])
    assert out + stream.close() == RULES.mask(text)


@settings(max_examples=150, deadline=None)
@given(text=texts, cuts=st.lists(st.integers(0, 2000), max_size=10))
def test_the_same_behind_much_text(text: bytes, cuts: list[int]) -> None:
    """Where a stream no longer has all of it in sight."""
    before = b"the quick brown fox\n" * (RIGHT // 10)
    whole = before + text
    places = sorted({len(before) + min(cut, len(text)) for cut in cuts})
    stream = RULES.stream()
    out = b""
    for start, end in zip([0, *places], [*places, len(whole)], strict=True):
        out += stream.feed(whole[start:end])
    assert out + stream.close() == RULES.mask(whole)


@settings(max_examples=60, deadline=None)
@given(text=texts)
def test_byte_by_byte(text: bytes) -> None:
    stream = RULES.stream()
    out = b"".join(stream.feed(text[at : at + 1]) for at in range(len(text)))
    assert out + stream.close() == RULES.mask(text)


@settings(max_examples=200, deadline=None)
@given(text=st.lists(st.sampled_from(PARTS), max_size=25).map(b" ".join))
def test_twice_changes_nothing(text: bytes) -> None:
    plain = Redactor()
    once = plain.mask(text)
    assert plain.mask(once) == once


def test_the_last_letters_of_a_key_that_is_cut_off_are_hidden_too() -> None:
    """The mark was returned long before; what is left is too short to look like a key."""
    stream = Redactor().stream()
    shown = stream.feed(b"-----BEGIN RSA PRIVATE KEY-----\n" + b"MIIEow" + b"A" * 58 + b"\n")
    assert shown.endswith(b"[redacted:private-key]")
    assert stream.feed(b"q9Zx") == b""
    assert b"q9Zx" not in stream.close()


def test_a_large_piece_without_a_blank_is_shown_but_for_its_end() -> None:
    stream = Redactor().stream()
    shown = stream.feed(b"ab" * 50_000)
    assert 0 < stream.held < 50_000
    assert shown + stream.close() == b"ab" * 50_000


def test_a_small_piece_with_blanks_of_all_kinds_is_shown_but_for_its_last_word() -> None:
    stream = Redactor().stream()
    assert stream.feed(b"one two\tthree\r\nfour") == b"one two\tthree\r\n"


@pytest.mark.parametrize("blank", [b" ", b"\n", b"\t", b"\r"])
def test_a_word_is_shown_with_the_blank_that_ends_it(blank: bytes) -> None:
    """A prompt may end in any of them, and then wait for an answer."""
    stream = Redactor().stream()
    assert stream.feed(b"one" + blank) == b"one" + blank
    assert stream.feed(b"two") == b""
    assert stream.feed(blank) == b"two" + blank
    assert stream.feed(b"three" + blank + b"fo") == b"three" + blank


def test_a_word_that_comes_in_small_pieces_is_seldom_looked_at() -> None:
    """Looking at all that is held for every piece would take time by its square."""
    rules = Mock(wraps=Redactor()._rules)
    rules.spaced = ()
    stream = Stream(rules)
    shown = b"".join(stream.feed(b"ab") for _ in range(8 * RIGHT))
    assert stream.held < 5 * RIGHT
    assert 0 < rules.find.call_count < 10
    assert shown + stream.close() == b"ab" * 8 * RIGHT


def test_a_value_of_several_words_is_hidden_wherever_it_is_cut() -> None:
    value = b"correct horse battery"
    for cut in range(1, len(value)):
        for before in (b"", b"and then ", b"x" * RIGHT + b" "):
            stream = RULES.stream()
            out = stream.feed(before + value[:cut]) + stream.feed(value[cut:] + b" end\n")
            out += stream.close()
            assert out == before + b"[redacted:env:MY_SECRET] end\n", (cut, before[:9])


def test_a_secret_that_is_longer_than_all_that_is_held_is_hidden_to_its_end() -> None:
    text = b"token=" + b"aB3xY7" * 4 * RIGHT + b" and the rest\n"
    for size in (RIGHT, 5000, 3 * RIGHT):
        stream = Redactor().stream()
        out = b"".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size))
        out += stream.close()
        assert b"aB3xY7" not in out
        assert out.endswith(b" and the rest\n")
        assert out == Redactor().mask(text), size


def test_a_secret_behind_much_text_is_whole_wherever_it_is_cut() -> None:
    """Not only at the beginning of what is held is one that might go on held from its start."""
    before = b"the quick brown fox\n" * 150  # more than half of `RIGHT`
    text = before + b"sk-ant-api03-" + b"xY7_" * 12 + KEY.replace(b"\n", b"\\n") + b'"x\n'
    redactor = Redactor()
    assert len(text) < RIGHT
    for cut in range(len(before), len(text), 9):
        stream = redactor.stream()
        out = stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.close()
        assert out == redactor.mask(text), cut
