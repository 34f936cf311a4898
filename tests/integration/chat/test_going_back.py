"""What was taken back of an agent's work it forgets, where its protocol has a way back."""

from pathlib import Path

from sandbox import Sandbox

from .scripted import Talked
from .talks import Conversation, killed

ANSWER = ("decide", "answer", "--choose", "1=run")
TOLD = "Taken back: your work on"


def edit(name: str) -> str:
    return f"edit {name} {name}"


def edits(talk: Conversation, *names: str) -> None:
    """Begin with turns that write a file each, and allow it."""
    for number, name in enumerate(names, start=1):
        if number == 1:
            talk.begin(edit(name))
        else:
            talk.says("send", edit(name))
        allow(talk, number)


def allow(talk: Conversation, number: int) -> None:
    """Allow what is asked in the turn with this number."""
    talk.until(lambda: len(talk.events("put")) == number)
    talk.sandbox.siding(*ANSWER)
    talk.recorded(number)


def knows(talk: Conversation, *more: str) -> list[str]:
    """Ask the agent which prompts it knows; return the files that these were about."""
    count = len(talk.events("recorded"))
    talk.says("send", "recall", *more)
    talk.recorded(count + 1)
    line = talk.text().rpartition("I know: ")[2].strip()
    return [each.split()[1] for each in line.split(", ") if each.startswith("edit ")]


def test_it_forgets_what_was_undone_and_knows_again_what_was_redone(talk: Conversation) -> None:
    edits(talk, "a", "b", "c")
    talk.sandbox.siding("undo")
    talk.sandbox.siding("undo")
    talk.sandbox.siding("redo")
    assert not talk.events("going-back")  # it costs nothing until there is a prompt
    assert knows(talk) == ["a", "b"]
    assert knows(talk) == ["a", "b"]
    (went,) = talk.events("went-back")
    assert (went["about"], went["forgets"]) == (edit("c"), 1)
    assert not talk.events("informed")
    said = talk.says("show")
    assert f"claude went back to before “{edit('c')}”: it knows nothing of 1 turn undone" in said

    talk.sandbox.siding("rollback", "--step", "3")  # the turns that followed are gone, c is there
    assert knows(talk) == ["a", "b", "c"]
    assert talk.events("went-back")[-1]["recalls"] == 1
    talk.sandbox.siding("rollback", "--step", "1")
    assert knows(talk) == ["a"]
    assert not talk.events("informed", "not-back")
    sessions = {each["session"] for each in talk.events("opened")}
    assert len(sessions) == 3


def test_where_all_was_undone_it_begins_anew(talk: Conversation) -> None:
    edits(talk, "a", "b")
    talk.sandbox.siding("rollback", "--base")
    assert knows(talk) == []
    assert talk.events("went-back")[-1]["forgets"] == 2
    talk.end()
    assert knows(talk) == []  # as the next host has it
    talk.sandbox.siding("rollback", "--step", "2")
    assert knows(talk) == ["a", "b"]


def test_who_wants_it_to_remember_says_so(talk: Conversation) -> None:
    edits(talk, "a", "b")
    talk.sandbox.siding("undo")
    assert knows(talk, "--remember") == ["a", "b"]
    (told,) = talk.events("informed")
    assert f"{TOLD} “{edit('b')}”" in told["text"]
    assert knows(talk) == ["a", "b"]  # from then on
    talk.end()
    assert knows(talk) == ["a", "b"]
    assert len(talk.events("informed")) == 1
    assert not talk.events("going-back", "not-back")


def test_one_that_cannot_is_told(talk: Conversation) -> None:
    edits(talk, "a", "b")
    talk.sandbox.siding("undo")
    transcripts = Path(talk.sandbox.env["CLAUDE_CONFIG_DIR"]) / "projects" / "scripted"
    (transcripts / "no-way-back").touch()
    assert knows(talk) == ["a", "b"]
    (stays,) = talk.events("not-back")
    assert "No message found" in stays["reason"]
    assert TOLD in talk.events("informed")[-1]["text"]
    assert not talk.events("went-back")
    assert "it does not forget what was undone: " in talk.says("show")


def test_before_a_compaction_there_is_no_way_back(talk: Conversation) -> None:
    edits(talk, "a", "b")
    talk.says("compact")
    talk.until(lambda: talk.events("compacted"))
    talk.sandbox.siding("undo")
    assert knows(talk) == ["a", "b"]
    assert "shorter" in talk.events("not-back")[-1]["reason"]
    assert TOLD in talk.events("informed")[-1]["text"]


def test_what_runs_in_the_background_is_not_ended_for_it(talk: Conversation) -> None:
    edits(talk, "a")
    count = len(talk.events("recorded"))
    talk.says("send", "background server")
    talk.recorded(count + 1)
    talk.sandbox.siding("rollback", "--base")
    assert knows(talk) == ["a"]
    assert "server" in talk.events("not-back")[-1]["reason"]


def test_files_alone_are_no_turns(talk: Conversation) -> None:
    edits(talk, "a", "b", "c")
    talk.sandbox.siding("rollback", "--step", "1", "b", cwd=talk.sandbox.workspace())
    assert not (talk.sandbox.workspace() / "b").exists()
    assert knows(talk) == ["a", "b", "c"]
    assert "to another recorded state" in talk.events("informed")[-1]["text"]
    assert not talk.events("going-back", "not-back")


def test_it_is_begun_again_by_the_next_host(talk: Conversation) -> None:
    """Killed when it has gone back, and nothing that its record has was said there."""
    edits(talk, "a", "b", "c")
    talk.sandbox.siding("undo")
    talk.says("send", f"forget\nwait {talk.go}")  # it keeps no line of it
    talk.until(lambda: [each for each in talk.events("sending") if each["seq"] > went(talk)])
    killed(talk)
    talk.says("send", "recall")
    talk.until(lambda: talk.row["state"] == "unsure")
    talk.says("drop", "4")
    talk.until(lambda: "I know: " in talk.text())
    known = talk.text().rpartition("I know: ")[2].strip().split(", ")
    assert known == [edit("a"), edit("b"), "recall"]
    assert len(talk.events("went-back")) == 1


def went(talk: Conversation) -> float:
    """Return the number of the line by which it has gone back."""
    return next((float(each["seq"]) for each in talk.events("went-back")), float("inf"))


def test_a_redo_after_the_kill_leads_back_to_all_of_it(talk: Conversation) -> None:
    edits(talk, "a", "b")
    talk.sandbox.siding("undo")
    talk.says("send", f"wait {talk.go}")
    talk.until(lambda: talk.events("going-back"))
    killed(talk)
    talk.go.touch()
    talk.sandbox.siding("stop", "--all", "--now", status=None)
    talk.sandbox.siding("rollback", "--step", "2")
    talk.says("send", "recall")
    talk.until(lambda: "I know: " in talk.text())
    known = talk.text().rpartition("I know: ")[2].strip().split(", ")
    assert known[:2] == [edit("a"), edit("b")]


def test_an_agent_that_came_is_told_again_what_it_forgets(sandbox: Sandbox) -> None:
    talk = Talked(sandbox)
    talk.siding("chat", "siding-agent", "say one", "--new", "talk")
    talk.recorded(1)
    talk.siding("chat", "switch", "claude")
    talk.until(lambda: talk.row["agent"] == "claude")
    talk.send(edit("a"))
    talk.lets()
    talk.recorded(2)
    talk.siding("undo")
    talk.send("recall")
    talk.recorded(3)
    (went,) = talk.events("went-back")
    assert went["agent"] == "claude"
    told = talk.events("informed")
    assert ["say one" in each["text"] for each in told] == [True, True]
    assert edit("a") not in told[-1]["text"]
    talk.end()
