"""What a person allows for longer than once: kept, judged by, shown and taken back."""

import json
import shutil
from pathlib import Path

from integration.chat.scripted import Talked
from integration.chat.talks import Conversation
from sandbox import Sandbox
from stories import story_in


def _answered(talk: Conversation | Talked) -> list[tuple[str, str]]:
    """Return who has answered each ask, and for how long that counts."""
    return [(each["by"], each.get("lasts", "")) for each in talk.events("answered")]


def _asked(talk: Conversation | Talked, number: int) -> None:
    """Wait until so many asks were put to a person."""
    talk.until(lambda: len(talk.events("put")) >= number)


def test_for_the_conversation_where_its_agent_keeps_no_rule(talk: Conversation) -> None:
    talk.begin("once touch one\nonce touch two\nonce mkdir three")
    _asked(talk, 1)
    put = talk.events("put")[0]
    assert (put["always"], put["may"]) == (["conversation", "task", "agent"], "run `touch …`")
    shown = talk.says("show")
    assert f"siding chat answer {put['decision']} --yes | --always [task|agent] | --no" in shown
    assert "always: it may run `touch …`" in shown
    assert "it may run `touch …`, in this conversation" in talk.says("answer", "--always")
    _asked(talk, 2)  # the third; the second was answered without anybody
    assert _answered(talk) == [("terminal", "conversation"), ("siding", "conversation")]
    assert "allowed as before: it may run `touch …`, in this conversation" in talk.says("show")
    talk.says("answer", "--no")
    talk.turns(1)
    workspace = talk.sandbox.workspace()
    assert [(workspace / each).exists() for each in ("one", "two", "three")] == [True, True, False]

    # In another conversation of the task it is asked again.
    talk.sandbox.siding("chat", "claude", "once touch four", "-t", "talk")
    _asked(talk, 1)
    talk.says("answer", "--no", "-c", "c2")


def test_for_the_task_after_an_undo_a_kill_a_switch_and_in_another_conversation(
    sandbox: Sandbox,
) -> None:
    talked = Talked(sandbox)
    talked.siding("chat", "claude", "once touch one", "--new", "talk")
    _asked(talked, 1)
    talked.siding("chat", "answer", "--always", "task")
    talked.recorded(1)
    talked.siding("undo")
    talked.send("run touch two")  # the agent would keep a rule of its own for it
    talked.recorded(2)
    talked.kill_holder()
    talked.send("once touch three")
    talked.recorded(3)
    talked.siding("chat", "switch", "siding-agent")
    talked.until(lambda: talked.events("switched"))
    talked.send("once touch four")
    talked.recorded(4)
    assert _answered(talked) == [("terminal", "task"), *[("siding", "task")] * 3]
    talked.end()
    sandbox.siding("chat", "claude", "once touch five", "-t", "talk")
    talked.until(lambda: talked.events("recorded"))
    assert _answered(talked) == [("siding", "task")]
    there = sorted(each.name for each in sandbox.workspace().iterdir())
    assert set(there) >= {"five", "four", "three", "two"}
    assert "one" not in there

    # Another task asks.
    sandbox.siding("chat", "claude", "once touch six", "--new", "other")
    _asked(talked, 1)
    talked.siding("chat", "answer", "--no")
    talked.siding("stop", "--all", "--now")


def test_for_an_agent_in_all_tasks_and_not_for_another_one(sandbox: Sandbox) -> None:
    talked = Talked(sandbox)
    talked.siding("chat", "claude", "edit src/a.txt a", "--new", "talk")
    _asked(talked, 1)
    decision = talked.events("put")[0]["decision"]
    found = sandbox.json("decide", "show", decision, "--json")["input"]["items"][0]["options"]
    labels = {each["value"]: each["label"] for each in found}
    assert labels["always-agent"] == "Let claude change files in src/ always, in this project"
    sandbox.siding("decide", "answer", decision, "--choose", "1=always-agent")
    talked.turns(1)
    talked.siding("chat", "claude", "edit src/b.txt b\nedit CLAUDE.md x", "--new", "other")
    _asked(talked, 1)
    assert _answered(talked) == [("siding", "agent")]  # what steers agents is asked about
    talked.siding("chat", "answer", "--no")
    talked.turns(1)
    talked.siding("chat", "siding-agent", "edit src/c.txt c", "-t", "other")
    _asked(talked, 1)
    talked.siding("chat", "answer", "--no")
    talked.siding("stop", "--all", "--now")


def test_it_is_listed_and_taken_back(talk: Conversation) -> None:
    talk.begin("once touch one\nonce git status\nonce touch two")
    _asked(talk, 1)
    talk.says("answer", "--always", "task")
    _asked(talk, 2)
    talk.says("answer", "--always", "agent")
    talk.turns(1)
    listed = talk.says("always")
    assert "run `touch …`" in listed
    assert "claude, in this project" in listed
    rows = json.loads(talk.says("always", "--json"))
    assert [(each["scope"], each["rule"]) for each in rows] == [
        ("task", "Bash(touch:*)"),
        ("agent", "Bash(git status:*)"),
    ]
    assert "there is no 3" in talk.says("always", "--revoke", "3", status=1)
    assert "took back 1 permission" in talk.says("always", "--revoke", "1")
    talk.says("send", "once git status --short\nonce touch three")
    _asked(talk, 3)
    talk.says("answer", "--no")
    talk.turns(2)
    talk.says("always", "--revoke", "all")
    assert json.loads(talk.says("always", "--json")) == []


def test_what_the_policy_stops_no_earlier_yes_allows(talk: Conversation) -> None:
    talk.begin("once git push origin main")
    _asked(talk, 1)
    talk.says("answer", "--always", "task")
    talk.turns(1)
    policy = talk.sandbox.directory / "siding" / "policy.yaml"
    rules = "version: 1\nrules:\n  - {name: asks, pattern: 'git push', action: %s, reason: mine}\n"
    policy.write_text(rules % "ask")
    talk.says("send", "once git push origin main")
    _asked(talk, 2)
    put = talk.events("put")[1]
    assert "always" not in put
    assert "cannot be allowed always" in talk.says("answer", "--always", "task", status=2)
    talk.says("answer", "--no")
    talk.turns(2)
    policy.write_text(rules % "block")
    talk.says("send", "once git push origin main")
    talk.turns(3)
    assert [each["by"] for each in talk.events("answered")][1:] == ["terminal", "policy"]


def test_an_agent_gives_itself_nothing(talk: Conversation) -> None:
    """The agent's own commands are inside its run: there nobody answers or takes back."""
    siding = f"{shutil.which('siding', path=talk.sandbox.env['PATH']) or 'siding'}"
    talk.begin(f"run {siding} chat answer --always agent; {siding} chat always --revoke all")
    _asked(talk, 1)
    assert "always" in talk.events("put")[0]
    talk.says("answer", "--yes")
    talk.turns(1)
    (ended,) = talk.events("tool-ended")
    assert "inside" in ended["text"] or "nothing now" in ended["text"], ended
    assert json.loads(talk.says("always", "--json")) == []


def test_a_rule_that_cannot_be_kept_allows_it_once_and_says_so(talk: Conversation) -> None:
    talk.begin("once touch one\nonce touch two")
    _asked(talk, 1)
    (chat,) = Path(talk.sandbox.project).glob("tasks/*/chats/c1")
    (chat.parent.parent / "always.json").write_text("{")
    talk.says("answer", "--always", "task")
    _asked(talk, 2)
    first = talk.events("answered")[0]
    assert "could not be kept" in first["reason"]
    assert "lasts" not in first
    talk.says("answer", "--no")
    talk.turns(1)
    assert (talk.sandbox.workspace() / "one").exists()


def test_it_holds_in_a_copy_of_the_home(talk: Conversation) -> None:
    talk.begin("once touch one")
    _asked(talk, 1)
    talk.says("answer", "--always", "task")
    talk.recorded(1)
    talk.end()
    home = talk.sandbox.directory / "siding"
    copy = home.with_name("copied")
    passing = shutil.ignore_patterns("sock", "trials")  # what lives, and what comes and goes
    shutil.copytree(home, copy, symlinks=True, ignore=passing)
    talk.sandbox.env["SIDING_HOME"] = str(copy)
    rows = talk.sandbox.json("chat", "always", "--json")
    assert [each["may"] for each in rows] == ["run `touch …`"]
    shutil.rmtree(home)  # it was moved
    talk.says("send", "once touch two")
    (project,) = (copy / "projects").iterdir()

    def answered_by() -> list[str]:
        return [line["by"] for line in story_in(project) if line["event"] == "answered"]

    talk.until(lambda: answered_by()[1:] == ["siding"])
