"""Sessions in which things go wrong, with the real agents: a server that fails, a compaction,
helpers. There are as many turns as prompts, and each has its own change alone."""

import json

from agents.conftest import AgentAtWork, ClaudeAtWork
from agents.models import Call, Failure

HELPED = "count-the-files-for-me"


def told(agent: AgentAtWork) -> list[tuple[str, str, list[str]]]:
    """What each turn was asked, how it ended, and what it changed."""
    return [
        (turn["message"], turn["moment"], sorted(turn["diff_stat"]["file_list"]))
        for turn in agent.turns
    ]


def test_a_day_of_claude_code(claude: ClaudeAtWork) -> None:
    claude.task.env["CLAUDE_CODE_MAX_RETRIES"] = "2"
    shell = claude.shell
    helper = {"description": "count", "prompt": HELPED, "subagent_type": "general-purpose"}
    server = claude.says(
        [shell("echo 1 >1.txt")],
        ["Done."],
        [shell("git add -A && git commit -qm 'from inside'")],
        ["Committed."],
        [Call("Agent", helper)],
        ["I wait."],
        ["It has counted."],
        [shell("echo 4 >4.txt")],
        Failure(529),  # and the same request again
        ["After all."],
        [shell("echo 5 >5.txt")],
        *[Failure(529)] * 3,  # as often as it tries
        [shell("echo 6 >6.txt; false")],
        ["It failed, and wrote."],
        *[["What was said, in a few words."]] * 2,  # it asks once more for a longer summary
        [shell("echo 7 >7.txt")],
        ["Done."],
        elsewhere={HELPED: [[shell("echo 3 >3.txt")], ["There are two."]]},
    )
    talk = claude.talk()
    for number in range(1, 7):
        talk.says(f"Prompt {number}")
        if number == 3:
            talk.until("result")  # it hears of the helper's end, and answers once more
    talk.says("/compact")
    talk.says("Prompt 7")
    assert talk.ends() == 0
    ends = [turn["moment"] for turn in claude.turns]
    # It does not wait for the report of a failure: the next prompt may be faster.
    assert ends[4] in ("failed", "prompt")
    assert told(claude) == [
        ("Prompt 1", "stopped", ["1.txt"]),
        ("Prompt 2", "stopped", []),
        ("Prompt 3", "stopped", ["3.txt"]),
        ("Prompt 4", "stopped", ["4.txt"]),
        ("Prompt 5", ends[4], ["5.txt"]),
        ("Prompt 6", "stopped", ["6.txt"]),
        ("Prompt 7", "stopped", ["7.txt"]),
    ]
    assert "Prompt 1" not in json.dumps(server.requests[-1]["messages"])  # it was compacted
    calls = [sum(used["calls"] for used in turn["usage"].values()) for turn in claude.turns]
    # The turn of the helper has its two as well. A compaction is in no line of the transcript.
    assert calls == [2, 2, 5, 2, 1, 2, 2]
    session = claude.turns[0]["session"]
    assert {turn["session"] for turn in claude.turns} == {session}
    shown = claude.task.siding("session", "show", session).stdout.decode()
    for turn in claude.turns:
        assert f"step {turn['step_id']}" in shown

    claude.task.siding("rewind", str(claude.turns[2]["step_id"]))
    workspace = claude.task.workspace()
    assert sorted(path.name for path in workspace.glob("[0-9].txt")) == ["1.txt"]
    server = claude.says(["I see."])
    claude.goes_on(session, "Another way")
    (asked,) = server.requests
    assert [f"Prompt {n}" in json.dumps(asked) for n in range(1, 8)] == [True] * 2 + [False] * 5


def test_a_server_that_fails_costs_no_turn(agent: AgentAtWork) -> None:
    """It is tried again, or the prompt ends without an answer: the next one is a turn as ever."""
    agent.says(Failure(503), [agent.shell("echo 1 >1.txt")], ["Done."])
    agent.prompt("Try again")
    session = str(agent.turns[-1]["session"])
    agent.says(*[Failure(400)] * 20)
    agent.task.siding("run", "--", *agent.again(session, "Give up"), status=None, timeout=100)
    agent.says([agent.shell("echo 3 >3.txt")], ["Done."])
    agent.goes_on(session, "Go on")
    asked = [(prompt, files) for prompt, _moment, files in told(agent)]
    assert asked[0] == ("Try again", ["1.txt"])
    assert asked[-1] == ("Go on", ["3.txt"])
    assert [prompt for prompt, _files in asked[1:-1]] == ["Give up"]
