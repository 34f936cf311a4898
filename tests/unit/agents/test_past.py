"""Where a conversation goes on when its newest turns were taken back, and who says which one."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.claude import past as claude_past
from siding.agents.claude.resuming import continues
from siding.agents.codex import past as codex_past
from siding.agents.hooks import NEWEST, CannotShorten, Past, PastTurn, Shortened, first_gone
from siding.ground.errors import NotARegularFile

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
    assert continues(("claude", *words)) == named


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
    with pytest.raises(CannotShorten, match=word):
        codex_past.without(("codex", word, "x", "resume", ID), past_in(tmp_path))


def past_in(home: Path, *, transcript: str = ".claude/projects/p/s.jsonl") -> Past:
    path = home / transcript
    path.parent.mkdir(parents=True, exist_ok=True)
    line = {"type": "user", "uuid": "m1", "promptId": "p1", "message": {"content": "Do it"}}
    path.write_text(json.dumps({"parentUuid": None, **line}, separators=(",", ":")) + "\n")
    turn = PastTurn("p1", "Do it", path, stands=False)
    return Past(ID, path, (turn,), home / "copy", {"HOME": str(home)}, home, is_sandboxed=False)


def test_codex_starts_nothing_outside_of_a_sandbox_that_it_will_be_in(tmp_path: Path) -> None:
    past = past_in(tmp_path)._replace(is_sandboxed=True)
    with pytest.raises(CannotShorten, match="outside of the sandbox"):
        codex_past.without(("codex", "resume", ID), past)


@pytest.mark.parametrize(
    "named", ["elsewhere/s.jsonl", ".claude/s.jsonl", ".claude/projects/../x/s.jsonl"]
)
def test_a_file_that_is_none_of_the_agents_is_not_read(tmp_path: Path, named: str) -> None:
    """A run says where its transcript is, and may say anything."""
    with pytest.raises(CannotShorten, match="not among those"):
        claude_past.without(("claude", "--resume", ID), past_in(tmp_path, transcript=named))


def test_what_only_looks_like_a_transcript_is_not_read(tmp_path: Path) -> None:
    past = past_in(tmp_path)
    assert claude_past.without(("claude", "--resume", ID), past) == Shortened(("claude",), "p1")
    other = past.transcript.rename(tmp_path / "of somebody else")
    past.transcript.symlink_to(other)
    with pytest.raises(NotARegularFile):
        claude_past.without(("claude", "--resume", ID), past)
    past.transcript.unlink()
    os.mkfifo(past.transcript)  # to open it would wait for a writer
    with pytest.raises(NotARegularFile):
        claude_past.without(("claude", "--resume", ID), past)


def test_a_directory_that_leads_elsewhere_is_none_of_the_agents(tmp_path: Path) -> None:
    past = past_in(tmp_path)
    past.transcript.parent.rename(tmp_path / "moved")
    past.transcript.parent.symlink_to(tmp_path / "moved")
    with pytest.raises(CannotShorten, match="not among those"):
        claude_past.without(("claude", "--resume", ID), past)


def test_prompts_that_were_typed_while_it_worked_go_with_their_turn(tmp_path: Path) -> None:
    """Claude Code writes each with an id of its own; a turn has been reported under one of them."""
    past = past_in(tmp_path)
    lines = [
        {"type": "user", "uuid": "m1", "promptId": "p1", "message": {"content": "Do it"}},
        {"type": "user", "uuid": "m2", "promptId": "x2", "message": {"content": "And this"}},
        {"type": "user", "uuid": "m3", "promptId": "p3", "message": {"content": "And that"}},
        {"type": "user", "uuid": "m4", "promptId": "x4", "message": {"content": "Faster"}},
    ]
    parents = [None, *(line["uuid"] for line in lines)]
    written = [{"parentUuid": up, **line} for up, line in zip(parents, lines, strict=False)]
    past.transcript.write_text(
        "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in written)
    )
    first = PastTurn("p1", "Do it", past.transcript, stands=True)
    second = PastTurn("p3", "And this", past.transcript, stands=False, later=("And that", "Faster"))
    found = claude_past.without(("claude", "--resume", ID), past._replace(turns=(first, second)))
    assert found is not None
    assert found.first == "p3"
    kept = past.copy.read_text()
    assert "Do it" in kept
    assert not any(word in kept for word in ("And this", "And that", "Faster"))
