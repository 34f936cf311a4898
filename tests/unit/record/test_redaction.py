"""What the settings add to the rules of redaction, what they allow, and what is never kept."""

import pytest

from siding.ground.errors import UsageError
from siding.record.place.redaction import Redaction

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
ACME = {"acme-key": "ACME-[0-9]{4}", "other-key": "OTHER-[0-9]{4}"}


def test_patterns_of_the_settings_are_masked_beside_ours() -> None:
    found = Redaction({}, extra=ACME).text(f"ACME-1234 OTHER-5678 {TOKEN} ACME-12")
    assert found == "[redacted:acme-key] [redacted:other-key] [redacted:github-token] ACME-12"
    assert Redaction({}).text("ACME-1234") == "ACME-1234"


def test_a_redaction_that_knows_more_keeps_the_settings() -> None:
    known = Redaction({}, extra=ACME, allow=("ACME-0000",)).knowing({"DB_PASSWORD": "tr0ub4dor&3x"})
    said = known.text("ACME-1234 ACME-0000 tr0ub4dor&3x")
    assert "ACME-0000" in said
    assert "ACME-1234" not in said
    assert "tr0ub4dor" not in said
    off = Redaction({}, enabled=False)
    assert off.knowing({}) is off
    assert off.knowing({"DB_PASSWORD": "tr0ub4dor&3x"}).text("tr0ub4dor&3x") == "tr0ub4dor&3x"


def test_a_pattern_that_cannot_be_used_is_named_by_its_key() -> None:
    with pytest.raises(UsageError, match=r"^redaction\.extra\.acme-key in the settings cannot"):
        _ = Redaction({}, extra={"fine": "F-[0-9]{4}", "acme-key": "ACME-([0-9]{4}"}).redactor


def test_records_keep_their_keys_and_hashes_and_lose_what_is_secret_anywhere() -> None:
    redaction = Redaction({}, extra=ACME)
    record = {
        "ACME-1234": ["ACME-1234", {"sha256": "ACME-1234"}, 7, None, True],
        "x": ("ACME-1234",),
    }
    assert redaction.record(record) == {
        "ACME-1234": ["[redacted:acme-key]", {"sha256": "ACME-1234"}, 7, None, True],
        "x": ["[redacted:acme-key]"],
    }
    assert Redaction({}, enabled=False, extra=ACME).record(record) is record
    names = ("plain", "ACME-1234.txt")
    assert redaction.names(names) == ("plain", "[redacted:acme-key].txt")
    assert redaction.names(["plain"]) == ("plain",)


def test_variables_named_like_secrets_lose_their_values_whatever_is_switched_off() -> None:
    env = {"API_TOKEN": "short", "PLAIN": "ACME-1234"}
    for enabled, plain in ((True, "[redacted:acme-key]"), (False, "ACME-1234")):
        found = Redaction({}, enabled=enabled, extra=ACME).environment(env)
        assert found["PLAIN"] == plain
        assert found["API_TOKEN"] != "short"
