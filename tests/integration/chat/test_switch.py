"""Another agent goes on with a conversation: with its story, its queue, its files and its steps."""

import json

from integration.chat.scripted import Talked
from sandbox import Sandbox


def test_it_is_told_what_was_said_and_an_undo_goes_back_over_the_change(sandbox: Sandbox) -> None:
    talked = Talked(sandbox)
    talked.siding("chat", "claude", "say hello", "--new", "talk")
    talked.turns(1)
    first = talked.row["session"]
    talked.siding("chat", "switch", "siding-agent")
    talked.until(lambda: talked.events("switched"))
    assert talked.row["agent"] == "siding-agent"
    talked.send("edit two.txt two")
    talked.lets()
    talked.turns(2)
    said = talked.text()
    assert "You said: Person: say hello" in said
    assert "You said: claude: hello" in said
    two = sandbox.workspace() / "two.txt"
    assert two.read_text() == "two\n"
    talked.until(lambda: len(talked.events("recorded")) == 2)

    talked.siding("undo")
    assert not two.exists()
    talked.siding("chat", "switch", "claude", "--json")
    talked.until(lambda: len(talked.events("switched")) == 2)
    talked.send("say back")
    talked.turns(3)
    assert talked.row["session"] == first
    new = talked.text().removeprefix(said)
    assert "You said: Person: edit two.txt two" in new
    assert "taken back since" in new
    assert "You said: Person: say hello" not in new.splitlines()  # it knows that itself
    # It was told: the next prompt is alone.
    talked.send("say alone")
    talked.turns(4)
    assert talked.text().endswith("alone\n")
    assert "You said" not in talked.text()[len(said + new) :]
    talked.end()


def test_mode_and_effort_go_along_and_what_does_not_is_said(sandbox: Sandbox) -> None:
    talked = Talked(sandbox)
    talked.siding("chat", "claude", "say hello", "--new", "talk", "--mode", "plan")
    talked.turns(1)
    talked.siding("chat", "set", "--effort", "high")
    said = talked.siding("chat", "switch", "siding-agent")
    assert "the effort 'high' does not go along: siding-agent knows none" in said
    talked.send("say on")
    talked.turns(2)
    assert talked.row["agent"] == "siding-agent"
    (switched,) = talked.events("switched")
    assert (switched["mode"], len(switched["left"])) == ("plan", 1)
    assert talked.events("opened")[-1]["mode"] == "plan"  # as it says itself
    assert "(the effort 'high' does not go along" in talked.siding("chat", "show")
    talked.end()


def test_it_is_refused_before_the_present_agent_is_ended(sandbox: Sandbox) -> None:
    talked = Talked(sandbox)
    talked.siding("chat", "claude", "say hello", "--new", "talk")
    talked.turns(1)
    for agent, why in (
        ("claude", "c1 is with claude already"),
        ("aider", "'aider' cannot be held in a conversation"),
        ("copilot", "copilot is not installed"),
    ):
        assert why in talked.siding("chat", "switch", agent, status=2), agent
    assert talked.events("ended", "switch-asked") == []
    talked.send("say more")
    talked.turns(2)
    talked.end()


def test_the_queue_goes_along_and_the_turn_ends_first(sandbox: Sandbox) -> None:
    """With an ask open, while it stops, wanted twice and taken back in between."""
    talked = Talked(sandbox)
    talked.siding("chat", "claude", "run touch one", "--new", "talk")
    talked.until(lambda: talked.events("put"))
    talked.send("say first")
    talked.send("say second")
    for agent in ("siding-agent", "claude", "siding-agent"):
        talked.siding("chat", "switch", agent)
    assert talked.events("ended", "switched") == []
    talked.lets()
    talked.turns(3)
    assert (sandbox.workspace() / "one").exists()
    assert talked.taken() == [
        ("claude", "run touch one"),
        ("siding-agent", "say first"),
        ("siding-agent", "say second"),
    ]
    # While it is stopping, nothing waits any more; it goes all the same.
    talked.send("wait never")
    talked.until(lambda: talked.row["state"] == "running")
    talked.siding("chat", "stop")
    talked.siding("chat", "switch", "claude")
    talked.until(lambda: talked.row["agent"] == "claude" and talked.row["state"] == "idle")
    talked.send("say last")
    talked.turns(5)
    assert talked.taken()[-1] == ("claude", "say last")
    talked.end()


def test_a_host_that_is_killed_between_the_two_agents(sandbox: Sandbox) -> None:
    talked = Talked(sandbox)
    talked.siding("chat", "claude", "say hello", "--new", "talk")
    talked.until(lambda: talked.events("recorded"))
    talked.end()
    # What its story has when the first one has ended, and the other is not begun.
    asked = {"event": "switch-asked", "agent": "siding-agent", "program": ["siding-agent"]}
    with (talked.directory / "story.jsonl").open("a") as story:
        story.write(json.dumps({"seq": talked.story[-1]["seq"] + 1, **asked}) + "\n")
    talked.send("say on")
    talked.turns(2)
    assert talked.taken()[-1] == ("siding-agent", "say on")
    assert [each["run"] for each in talked.events("hosted")] == ["r1", "r2"]
    talked.end()


def test_a_host_that_is_killed_before_the_change_leaves_it_wanted(sandbox: Sandbox) -> None:
    talked = Talked(sandbox)
    gate = sandbox.directory / "gate"
    talked.siding("chat", "claude", f"wait {gate}", "--new", "talk")
    talked.until(lambda: talked.events("prompt-taken"))
    talked.siding("chat", "switch", "siding-agent")
    talked.until(lambda: talked.events("switch-asked"))
    talked.kill_holder()
    talked.until(lambda: talked.row["state"] == "ended")
    talked.send("say on")
    talked.turns(2)
    assert talked.taken() == [("claude", f"wait {gate}"), ("siding-agent", "say on")]
    assert [each["run"] for each in talked.events("hosted")] == ["r1", "r2"]  # no third agent
    talked.end()
    # Nobody holds it: it is changed at once, and the next prompt starts the other one.
    talked.siding("chat", "switch", "claude")
    assert talked.row["agent"] == "claude"
    assert talked.row["state"] == "ended"
    talked.send("say back")
    talked.turns(3)
    assert talked.taken()[-1] == ("claude", "say back")
    talked.end()
