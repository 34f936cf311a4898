"""Comments that wait for an agent, as its broker gives them to it."""

import json
from pathlib import Path
from typing import Any

import pytest

from .inside import Foothold
from .test_typed_meanwhile import Talk, run, task

__all__ = ["run", "task"]


def waiting(run: Foothold, said: str) -> None:
    """Write a comment, and have it wait for the run, as if an agent's program were its command."""
    run.task.siding("comments", "add", "hello.txt:1", said)
    (path,) = Path(run.task.env["SIDING_HOME"]).glob("projects/*/tasks/*/comments/comments.json")
    document: dict[str, Any] = json.loads(path.read_text())
    document["comments"][-1]["waits_for"] = "r1"
    path.write_text(json.dumps(document))
    assert states(run) == ["waiting"]


def states(run: Foothold) -> list[str]:
    return [each["state"] for each in run.task.json("comments", "list", "--all", "--json")]


def test_an_agent_goes_on_with_them_when_its_turn_ends(run: Foothold) -> None:
    talk = Talk(run)
    talk.asks("do alpha", "p1")
    waiting(run, "shorter")
    (run.workspace / "a").write_text("a")
    told = json.loads(talk.says("Stop", "p1"))
    assert told["decision"] == "block"
    assert "Requested change: shorter" in told["reason"]
    assert states(run) == ["waiting"]
    talk.writes(type="user", message={"role": "user", "content": told["reason"]})
    (run.workspace / "b").write_text("b")
    assert talk.says("Stop", "p1", stop_hook_active=True) == ""  # it is over, and said once
    assert states(run) == ["sent"]
    assert [turn["prompt"][:9] for turn in talk.turns] == ["do alpha", "Review of"]
    assert [turn["diff_stat"]["file_list"] for turn in talk.turns] == [["a"], ["b"]]
    assert "Requested" not in talk.asks("do beta", "p2")


def test_what_was_not_taken_comes_with_the_next_prompt(run: Foothold) -> None:
    talk = Talk(run)
    talk.asks("do alpha", "p1")
    waiting(run, "shorter")
    lost = json.loads(talk.says("Stop", "p1"))["reason"]  # the agent was killed, and is there again
    again = talk.asks("do beta", "p2")
    assert "Requested change: shorter" in again
    assert lost not in again  # it has a mark of its own
    talk.writes(type="attachment", attachment={"content": [again]})
    assert talk.says("Stop", "p2") == ""
    assert states(run) == ["sent"]


@pytest.mark.parametrize("event", ["Interrupt", "StopFailure"])
def test_an_agent_that_was_stopped_is_not_made_to_go_on(run: Foothold, event: str) -> None:
    talk = Talk(run, "codex" if event == "Interrupt" else "claude")
    talk.asks("do alpha", "t1")
    waiting(run, "shorter")
    assert talk.says(event, "t1") == ""
    assert states(run) == ["waiting"]
    assert "Requested change: shorter" in talk.asks("do beta", "t2")
