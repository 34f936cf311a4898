"""What is judged in one step is judged as it would be closely."""

import re
from itertools import product
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import counted
from siding.secretmask import places
from siding.secretmask.face import Redactor
from siding.secretmask.formats import STARTS
from siding.secretmask.pairs import beginning_of_name, plain_pair
from siding.secretmask.span import SecretSpan

PLAIN = Redactor()
BEFORE = (b"", b"x\\", b"[redacted:", b"://")
NAMES = (b"password", b"DB_PASSWORD", b"token", b"max_tokens", b"x_key")
BETWEEN = (b"=", b"==", b": ", b'": "', b"='", b'="', b" = ")
VALUES = (
    b"hunter22",
    b"12345678",
    b"v1234567",
    b"0x12345678",
    b"11221122",
    b"myPassword1",
    b"xxxx1234",
    b"oauth2",
    b"ghp_" + b"aB3" * 12,
    b"AKIAGOO3JILEUUYPJSXO",
    b"0123abcd",
    b"aB3" * 30,
)
BEHIND = (b"\n", b' = "x"', b'"', b"'", b"")


def test_a_plain_pair_is_judged_as_closely_as_any(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [b"".join(parts) for parts in product(BEFORE, NAMES, BETWEEN, VALUES, BEHIND)]
    counted.add(len(texts))
    looked = Mock(wraps=plain_pair)
    monkeypatch.setattr("siding.secretmask.evaluate.plain_pair", looked)
    masked = [PLAIN.mask(text) for text in texts]
    assert looked.call_count > len(texts) / 2
    monkeypatch.setattr("siding.secretmask.evaluate.plain_pair", lambda *_: None)
    assert [text for text, one in zip(texts, masked, strict=True) if PLAIN.mask(text) != one] == []
    hidden = [text for text, one in zip(texts, masked, strict=True) if text != one]
    assert len(texts) / 10 < len(hidden) < len(texts) * 9 / 10


class Everything:
    """A set in which everything is."""

    def __contains__(self, _: object) -> bool:
        return True


class Nothing(set[bytes]):
    """A set in which nothing stays."""

    def add(self, _: bytes) -> None:
        pass


# A password of letters and digits, in a group, if no ``@`` comes before the host; else any.
_OUTSIDE = rb" \t\n\r\f\v\"'<>\\/?"
_TO_THE_LAST = re.compile(
    rb"://(?<=[A-Za-z0-9]://)[^%b:]{0,256}+:(?:([A-Za-z0-9]{6,64}+)@(?=[A-Za-z0-9])"
    rb"(?![^%b@]{0,256}+@)|[^%b]{3,256}@)" % (_OUTSIDE, _OUTSIDE, _OUTSIDE)
)


def _behind_any_colon(data: bytes, start: int, limit: int) -> SecretSpan | None:
    joint = places._behind_joint(data, start, limit)
    return joint or places._named(data, start, limit)


def test_what_is_told_apart_at_a_glance_is_judged_as_closely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Values in JSON that are dull, runs with no word before them, passwords in URLs."""
    run = b"0123456789abcdef" * 2
    joints = [b" ", b"=", b"; ", b": ", b'": "', b"&sig=", b" Bearer ", b":", b"sha256:"]
    joints += [b"123456789:AA", b"12345678901:"]
    words = (b"id", b"salt", b"jwt", b"Cookie: sid", b"basic", b"x?signature", b"auth", b"MY_PAT")
    texts = [b"%s%s%s\n" % parts for parts in product(words, joints, (run, run + b"xyzXYZ8901"))]
    dull = (b"true", b"null", b"1234567", b"12345678", b'"oidc"', b'"none"', b'"aB3xY9-q"', b'""')
    ends = (b"}", b', "x": 1}', b", x = 'aB3xY9qq'", b"")
    named = (b"auth", b"token", b"api_key", b"password", b"token_count", b"cache_key", b"x_key")
    texts += [b'{"%s": %s%s' % parts for parts in product(named, dull, ends)]
    hosts = (b"host/", b"[::1]/", b"h@other/", b"", b" x")
    gaps = (b"linux-npm-", b"a_ghp_", b"x-glpat-", b"a-lin_", b"b_lin_api_", b"~", b"us-us-")
    texts += [b"a %s%s%s\n" % parts for parts in product(gaps, (run, b"aB3" * 12), (b"", b"-us12"))]
    digest = b"sha512-" + b"aB3/deFg+" * 9 + b"aB3de=="
    texts += [b'%s"%s"' % (name, digest) for name in (b"integrity: ", b"password=", b"Bearer ")]
    said = (b"token", b"pass", b"PASS", b"password", b"auth", b"--token", b"x_token", b"snyk auth")
    texts += [
        b"x: %s %s" % parts for parts in product(said, (b"src/a", run, b"aB3xY9qq\n", b"'x'"))
    ]
    texts += [b'{"token_main_default_%s": "aB3xY9qqZ1"}' % last for last in (b"count", b"prod")]
    values = (
        b"aaaaaa",
        b"abc123",
        b"hunter22",
        b"aBcDeFgH",
        b"password",
        b"xxxxxxxx",
        b"ghp_" + b"aB3" * 12,
        b"p%41ss",
    )
    urls = [b"a postgres://u:%s@%s\n" % parts for parts in product(values, hosts)]
    many = [b"x://u%d:%s@h\n" % (n, value) for value in values for n in range(8)]
    texts += [b"%sto: a@b.example\n%s" % (url, url) for url in urls]
    texts += [*urls, *(b"".join(many[n : n + 8]) for n in range(0, len(many), 4))]
    counted.add(len(texts))
    masked = [PLAIN.mask(text) for text in texts]
    monkeypatch.setattr("siding.secretmask.evaluate._dull", Nothing())
    monkeypatch.setattr("siding.secretmask.evaluate.dull_end", lambda *_: None)
    monkeypatch.setattr("siding.secretmask.evaluate.is_word", lambda *_: False)
    monkeypatch.setattr("siding.secretmask.places._announces_nothing", lambda _: False)
    monkeypatch.setattr("siding.secretmask.places._dull", ({}, {}))
    monkeypatch.setattr("siding.secretmask.places._begins_nowhere", lambda _: False)
    monkeypatch.setattr("siding.secretmask.places._end_of_checksum", lambda *_: 0)
    monkeypatch.setattr("siding.secretmask.places._begins_inside", lambda *_: True)
    monkeypatch.setattr("siding.secretmask.places.FOURTH", dict.fromkeys(STARTS, Everything()))
    monkeypatch.setattr("siding.secretmask.urls.none_stands_for_one", lambda _: False)
    monkeypatch.setattr("siding.secretmask.evaluate._BEHIND_NAME", Everything())
    monkeypatch.setattr("siding.secretmask.places._ANNOUNCING", Everything())
    monkeypatch.setattr("siding.secretmask.places._LAST_LETTERS", Everything())
    monkeypatch.setattr("siding.secretmask.urls._URL", _TO_THE_LAST)
    monkeypatch.setattr("siding.secretmask.urls._with_all", lambda _, url: url)
    looks = {**places._BEFORE, 0x3A: (_behind_any_colon, 6)}
    monkeypatch.setattr("siding.secretmask.places._BEFORE", looks)
    monkeypatch.setattr("siding.secretmask.places._WITHOUT_COOKIES", looks)
    monkeypatch.setattr("siding.secretmask.urls.PLAIN_STARTS", Everything())
    assert [text for text, one in zip(texts, masked, strict=True) if PLAIN.mask(text) != one] == []
    assert len(texts) / 10 < sum(b"[redacted:" in each for each in masked) < len(texts) * 9 / 10


@given(st.lists(st.sampled_from([b"a", b"Z", b"-", b" ", b"\\", b"n", b"="]), max_size=8))
def test_a_name_begins_behind_what_is_no_part_of_one(pieces: list[bytes]) -> None:
    """Also at the beginning of the data, whatever its end is."""
    data = b"".join(pieces)
    for at in range(len(data)):
        left = beginning_of_name(data, at)
        # Of a name only the first letters count here, and where it begins.
        before = data[:at]
        expected = len(before.rstrip(b"aZ-n"))
        is_letter = 0 < expected < len(data) and data[expected : expected + 1] == b"n"
        if is_letter and data[expected - 1 : expected] == b"\\":
            expected += 1
        assert left == expected
