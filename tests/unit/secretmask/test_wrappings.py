"""Secrets that something interrupts or spells differently, and the everyday output like it."""

import base64
import random

import pytest

from siding.secretmask.face import Redactor, known_values
from siding.secretmask.span import RIGHT
from unit.secretmask.cases import any_of

PLAIN = Redactor()
TOKEN = "ghp_" + "aB3xY9" * 6
NAMED = "Xk29fLq8Wm3Zt7Rb"


def pieces(data: bytes, redactor: Redactor = PLAIN) -> bytes:
    """Return what a stream makes of the bytes one by one; it must be what the whole gives."""
    stream = redactor.stream()
    out = b"".join(stream.feed(data[at : at + 1]) for at in range(len(data))) + stream.close()
    assert out == redactor.mask(data)
    return out


COLOURED = [
    "\x1b[01;31m\x1b[Kghp_\x1b[m\x1b[K" + TOKEN[4:],
    TOKEN[:9] + "\x1b[01;31m\x1b[K" + TOKEN[9:14] + "\x1b[m\x1b[K" + TOKEN[14:],
    TOKEN[:20] + "\x1b[0m" + TOKEN[20:],
]
INVISIBLE = [TOKEN[:7] + each + TOKEN[7:] for each in "\u200b\u200c\u200d\u2060\ufeff\xad"]
ESCAPED = [
    "".join(f"\\u{ord(each):04x}" for each in TOKEN),
    "".join(f"\\u00{ord(each):02X}" if at % 3 else each for at, each in enumerate(TOKEN)),
    "".join(f"\\x{ord(each):02x}" for each in TOKEN),
    "".join(f"%{ord(each):02X}" for each in TOKEN),
]


@pytest.mark.parametrize("secret", [*COLOURED, *INVISIBLE, *ESCAPED])
@pytest.mark.parametrize("before", ["found ", "token=", '{"t": "', "a: b\n"])
def test_within_a_word(secret: str, before: str) -> None:
    text = f"{before}{secret} and on\n".encode()
    out = pieces(text)
    assert out.startswith(before.encode())
    assert out.endswith(b" and on\n")
    assert b"[redacted:" in out
    assert not [at for at in range(0, 36, 4) if TOKEN[at : at + 4].encode() in out], out


def test_a_value_that_is_coloured_in_the_middle() -> None:
    text = f"DB_PASSWORD={NAMED[:7]}\x1b[31m{NAMED[7:]}\x1b[0m\n".encode()
    assert NAMED[7:].encode() not in pieces(text)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("secret", [TOKEN, "sk-ant-api03-" + "xY7_" * 60, f"token={NAMED}"])
@pytest.mark.parametrize("indent", ["", "  ", " " * 16])
def test_a_line_that_was_wrapped(secret: str, end: str, indent: str) -> None:
    width = 80
    for kept in (9, 12, len(secret) - 4):
        text = ("word " * 40)[: width - kept - 1] + " " + secret + " and on"
        room = width - len(indent)
        rest = [indent + text[at : at + room] for at in range(width, len(text), room)]
        out = pieces(end.join(["first", text[:width], *rest, "last", ""]).encode())
        whole = out.replace((end + indent).encode(), b"")
        assert b"[redacted:" in out, (kept, out)
        assert secret[-8:].encode() not in whole, (kept, out)
        assert secret[6:14].encode() not in whole, (kept, out)
        assert out.endswith(f" and on{end}last{end}".encode()), (kept, out)


def test_many_lines_as_wide_as_a_terminal_are_shown_but_for_their_end() -> None:
    text = (any_of(80) + "\n").encode() * 3000
    stream = PLAIN.stream()
    out = stream.feed(text)
    assert 0 < stream.held <= RIGHT
    assert out + stream.close() == text


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-16"])
@pytest.mark.parametrize("text", [f"token {TOKEN} end\r\n", f'"password": "{NAMED}" end\r\n'])
def test_utf_16(codec: str, text: str) -> None:
    out = pieces(("a first line\r\n" + text).encode(codec))
    shown = out.decode(codec)
    assert shown.startswith("a first line\r\n")
    assert shown.endswith(" end\r\n")
    assert "[redacted:" in shown
    assert TOKEN not in shown
    assert NAMED not in shown


def test_base64_of_a_text_with_a_secret() -> None:
    for text in (f"token={TOKEN}", f'{{"api_key": "{NAMED}"}}', f"DB_PASSWORD={NAMED}\nA=1\n"):
        encoded = base64.b64encode(text.encode())
        out = pieces(b"x: " + encoded + b" end\n")
        assert out.startswith(b"x: [redacted:")
        assert out.endswith(b"] end\n")
        assert encoded[8:16] not in out
    plain = base64.b64encode(b"a text without any, but with a token in its words")
    assert pieces(b"x: " + plain + b" end\n") == b"x: " + plain + b" end\n"


def test_a_known_value_in_other_spellings() -> None:
    value = "plain-but-Secret.77"
    rules = Redactor(known=known_values({"OUR_SECRET": value}))
    for spelled in (
        value.encode().hex().encode(),
        base64.b64encode(f"user:{value}".encode()),
        value[:9].encode() + b"\x1b[31m" + value[9:].encode(),
        value.encode("utf-16-le"),
    ):
        out = pieces(b"is " + spelled + b" end\n", rules)
        assert b"[\x00r\x00e\x00d" in out or b"[redacted:" in out, spelled
        assert spelled not in out


def test_variables_by_the_last_word_of_their_names() -> None:
    env = {
        "GH_PAT": any_of(40),
        "ENCRYPTION_SALT": any_of(24),
        "APP_SESSION": any_of(32),
        "AUTH_COOKIE": "sid=" + any_of(32),
        "LDAP_PW": "Trom-bone7!",
        "DATABASE_URL": "postgres://app:Kv83-x.secret@db/prod",
        "DESKTOP_SESSION": "gnome-classic-wayland",
        "PATH": "/usr/bin:/home/ada/bin",
    }
    known = {each.value.decode() for each in known_values(env)}
    secret = {*(env[name] for name in list(env)[:5]), "Kv83-x.secret"}
    assert secret <= known
    assert not [each for each in known if each in env["DESKTOP_SESSION"] + env["PATH"]]


def test_everyday_output_is_left_alone() -> None:
    """Colours, escapes, wrapped lines, UTF-16 and Base64 without a secret in them."""
    chance = random.Random(7)
    word = "".join(chance.choice("abcdefgh0123") for _ in range(200))
    for data in (
        b"\x1b[36mtoken\x1b[0m=\x1b[35mnull\x1b[0m and key\x1b[1mboard\x1b[0m\n",
        "".join(f"{word[:80]}\n" for _ in range(9)).encode(),
        "".join(f"    {word[:76]}\n" for _ in range(9)).encode(),
        f"src/{word[:70]}: {word[:4]}\nnext line\n".encode(),
        "Grüße, M\\u00fcller \\u003cb\\u003e caf\u200be\u0301 token\u200b count\n".encode(),
        ("no secret here\r\n" * 9).encode("utf-16"),
        base64.b64encode(word.encode()) + b"\n",
        b"a%20b%2Fc%3Dd %41%42 \\x41\\x42\n",
    ):
        assert pieces(data) == data
