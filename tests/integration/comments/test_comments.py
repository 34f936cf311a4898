"""Comments on a change: written, found again in the present text, sent, done, and opened again."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from integration.comments.agents import two_agents, until_reads
from integration.undo.desk import Desk
from prepared import prepared

LINES = [f"line {number}" for number in range(1, 31)]


@pytest.fixture
def desk() -> Desk:
    desk = Desk.at(prepared(Desk))
    desk.write("a.txt", "\n".join(LINES) + "\n")
    return desk


def said(desk: Desk, *words: str, status: int = 0, stdin: bytes | None = None) -> tuple[str, str]:
    """Return what `siding comments` printed, and what it said about it."""
    done = desk.sandbox.siding("comments", *words, status=status, stdin=stdin)
    return done.stdout.decode(), done.stderr.decode()


def listed(desk: Desk, *words: str) -> dict[str, dict[str, Any]]:
    found = json.loads(said(desk, "list", "--json", *words)[0])
    return {each["id"]: each for each in found}


def test_lines_are_found_again_or_the_comment_is_stale(desk: Desk) -> None:
    said(desk, "add", "a.txt:10-12", "say it in one line")
    said(desk, "add", "a.txt:20", "-", stdin=b"why?\n")
    desk.write("a.txt", "\n".join(["new", *LINES[:19], "changed", *LINES[20:]]) + "\n")
    found = listed(desk)
    assert (found["c1"]["first"], found["c1"]["last"], found["c1"]["state"]) == (11, 13, "draft")
    assert (found["c2"]["first"], found["c2"]["state"], found["c2"]["said"]) == (
        20,
        "stale",
        "why?",
    )
    printed = said(desk)[0]
    assert ">>> 11  line 10\n>>> 12  line 11\n>>> 13  line 12\n    14  line 13\n" in printed
    assert "[c2] a.txt:20 (these lines were changed since) · stale\n>>> line 20\n" in printed
    desk.write("a.txt", "\n".join(LINES) + "\n")  # as it was: certain again
    assert listed(desk)["c2"]["state"] == "draft"
    (desk.root / "a.txt").unlink()
    assert {each["state"] for each in listed(desk).values()} == {"stale"}


def test_a_line_of_before_the_change(desk: Desk) -> None:
    tracked = desk.sandbox.git("ls-files").split("\n")[0]
    desk.write(tracked, "all is new\n")
    said(desk, "add", "--old", f"{tracked}:1", "why did this go?")
    found = listed(desk)["c1"]
    assert found["side"] == "old"
    assert found["snippet"] == desk.sandbox.git("show", f"main:{tracked}").split("\n")[0]
    assert found["state"] == "draft"


def test_what_is_sent_is_the_prompt_of_the_agent_that_runs(desk: Desk, tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\nexec cat >got\n")
    program.chmod(0o755)
    desk.sandbox.siding("guard", "off")
    desk.sandbox.siding("run", "--detach", "--tty", "--name", "talk", "--", str(program))
    said(desk, "add", "a.txt:10", "one")
    said(desk, "add", "a.txt:12", "two")
    desk.write("a.txt", "new\n" + "\n".join(LINES) + "\n")
    assert "1 comment sent to talk" in said(desk, "send", "c1")[1]
    assert (listed(desk)["c1"]["state"], listed(desk)["c2"]["state"]) == ("sent", "draft")
    assert listed(desk)["c1"]["first"] == listed(desk)["c1"]["last"] == 11
    end = time.monotonic() + 60
    while b"Requested change: one" not in desk.read("got"):
        assert time.monotonic() < end
        time.sleep(0.02)
    assert b">>> 11  line 10" in desk.read("got")
    record = json.loads(said(desk, "send", "--json", "--to", "talk")[0])
    assert [each["id"] for each in record["comments"]] == ["c2"]
    assert "no comment that was not sent" in said(desk, "send", status=1)[1]
    desk.sandbox.siding("stop", "talk")
    prompt, note = said(desk, "send", "c1", "c2", "c1")
    assert prompt.startswith("Review of your change: 2 comments.")
    assert prompt.count(">>> ") == 2
    assert "no agent runs here that could be given it" in note


def test_of_several_agents_one_has_to_be_named(desk: Desk, tmp_path: Path) -> None:
    with two_agents(desk, tmp_path):
        said(desk, "add", "a.txt:10", "one")
        told = said(desk, "send", status=2)[1]
        assert "several agents of task 'work' can be given them: first (claude)" in told
        assert "second (codex)" in told
        assert "siding comments send --to first" in told
        assert listed(desk)["c1"]["state"] == "draft"
        assert "1 comment sent to second" in said(desk, "send", "--to", "second")[1]
        until_reads(desk, "second", b"Requested change: one")
        assert desk.read("first") == b""


def test_done_twice_and_opened_again(desk: Desk) -> None:
    said(desk, "add", "a.txt:10", "one")
    said(desk, "add", "a.txt:11", "two")
    said(desk, "send", "c1")
    for _twice in range(2):
        said(desk, "resolve", "c1", "c2")
        assert listed(desk) == {}
    assert {each["state"] for each in listed(desk, "--all").values()} == {"addressed"}
    said(desk, "resolve", "--open", "c1", "c2")
    assert {key: each["state"] for key, each in listed(desk).items()} == {
        "c1": "sent",
        "c2": "draft",
    }
    said(desk, "add", "a.txt:12", "three")
    assert [*listed(desk)] == ["c1", "c2", "c3"]


def test_what_makes_no_sense_is_refused_and_nothing_is_kept(desk: Desk) -> None:
    desk.write("bytes", b"\0\1\2")
    (desk.root / "link").symlink_to("/etc/passwd")
    for words, told in (
        (("a.txt:99", "x"), "has 30 lines"),
        (("a.txt:0", "x"), "count from 1"),
        (("a.txt:3-2", "x"), "there are no lines"),
        (("a.txt", "x"), "names no lines"),
        (("a.txt:x", "x"), "names no lines"),
        (("nope:1", "x"), "there is no file"),
        (("link:1", "x"), "there is no file"),
        (("bytes:1", "x"), "is no text"),
        (("../../x:1", "x"), "in neither the workspace"),
        (("a.txt:1", " "), "says something"),
    ):
        done = desk.sandbox.siding("comments", "add", *words, status=None)
        assert done.returncode in (1, 2)
        assert told in done.stderr.decode()
    assert "no comment 'c7'" in said(desk, "resolve", "c7", status=1)[1]
    assert listed(desk, "--all") == {}
    assert "no comment is open" in said(desk)[1]


def test_a_text_that_is_lost_makes_it_stale_and_no_text_is_kept_in_vain(desk: Desk) -> None:
    said(desk, "add", "a.txt:10", "one")
    place = desk.project.task_layout(desk.task.id).comments_dir
    (first,) = (path for path in place.iterdir() if len(path.name) == 64)
    desk.write("a.txt", "new\n" + "\n".join(LINES) + "\n")
    said(desk, "send")  # it is found, and the present text is kept in the place of the first
    (second,) = (path for path in place.iterdir() if len(path.name) == 64)
    assert first != second
    second.unlink()
    assert listed(desk)["c1"]["state"] == "stale"
    desk.write("a.txt", "x\n" * (3 << 20))  # it has grown too long to be looked through
    assert listed(desk)["c1"]["state"] == "stale"
    document = place / "comments.json"
    newer = document.read_text().replace('"sent"', '"postponed"')
    document.write_text(newer)
    done = desk.sandbox.siding("comments", "list", status=1)
    assert b"postponed" in done.stderr
    assert b"bug" not in done.stderr
    document.write_text("{")
    done = desk.sandbox.siding("comments", "add", "a.txt:1", "x", status=None)
    assert done.returncode != 0
    assert document.read_text() == "{"


def test_a_secret_is_masked(desk: Desk) -> None:
    said(desk, "add", "a.txt:1", "use ghp_" + "a1B2" * 9)
    place = desk.project.task_layout(desk.task.id).comments_dir / "comments.json"
    assert "a1B2a1B2" not in place.read_text()
