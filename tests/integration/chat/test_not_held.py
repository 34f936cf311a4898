"""A host that cannot start, or dies: the story says why, and nothing is left behind."""

import json
import sys
from pathlib import Path

import pytest

from integration.chat.talks import Conversation
from sandbox import alive

PROGRAMS = {
    "exits": ("#!/bin/sh\necho the key is missing >&2\nexit 3\n", "(exit status 3); it said: the"),
    "prints garbage": ("#!/bin/sh\necho Usage: claude FILE\nexit 0\n", "said: Usage: claude FILE"),
    "is killed": ("#!/bin/sh\nkill -9 $$\n", "by a signal: Killed (9) before it was ready"),
    "is no program": ("", "Permission denied"),
}

# Speaks ACP, and refuses each conversation; it stays.
WITHOUT_LOGIN = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    told = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        told["result"] = {"protocolVersion": 1}
    else:
        told["error"] = {"code": -32000, "message": "Authentication required: log in first"}
    print(json.dumps(told), flush=True)
"""


def directory(talk: Conversation) -> Path:
    (found,) = talk.sandbox.project.glob("tasks/*/chats/c1")
    return found


def assert_nobody_is_there(talk: Conversation) -> None:
    assert not (directory(talk) / "sock").exists()
    assert talk.row["state"] == "ended"
    runs = talk.sandbox.json("runs", "--format", "json")
    assert not [each for each in runs if each.get("pid") and alive(each["pid"])]


@pytest.mark.parametrize("kind", PROGRAMS)
def test_an_agent_that_does_not_start(talk: Conversation, kind: str) -> None:
    text, reason = PROGRAMS[kind]
    program = talk.sandbox.directory / "bin" / "claude"
    good = program.read_text()
    program.write_text(text)
    program.chmod(0o755 if text else 0o644)
    refused = talk.sandbox.siding("chat", "claude", "say one", "--new", "talk", status=1)
    assert reason in refused.stderr.decode()
    assert reason in talk.events("ended")[-1]["reason"]
    assert reason in talk.row["trouble"]
    assert_nobody_is_there(talk)

    program.write_text(good)
    program.chmod(0o755)
    talk.says("send", "say two")
    talk.turns(2)
    assert talk.text() == "one\ntwo\n"
    talk.end()


def test_an_agent_without_a_login(talk: Conversation) -> None:
    program = talk.sandbox.directory / "bin" / "qwen"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{WITHOUT_LOGIN}'\n")
    program.chmod(0o755)
    refused = talk.sandbox.siding("chat", "qwen", "say one", "--new", "talk", status=1)
    assert "log in first" in refused.stderr.decode()
    assert "log in first" in talk.row["trouble"]
    assert [each["text"] for each in talk.row["queue"]] == ["say one"]
    assert_nobody_is_there(talk)


def test_a_program_that_is_missing_and_a_workspace_that_is_gone(talk: Conversation) -> None:
    talk.begin("say one")
    talk.turns(1)
    talk.end()
    program = talk.sandbox.directory / "bin" / "claude"
    program.rename(program.with_name("elsewhere"))
    assert "'claude': command not found" in talk.says("send", "say two", status=1)
    assert "command not found" in talk.events("ended")[-1]["reason"]
    program.with_name("elsewhere").rename(program)

    workspace = talk.sandbox.workspace()
    workspace.rename(workspace.with_name("away"))
    assert "is gone" in talk.says("send", "say three", status=1)
    assert "is gone" in talk.row["trouble"]
    assert_nobody_is_there(talk)
    workspace.with_name("away").rename(workspace)
    talk.says("send", "say four")
    talk.turns(4)
    assert talk.text() == "one\ntwo\nthree\nfour\n"
    talk.end()


def test_a_story_that_cannot_be_read(talk: Conversation) -> None:
    talk.begin("say one")
    talk.turns(1)
    talk.end()
    story = directory(talk) / "story.jsonl"
    whole = story.read_bytes()
    story.unlink()
    story.mkdir()
    assert "story" in talk.says("send", "say two", status=1)
    assert "cannot be read" in talk.row["trouble"]
    story.rmdir()
    story.write_bytes(b"")
    assert "does not say which agent" in talk.says("send", "say two", status=1)
    story.write_bytes(whole)
    talk.says("send", "say three")
    talk.turns(2)
    talk.until(lambda: "three" in talk.text())
    talk.end()


def test_a_directory_that_is_moved_away_ends_the_agent(talk: Conversation) -> None:
    talk.begin(talk.busy)
    talk.until_text("at work")
    there = directory(talk)
    pid = json.loads((there / "lock").read_text())["pid"]
    there.rename(there.with_name("c9"))
    # It wakes the host, which ends; and it starts another one, if it sees that.
    talk.sandbox.siding("chat", "send", "say two", "-c", "c9")
    talk.until(lambda: not alive(pid))
    ended = talk.events("ended")[0]
    assert "moved or removed" in ended["reason"]
    talk.says("send", "say three", "-c", "c9")
    talk.until_text("three")
    assert "two" in talk.text()
    talk.end()


def test_a_stopped_run_says_so(talk: Conversation) -> None:
    talk.begin(talk.busy)
    talk.until_text("at work")
    talk.sandbox.siding("stop", "--all")
    talk.until(lambda: talk.row["state"] == "ended")
    assert "stopped on request" in talk.row["trouble"]
    assert talk.events("turn-ended")[-1]["how"] == "failed"
    assert_nobody_is_there(talk)
