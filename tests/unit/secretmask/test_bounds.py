"""What is held back is little, what waits is what must, and no input is too much."""

from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers, lists, sampled_from

from siding.secretmask.face import Redactor, known_values
from siding.secretmask.pairs import pair_at
from siding.secretmask.span import LEFT, RIGHT

PLAIN = Redactor()
TOKEN = b"ghp_" + b"aB3xY9" * 6
KEY = b"-----BEGIN PRIVATE KEY-----\n" + (b"MIIEvQIBADANBgkq" * 4 + b"\n") * 5


@pytest.mark.parametrize(
    ("come", "out"),
    [
        (b"Continue? [y/N] ", b"Continue? [y/N] "),
        (b"Password: ", b"Password: "),
        (b"log in\nEnter the API token: ", b"log in\nEnter the API token: "),
        (b"half a " + TOKEN[:12], b"half a "),
        (b"token=" + TOKEN[:12], b""),
        (b'now "password": "correct horse', b'now "password": "'),
        (b"a\n-----BEGIN RSA", b"a\n"),
        (b"a\n-----BEGIN PRIVATE KEY-----\n", b"a\n"),
        (b"a\n" + KEY, b"a\n[redacted:private-key]"),
        (b"whole lines\n", b"whole lines\n"),
    ],
)
def test_what_goes_out_at_once(come: bytes, out: bytes) -> None:
    assert PLAIN.stream().feed(come) == out


def test_a_known_value_with_blanks_is_held_back_from_its_first_byte_on() -> None:
    """Otherwise its first words would be out before the last one shows what they are."""
    rules = Redactor(known=known_values({"MY_SECRET": "correct horse battery"}))
    stream = rules.stream()
    assert stream.feed(b"say correct horse ") == b"say "
    assert stream.feed(b"battery now\n") == b"[redacted:env:MY_SECRET] now\n"
    assert stream.feed(b"say correct horse ") == b"say "
    assert stream.feed(b"sense\n") == b"correct horse sense\n"


@pytest.mark.parametrize(
    "endless",
    [
        b"x",
        b"aB3_",
        b"token=",
        b'"password": "a b',
        b"eyJ",
        TOKEN,
        b"a b ",
        b"\\n",
        b"$6$",
        b"://a:",
    ],
)
def test_no_more_than_a_bound_is_held_back(endless: bytes) -> None:
    stream = PLAIN.stream()
    piece = endless * (1000 // len(endless))
    most = 0
    for _ in range(60):
        stream.feed(piece)
        most = max(most, stream.held)
    assert most <= 5 * RIGHT + LEFT


def test_a_secret_longer_than_what_is_held_back_is_masked_to_its_end() -> None:
    stream = PLAIN.stream()
    out = stream.feed(b"a token=" + TOKEN)
    for _ in range(40):
        out += stream.feed(b"Ab9" * 333)
    out += stream.feed(b" b\n") + stream.close()
    assert out == b"a token=[redacted:github-token] b\n"


def test_a_key_that_goes_on_for_ever_is_not_held() -> None:
    stream = PLAIN.stream()
    out = stream.feed(b"x\n" + KEY)
    for _ in range(200):
        out += stream.feed(b"MIIEvQIBADANBgkq" * 4 + b"\n")
        assert stream.held < 200
    assert out + stream.feed(b"and then\n") == b"x\n[redacted:private-key]\nand then\n"


AGAINST_US = [
    b"a",
    b"-----BEGIN ",
    b"-----BEGIN PRIVATE KEY-----",
    b"-----BEGIN PRIVATE KEY-----\n",
    b"x:",
    b"://",
    b"@",
    b"://a:b@",
    b"$6$",
    b"$2b$10$",
    b"password=",
    b'password="',
    b"password\t",
    b'key\\"',
    b"eyJ-",
    b"sk-ant-",
    b"SG.",
    b"cookie: a=",
    b"curl -u ",
    b"aaaaaaaaaaaaaaaaaaaa.",
    b"eyJaaaaaaaaaaaaaaaaaaaaa.",
    b"eyJ",
    b"https://hooks.slack.com/services/",
    b"PuTTY-User-Key-File-3: ",
    b"a-_",
    b"\\",
    b"Authorization: ",
    b" ",
    b"Bearer ",
    b"\x1b[0m",
    b"token\x1b[0m",
    b'"',
    b"'\\",
    b"A\n",
    b"=",
    b": ",
    b"\xff",
    b"\x00",
    b"1//0",
    b"sk-",
    b"xoxb-1-",
    b'"name":"TOKEN","value":"',
    b"machine a.b login c password ",
    b"token=x",
    b"api_key: ",
    b"curl -u a:",
    b"mysql -p ",
    b"htpasswd -b ",
    b"a\x1b[0m",
    b"\\u0061",
    b"%41",
    b"g\x00",
    b"mnemonic: legal ",
    b"Recovery codes: 1a2b3c4d ",
    b"x" * 80 + b"\n",
    b"dG9rZW49Z2hwX2FC",
    b"https://a.co/aaaaaaaaaaaaaaaaaaaaa/",
]


@pytest.mark.parametrize("unit", AGAINST_US, ids=[repr(unit) for unit in AGAINST_US])
def test_what_is_made_to_be_slow(unit: bytes) -> None:
    """Time is linear in all of them: one that is not would outlast the test's time."""
    text = unit * (300_000 // len(unit)) + b"@\n"
    stream = PLAIN.stream()
    out = b"".join(stream.feed(text[at : at + 997]) for at in range(0, len(text), 997))
    assert out + stream.close() == PLAIN.mask(text)


PARTS = [
    *(
        b"password",
        b"token",
        b"secret_",
        b"api_key",
        b"Authorization",
        b"=",
        b": ",
        b'"',
        b"'",
        b" ",
    ),
    *(b"\n", b"\\n", b'\\"', b"hunter22", b"aB3xY9aB3xY9", b"abc", b"Bearer ", b"none", b"${X}"),
    *(
        b"PuTTY-User-Key-File-3: x\n",
        b"\nPrivate-Lines: 2\nAAAA\nBBBB\n",
        b"<",
        b">",
        b"--",
        b"\x1b[0m",
    ),
]


@pytest.mark.parametrize("unit", [b"token=x", b'password="', b"token: ", b"api_key: abc "])
def test_how_often_the_rules_look_closely(unit: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words inside a secret are passed over, and so is what only repeats, in each block anew."""
    looked = Mock(wraps=pair_at)
    monkeypatch.setattr("siding.secretmask.evaluate.pair_at", looked)
    units = 200_000 // len(unit)
    PLAIN.mask(unit * units)
    assert 0 < looked.call_count < units / 15


@settings(max_examples=60)
@given(
    unit=lists(sampled_from(PARTS), min_size=1, max_size=6).map(b"".join),
    times=integers(1, 300),
    end=lists(sampled_from(PARTS), max_size=3).map(b"".join),
)
def test_what_repeats_is_judged_as_if_each_was_looked_at(
    unit: bytes, times: int, end: bytes
) -> None:
    text = unit * times + end
    masked = PLAIN.mask(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("siding.secretmask.evaluate._OFTEN", len(text))
        assert PLAIN.mask(text) == masked


def test_a_key_file_far_behind_words_that_repeat() -> None:
    unit = b"PuTTY-User-Key-File-3: ssh-rsa\n" + b"Comment: " + b"a b " * 200 + b"\n"
    lines = b"Private-Lines: 2\nAAAAB3NzaC1yc2E\nAAAAB3NzaC1yc2F\n"
    text = unit * 40 + lines
    stream = PLAIN.stream()
    masked = b"".join(stream.feed(text[at : at + 4096]) for at in range(0, len(text), 4096))
    masked += stream.close()
    assert masked == PLAIN.mask(text) == unit * 40 + lines[:17] + b"[redacted:private-key]\n"


def test_values_of_the_environment() -> None:
    env = {
        "A_TOKEN": "plain words here1",
        "B_SECRET": 'q"u\\o!te7',
        "C_PASSWORD": "postgres",
        "D_KEY": "/etc/ssl/key.pem",
        "E_PASSWORD": "short7",
        "SSH_AUTH_SOCK": "/tmp/x/agent.12",
        "F_TOKEN": "${OTHER_TOKEN}",
        "G_CREDENTIALS": "line-one-12345\nline-two-67890",
        "PWD": "/a/b1",
        "MAX_TOKENS": "123456789012",
        "H_SECRET": "a/b+c=d1234567",
    }
    told = {each.value: each.kind for each in known_values(env)}
    assert set(told.values()) == {
        b"env:A_TOKEN",
        b"env:B_SECRET",
        b"env:G_CREDENTIALS",
        b"env:H_SECRET",
    }
    rules = Redactor(known=known_values(env))
    masked = rules.mask(
        b'plain words here1 {"x": "q\\"u\\\\o!te7"} a%2Fb%2Bc%3Dd1234567 line-two-67890'
    )
    assert masked == (
        b'[redacted:env:A_TOKEN] {"x": "[redacted:env:B_SECRET]"} [redacted:env:H_SECRET] '
        b"[redacted:env:G_CREDENTIALS]"
    )
