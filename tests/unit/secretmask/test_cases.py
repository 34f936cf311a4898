"""Secrets go, everything around them and everything else stays."""

import json

import pytest

import counted
from siding.secretmask.face import Redactor
from unit.secretmask import apart_cases, family_cases
from unit.secretmask.cases import BENIGN, SECRETS

PLAIN = Redactor()


def test_a_secret_goes_and_what_is_around_it_stays() -> None:
    counted.add(len(SECRETS))
    for before, secret, behind in SECRETS:
        masked = PLAIN.mask_text(before + secret + behind)
        assert masked.startswith(before), before
        assert masked.endswith(behind), before
        assert "[redacted:" in masked, before
        assert not [at for at in range(len(secret) - 7) if secret[at : at + 8] in masked], before


def test_where_it_stands_in_json() -> None:
    counted.add(len(SECRETS))
    for before, secret, behind in SECRETS:
        text = f"first\n{before}{secret}{behind}\nlast"
        line = json.dumps({"type": "text", "text": text, "n": 1})
        masked = json.loads(PLAIN.mask_text(line))
        assert masked["n"] == 1, before
        assert masked["text"].startswith("first\n"), before
        assert secret not in masked["text"], before


def test_what_only_looks_like_one_stays() -> None:
    counted.add(len(BENIGN))
    for text in BENIGN:
        assert PLAIN.mask_text(text) == text
        assert PLAIN.mask_text(f"a line\n{text}\nanother") == f"a line\n{text}\nanother"


def test_a_number_in_json_stays_json() -> None:
    masked = PLAIN.mask_text('{"password": 12345678, "port": 5432}')
    assert json.loads(masked) == {"password": "[redacted:password]", "port": 5432}
    inner = PLAIN.mask_text(json.dumps({"text": '{"password": 12345678}'}))
    assert json.loads(json.loads(inner)["text"]) == {"password": "[redacted:password]"}


def test_names_that_stand_apart_and_words_that_are_no_names() -> None:
    """Also where the bytes come in pieces, wherever these are cut."""
    counted.add(len(apart_cases.SECRETS) + len(apart_cases.BENIGN))
    for before, secret, behind in apart_cases.SECRETS:
        data = (before + secret + behind).encode()
        masked = PLAIN.mask(data)
        assert masked.startswith(before.encode()), before
        assert masked.endswith(behind.encode()), before
        assert secret.encode() not in masked, before
        for size in (1, 7, len(before) + 2):
            stream = PLAIN.stream()
            pieces = [stream.feed(data[at : at + size]) for at in range(0, len(data), size)]
            assert b"".join(pieces) + stream.close() == masked, (before, size)
    for text in apart_cases.BENIGN:
        assert PLAIN.mask_text(text) == text
        assert PLAIN.mask_text(f"a line\n{text}\nanother") == f"a line\n{text}\nanother"


def test_families_of_secrets_and_of_what_looks_like_them() -> None:
    counted.add(len(family_cases.SECRETS) + len(family_cases.BENIGN))
    for before, secret, behind in family_cases.SECRETS:
        masked = PLAIN.mask_text(before + secret + behind)
        assert masked.startswith(before), before
        assert masked.endswith(behind), before
        assert not [at for at in range(len(secret) - 7) if secret[at : at + 8] in masked], before
        assert PLAIN.mask_text(masked) == masked
    for text in family_cases.BENIGN:
        assert PLAIN.mask_text(text) == text
        assert PLAIN.mask_text(f"a line\n{text}\nanother") == f"a line\n{text}\nanother"


@pytest.mark.parametrize(
    ("words", "hidden"),
    [
        (["poetry", "config", "http-basic.ours", "me", "hunter22xx"], 4),
        (["rclone", "config", "create", "r", "http", "user", "me", "pass", "hunter22xx"], 8),
        (["sudo", "/usr/bin/rclone", "obscure", "hunter22xx"], 3),
        (["rclone", "copy", "--sftp-pass", "hunter22xx", "a", "r:b"], 3),
        (["poetry", "config", "http-basic.ours", "me", "$PASSWORD"], None),
        (["poetry", "config", "--unset", "http-basic.ours"], None),
        (["rclone", "config", "password", "ours-22xx", "--all"], None),
        (["make", "pass", "hunter22xx"], None),
    ],
)
def test_a_word_of_a_command_goes_and_the_others_stay(words: list[str], hidden: int | None) -> None:
    left = [each for at, each in enumerate(words) if at != hidden]
    masked = PLAIN.mask_words(words)
    assert [each for at, each in enumerate(masked) if at != hidden] == left
    assert hidden is None or masked[hidden] == "[redacted:password]"
