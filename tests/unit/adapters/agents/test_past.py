"""Where a conversation goes on when its newest turns were taken back, and who says which one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.adapters.agents import claude_past, codex_past
from siding.adapters.agents.past_prompts import first_gone
from siding.adapters.agents.port import NEWEST, CannotShorten, Past

ID = "0f343741-ae22-4493-b1bd-08f9aa0f342b"


@given(st.lists(st.booleans()))
def test_all_that_is_left_out_was_taken_back_and_no_more_could_be(gone: list[bool]) -> None:
    at = first_gone(gone)
    if at is None:
        assert not gone or not gone[-1]
        return
    assert all(gone[at:])
    assert at == 0 or not gone[at - 1]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--resume", ID, "-p", "x"], ID),
        (["-p", "x", "-r", ID], ID),
        ([f"--resume={ID}"], ID),
        (["--continue"], NEWEST),
        (["-c", "-p", "x"], NEWEST),
        (["-p", "x"], None),
        (["--resume"], None),  # it shows a list
        (["--resume", "some words"], None),  # it searches
        (["--resume", "/a/file.jsonl"], None),
        (["--resume", ID, "--resume-session-at", "m1"], None),
        (["-p", "--", "--resume", ID], None),
    ],
)
def test_what_claude_code_goes_on_with(words: list[str], named: str | None) -> None:
    assert claude_past.continues(("claude", *words)) == named


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["resume", ID], ID),
        (["exec", "-m", "x", "resume", ID, "go on"], ID),
        (["exec", "resume", "--last", "go on"], NEWEST),
        (["resume"], None),  # it shows a list
        (["exec", "resume the work"], None),
        (["exec", "fork", ID], None),
        ([], None),
    ],
)
def test_what_codex_goes_on_with(words: list[str], named: str | None) -> None:
    assert codex_past.continues(("codex", *words)) == named


@pytest.mark.parametrize("word", ["-p", "--profile", "--oss"])
def test_codex_makes_no_copy_for_settings_that_its_server_does_not_take(
    word: str, tmp_path: Path
) -> None:
    past = Past(ID, tmp_path / "t", (), tmp_path / "copy", {}, tmp_path)
    with pytest.raises(CannotShorten, match=word):
        codex_past.without(("codex", word, "x", "resume", ID), past)
