"""`siding agent usage`, `recap`, `debug-tool-call`, `break-cache`: what a conversation was."""

from pathlib import Path

import pytest

from integration.undo.desk import Desk
from siding.faces.cli.table import BELOW
from siding.sessions.shelf import store_of
from unit.faces.cli.in_process import CommandLine

from .conversations import ID, Asked, Talk, fixed

ABOUT_ONE = ("usage", "recap", "debug-tool-call", "break-cache", "summary")


SUMMARISES = r"""
answers:
  - match: '(?s).*Summarise'
    text: "<analysis>hm</analysis><summary>They fixed it with sk-ant-api03-{0}.</summary>"
"""


@pytest.mark.parametrize("verb", ABOUT_ONE)
def test_without_a_conversation_they_say_how_to_begin_one(
    siding: CommandLine, desk: Desk, verb: str
) -> None:
    said = siding("agent", verb, status=1)
    assert "no conversation in this workspace yet" in said.err
    assert "hint: `siding agent -p" in said.err


def test_the_newest_of_the_workspace_is_meant(siding: CommandLine, desk: Desk) -> None:
    fixed(desk)
    newer = Talk(desk, "cccccccc-0000-4000-8000-000000000001")
    newer.wait(600)
    newer.prompt("newer", "t")
    newer.text("Yes.")
    newer.close()
    assert siding.json("agent", "recap", "--json")["session"].startswith("cccc")
    assert siding.json("agent", "recap", "aaaa", "--json")["session"] == ID
    assert "no session 'dddd'" in siding("agent", "recap", "dddd", status=1).err


def test_usage_adds_up_requests_calls_and_times(siding: CommandLine, desk: Desk) -> None:
    fixed(desk)
    found = siding.json("agent", "usage", "--json")
    assert (found["turns"], found["requests"], found["busy_ms"]) == (2, 4, 13_000)
    (model,) = found["models"]
    assert (model["model"], model["input"], model["output"]) == ("scripted", 40, 20)
    tools = {each["name"]: each for each in found["tools"]}
    assert tools["Bash"] == {
        "name": "Bash",
        "calls": 1,
        "failed": 1,
        "total_ms": 7000,
        "longest_ms": 7000,
    }
    assert tools["Read"]["total_ms"] == 1000
    text = siding("agent", "usage").out
    assert "2 turns, 4 requests, 2 calls, 13s at work" in text
    assert "(price unknown)" in text
    for alias in ("cost", "stats"):
        assert siding("agent", alias).out == text
    both = siding.json("agent", "usage", "--all", "--json")
    assert (both["conversations"], both["requests"], both["session"]) == (1, 4, "")
    assert "leave SESSION out" in siding("agent", "usage", "--all", "aaaa", status=2).err


def test_a_recap_tells_each_turn(siding: CommandLine, desk: Desk) -> None:
    fixed(desk)
    text = siding("agent", "recap").out
    assert "1. fix the parser please  (" in text
    assert "   ran: make test\n" in text
    assert "   failed: Bash: 2 failed\n" in text
    assert "   said: It is fixed.\n" in text
    assert "2. really?" in text
    last = siding("agent", "catchup", "-n", "1").out
    assert "really?" in last
    assert "fix the parser" not in last.partition("\n")[2]
    first, second = siding.json("agent", "recap", "--json")["turns"]
    assert (first["calls"], first["commands"], second["calls"]) == (2, ["make test"], 0)
    assert first["failed"] == [{"id": "toolu_2", "tool": "Bash", "result": "2 failed"}]


def test_calls_are_listed_short_and_shown_whole(siding: CommandLine, desk: Desk) -> None:
    fixed(desk)
    listed = siding("agent", "debug-tool-call").out
    assert "toolu_1  Read  done in 1.0s" in listed
    assert "toolu_2  Bash  failed in 7.0s" in listed
    assert "x" * 300 not in listed
    assert "toolu_1" not in siding("agent", "debug-tool-call", "1").out
    assert "toolu_1" not in siding("agent", "debug-tool-call", "--failed").out
    whole = siding("agent", "debug-tool-call", "toolu_1").out
    assert "x" * 300 in whole
    assert '"file_path": "a.py"' in whole
    assert "told to programs" in whole
    (call,) = siding.json("agent", "debug-tool-call", "toolu_1", "--json")
    assert (call["took_ms"], call["turn"], call["details"]) == (1000, 1, {"lines": 1})
    assert "could be 2 calls" in siding("agent", "debug-tool-call", "toolu", status=2).err
    assert "no call 'nothing'" in siding("agent", "debug-tool-call", "nothing", status=1).err


def test_a_call_that_was_cut_off_has_no_result(siding: CommandLine, desk: Desk) -> None:
    talk = Talk(desk)
    talk.prompt("go", "t")
    talk.call("toolu_1", "Bash", {"command": "sleep 99"})
    talk.close()
    assert "toolu_1  Bash  without a result" in siding("agent", "debug-tool-call").out
    assert "failed: Bash: it was cut off" in siding("agent", "recap").out


def test_misses_of_the_cache_have_their_cause(siding: CommandLine, desk: Desk) -> None:
    talk = Talk(desk)
    talk.prompt("go", "t")
    talk.text("a", Asked(write=100))
    talk.text("b", Asked(read=100, write=20))
    talk.text("c", Asked(read=120), model="other")
    talk.text("d", Asked(write=130), model="scripted")
    talk.wait(400)
    talk.text("e", Asked(read=30, write=10))
    talk.wait(4000)
    talk.text("f", Asked(write=50))
    talk.text("g", Asked(read=20))
    talk.close()
    rows = siding.json("agent", "break-cache", "--json")["requests"]
    causes = {each["number"]: (each["lost"], each["cause"]) for each in rows if each["cause"]}
    assert {number: lost for number, (lost, _) in causes.items()} == {4: 120, 5: 100, 6: 40, 7: 30}
    assert "another model" in causes[4][1]
    assert "5 minutes" in causes[5][1]
    assert "an hour" in causes[6][1]
    assert "system prompt" in causes[7][1]
    text = siding("agent", "break-cache").out
    assert "request 4, turn 1" in text
    assert "120 tokens read anew: another model was asked" in text


def test_a_conversation_without_a_cache_or_a_miss_says_so(siding: CommandLine, desk: Desk) -> None:
    fixed(desk)
    assert "told of no cache" in siding("agent", "break-cache").err
    talk = Talk(desk, "cccccccc-0000-4000-8000-000000000001")
    talk.prompt("go", "t")
    talk.text("a", Asked(write=100))
    talk.text("b", Asked(read=100))
    talk.close()
    assert "no request has missed it" in siding("agent", "break-cache", "cccc").err


@pytest.mark.parametrize("verb", sorted(BELOW["agent"]))
def test_each_has_its_own_help_and_takes_json(siding: CommandLine, verb: str) -> None:
    page = siding("agent", verb, "--help").out
    assert page.startswith(f"usage: siding agent {verb} ")
    assert "--json" in page


def test_the_model_sums_it_up_and_the_summary_is_kept(
    siding: CommandLine, desk: Desk, tmp_path: Path
) -> None:
    fixed(desk)
    before = store_of(desk.project).layout(ID).transcript.read_bytes()
    script = tmp_path / "script.yaml"
    script.write_text(SUMMARISES.replace("{0}", "A" * 93 + "AA"))
    said = siding("agent", "summary", "--model", f"scripted:{script}")
    assert "They fixed it with" in said.out
    assert "A" * 20 not in said.out
    assert "tokens, $0.00, kept in " in said.err
    kept = store_of(desk.project).layout(ID).summary_md
    assert kept.read_text().startswith("Summary:\nThey fixed it with sk-ant-")
    assert store_of(desk.project).layout(ID).transcript.read_bytes() == before
    found = siding.json("agent", "summary", ID, "--model", f"scripted:{script}", "--json")
    assert (found["session"], found["path"]) == (ID, str(kept))
    kept.unlink()
    kept.mkdir()  # nothing can be put in its place
    told = siding("agent", "summary", "--model", f"scripted:{script}")
    assert "They fixed it with" in told.out
    assert "could not be kept" in told.err
    script.write_text("answers: []\n")
    siding("agent", "summary", "--model", f"scripted:{script}", status=1)
    assert kept.exists()
