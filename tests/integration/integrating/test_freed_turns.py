"""`siding gc --older` and the turns beside a branch: what it takes of them, and what it leaves."""

import json
import time

import pytest

from integration.integrating.test_reports import Says, turns
from sandbox import Sandbox

CONTENT = "".join(f"{number} lines of a story\n" for number in range(500))


def dated(sandbox: Sandbox, numbers: tuple[int, ...], year: int) -> None:
    """Have turns been in another year."""
    (journal,) = (sandbox.project / "checkouts").glob("*/turns.jsonl")
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    for line in lines:
        if line["number"] in numbers:
            line["at"] = f"{year}{line['at'][4:]}"
    journal.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def patch(sandbox: Sandbox, number: int) -> str:
    return sandbox.siding("turns", str(number)).stdout.decode()


def test_what_a_task_shares_with_a_turn_stays(sandbox: Sandbox) -> None:
    """The same file was made in a task, whose step is freed, and in a turn, which is not."""
    sandbox.siding("task", "start", "told")
    (sandbox.workspace() / "story.txt").write_text(CONTENT)
    (sandbox.workspace() / "other.txt").write_text(CONTENT.upper())
    sandbox.siding("checkpoint", "-m", "told")
    (sandbox.workspace() / "story.txt").unlink()
    (sandbox.workspace() / "other.txt").unlink()
    sandbox.siding("checkpoint", "-m", "gone")
    sandbox.siding("task", "close", "told", "--force")
    agent = Says(sandbox, sandbox.repo)
    agent.prompt("Tell it")
    (sandbox.repo / "story.txt").write_text(CONTENT)
    agent.stops()
    before = patch(sandbox, 1)
    assert "500 lines" not in before
    assert "499 lines" in before
    dated(sandbox, (1,), 2999)
    time.sleep(1.2)
    assert b"freed the snapshots" in sandbox.siding("gc", "--older", "1s", "--yes").stderr
    assert patch(sandbox, 1) == before


@pytest.fixture
def told(sandbox: Sandbox) -> Sandbox:
    """A checkout with three turns, of which two are of long ago."""
    sandbox.siding("init")
    agent = Says(sandbox, sandbox.repo)
    for number in (1, 2):
        agent.prompt(f"Tell {number}")
        (sandbox.repo / "story.txt").write_text(CONTENT.replace("lines", f"lines of {number}"))
        agent.stops()
    dated(sandbox, (1, 2), 2001)
    agent.prompt("Tell 3")
    (sandbox.repo / "story.txt").write_text(CONTENT)
    agent.stops()
    return sandbox


def test_older_turns_are_freed_after_they_were_shown(told: Sandbox) -> None:
    newest = patch(told, 3)
    size = told.json("gc", "--json", "--dry-run")["store"]
    refused = told.siding("gc", "--older", "1d", status=1)
    shown = f"free    {told.repo}: snapshots of 2 turns (1-2)"
    assert shown in refused.stdout.decode()
    assert b"the snapshots of 2 turns beside a branch" in refused.stderr
    assert len(patch(told, 1).splitlines()) > 500
    done = told.siding("gc", "--older", "1d", "--yes")
    assert b"freed the snapshots of 2 turns beside a branch" in done.stderr
    assert told.json("gc", "--json", "--dry-run")["store"] < size
    assert patch(told, 3) == newest
    gone = told.siding("turns", "1", status=1).stderr.decode()
    assert "what turn 1 has changed is gone: its snapshot was freed by `siding gc`" in gone
    listed = told.siding("turns").stdout.decode().splitlines()
    assert [line.count("(freed)") for line in listed] == [0, 1, 1, 0]
    assert [turn["prompt"] for turn in turns(told)] == ["Tell 1", "Tell 2", "Tell 3"]
    told.siding("doctor")


def test_a_turn_after_that_is_kept_as_ever(told: Sandbox) -> None:
    told.siding("gc", "--older", "1d", "--yes")
    agent = Says(told, told.repo, "another")
    agent.prompt("Tell 4")
    (told.repo / "story.txt").write_text("The end.\n")
    agent.stops()
    assert "+The end." in patch(told, 4)
    dated(told, (1, 2, 3, 4), 2001)
    again = told.siding("gc", "--older", "1d", "--yes")
    assert b"not be freed" not in again.stderr
    assert told.siding("turns").stdout.count(b"(freed)") == 4


def test_a_turn_that_has_not_ended_keeps_where_it_began(told: Sandbox) -> None:
    agent = Says(told, told.repo, "open")
    agent.prompt("Tell on")
    dated(told, (1, 2, 3, 4), 2001)
    told.siding("gc", "--older", "1d", "--yes")
    (told.repo / "story.txt").write_text("The end.\n")
    agent.stops()
    assert "+The end." in patch(told, 4)
