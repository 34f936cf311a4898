"""Secrets go, everything around them and everything else stays."""

import json

import pytest

from siding.redaction.redactor import Redactor
from unit.redaction.cases import BENIGN, SECRETS

PLAIN = Redactor()


@pytest.mark.parametrize(("before", "secret", "behind"), SECRETS, ids=[a for a, _, _ in SECRETS])
def test_a_secret_goes_and_what_is_around_it_stays(before: str, secret: str, behind: str) -> None:
    masked = PLAIN.mask_text(before + secret + behind)
    assert masked.startswith(before)
    assert masked.endswith(behind)
    assert "[redacted:" in masked
    assert not [at for at in range(len(secret) - 7) if secret[at : at + 8] in masked]


@pytest.mark.parametrize(("before", "secret", "behind"), SECRETS, ids=[a for a, _, _ in SECRETS])
def test_where_it_stands_in_json(before: str, secret: str, behind: str) -> None:
    line = json.dumps({"type": "text", "text": f"first\n{before}{secret}{behind}\nlast", "n": 1})
    masked = json.loads(PLAIN.mask_text(line))
    assert masked["n"] == 1
    assert masked["text"].startswith("first\n")
    assert secret not in masked["text"]


@pytest.mark.parametrize("text", BENIGN)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert PLAIN.mask_text(text) == text
    assert PLAIN.mask_text(f"a line\n{text}\nanother") == f"a line\n{text}\nanother"


def test_a_number_in_json_stays_json() -> None:
    masked = PLAIN.mask_text('{"password": 12345678, "port": 5432}')
    assert json.loads(masked) == {"password": "[redacted:password]", "port": 5432}
    inner = PLAIN.mask_text(json.dumps({"text": '{"password": 12345678}'}))
    assert json.loads(json.loads(inner)["text"]) == {"password": "[redacted:password]"}
