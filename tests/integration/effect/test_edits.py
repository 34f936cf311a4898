"""What a tool that edits would change is shown before a person lets it, with its patch."""

import json
from pathlib import Path

import pytest

from .bench import Bench, digests


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_the_patch_of_an_edit_is_shown_and_follows_the_file(bench: Bench) -> None:
    guide = bench.root / "CLAUDE.md"
    guide.write_text("Be kind.\nBe quick.\n")
    given = {"file_path": str(guide), "old_string": "Be kind.", "new_string": "Be rude."}
    before = digests(bench.root)
    with bench.asking_for("Edit", given) as question:
        found = question.known()
        assert (found["state"], found["is_edit"]) == ("computed", True)
        assert found["summary"] == "changes 1 file (+1 -1)"
        assert "-Be kind.\n+Be rude.\n Be quick.\n" in found["text"]
        assert digests(bench.root) == before
        for words in (("decide", "show", question.session), ("inbox",)):
            said = bench.sandbox.siding(*words).stdout.decode()
            assert "~ CLAUDE.md  (+1 -1)" in said, said
            assert "| -Be kind." in said, said
        guide.write_text("Be kind.\nBe slow.\n")
        assert question.effect()["state"] == "stale"
        (again,) = [bench.sandbox.json("decide", "effect", question.session, "--json")]
        assert (again["state"], "\n Be slow.\n" in again["text"]) == ("computed", True)
        guide.write_text("Be kind.\nBe kind.\n")
        again = bench.sandbox.json("decide", "effect", question.session, "--json")
        assert again["state"] == "not known"
        assert again["summary"].endswith("is 2 times in CLAUDE.md, and not once")
        guide.write_text("Be kind.\nBe quick.\n")
        again = bench.sandbox.json("decide", "effect", question.session, "--json")
        assert again["state"] == "computed"
        question.answer("run")
    assert not list(bench.trials.glob("*"))
    kept = bench.sandbox.json("decide", "effect", question.session, "--json")
    assert kept["state"] == "computed"


def test_what_is_outside_or_secret_or_not_said(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "theirs.txt"
    outside.write_text("what nobody may read\n")
    written = {"file_path": str(outside), "content": "token = 'ghp_" + "a1B2" * 9 + "'\n"}
    with bench.asking_for("Write", written) as question:
        found = question.known()
        assert found["summary"] == "changes 1 file (+1 -0); of these 1 outside of the workspace"
        assert "nobody may read" not in json.dumps(found)
        assert "+token = '[redacted" in found["text"]
        kept = (bench.sandbox.project / "decisions" / "effects").iterdir()
        assert all("a1B2a1B2" not in each.read_text() for each in kept)
        question.answer("refuse")
    with bench.asking_for("NotebookEdit", {"notebook_path": str(outside)}) as question:
        found = question.known()
        assert found["state"] == "not known"
        assert found["why"] == "the tool was given nothing that says what it would write"
        question.answer("refuse")
    assert outside.read_text() == "what nobody may read\n"
