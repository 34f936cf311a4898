"""What waits for an agent is changed from the command line, with a host and without one."""

from integration.chat.talks import Conversation, killed
from sandbox import SIDING
from terminal import Terminal


def test_what_waits_is_changed_until_it_goes(talk: Conversation) -> None:
    talk.begin(talk.busy)
    talk.until_text("at work")
    for each in ("one", "two", "three", "four"):
        talk.says("send", each)
    shown = talk.says("queue")
    assert [line.split()[0] for line in shown.splitlines()[1:]] == ["1", "2", "3", "4", "5"]
    assert "taken" in shown.splitlines()[1]

    talk.says("move", "4", "--first")
    talk.says("move", "2", "--last")
    talk.says("move", "5", "--before", "4")
    assert talk.waiting == ["four", "three", "two", "one"]
    talk.says("edit", "2", "one\nand more")
    talk.says("edit", "3", "-", stdin=b"two again\n")
    talk.says("drop", "5", "4", "5")
    assert talk.waiting == ["two again", "one\nand more"]

    first = talk.sandbox.json("chat", "queue", "--json")["prompts"][0]["prompt"]
    assert "prompt 1 is not edited: the agent has it" in talk.says(
        "edit", first[:8], "late", status=1
    )
    assert "prompt 4 is not dropped: it was dropped" in talk.says("drop", "4", status=1)
    assert "before itself" in talk.says("move", "2", "--before", "2", status=2)
    assert "prompt 2 is not moved: of prompt 1, the agent has it" in talk.says(
        "move", "2", "--before", "1", status=1
    )
    assert "there is no prompt '9'" in talk.says("drop", "9", status=1)
    talk.go.touch()
    talk.turns(3)
    assert talk.text() == "at work\nYou said: two again\nYou said: one\nYou said: and more\n"
    assert "nothing waits" in talk.says("queue")
    assert len(talk.says("queue", "--all").splitlines()) == 6
    assert "nothing is held" in talk.says("go-on")


def test_no_agent_is_started_to_change_what_waits(talk: Conversation) -> None:
    talk.begin(f"forget\n{talk.busy}")
    talk.until_text("at work")
    for each in ("one", "two", "three"):
        talk.says("send", each)
    killed(talk)
    talk.until(lambda: talk.row["state"] == "ended")
    talk.says("drop", "2")
    talk.says("edit", "3", "two again")
    talk.says("move", "4", "--first")
    assert talk.waiting == ["three", "two again"]
    assert talk.row["state"] == "ended"
    assert len(talk.events("hosted")) == 1

    # Its agent comes back, and nobody knows whether it had the first prompt.
    talk.says("go-on")
    talk.until(lambda: talk.row["unsure"])
    assert "siding chat again" in talk.says("queue")
    assert "unsure prompt is settled" in talk.says("go-on", status=2)
    assert "nobody knows" in talk.says("edit", "1", "else", status=1)
    talk.go.touch()
    talk.says("again", "1")
    talk.turns(4)
    assert talk.text().endswith("You said: three\nYou said: two again\n")
    assert "the agent has it" in talk.says("again", "1", status=1)


def test_an_unsure_prompt_is_dropped_and_the_rest_goes_on(talk: Conversation) -> None:
    talk.begin(f"forget\n{talk.busy}")
    talk.until_text("at work")
    talk.says("send", "one")
    killed(talk)
    talk.until(lambda: talk.row["state"] == "ended")
    talk.says("go-on")
    talk.until(lambda: talk.row["unsure"])
    talk.says("drop", "1")
    talk.until_text("You said: one")
    assert not talk.row["unsure"]


def test_a_secret_that_was_edited_away_is_not_sent(talk: Conversation) -> None:
    token = "ghp_" + "a1B2" * 9
    talk.begin(talk.busy)
    talk.until_text("at work")
    talk.says("send", f"with {token}")
    talk.says("send", "plain")
    (kept,) = talk.sandbox.project.glob("tasks/*/chats/c1/prompts/*")
    assert token in kept.read_text()
    talk.says("edit", "2", "without it")
    talk.says("edit", "3", f"now with {token}")
    talk.go.touch()
    talk.turns(3)
    assert "You said: without it\n" in talk.text()
    transcripts = (talk.sandbox.directory / "claude").rglob("*.jsonl")
    lines = [line for path in transcripts for line in path.read_text().splitlines()]
    assert [token in line for line in lines if '"role": "user"' in line] == [
        False,
        False,
        True,
    ]


def test_a_prompt_is_edited_in_an_editor_and_a_late_text_is_kept(talk: Conversation) -> None:
    talk.begin(talk.busy)
    talk.until_text("at work")
    talk.says("send", "one")

    def edited(script: str, status: int) -> bytes:
        env = {**talk.sandbox.env, "EDITOR": f"sh -c '{script}' edit"}
        person = Terminal([*SIDING, "chat", "edit", "2"], cwd=talk.sandbox.repo, env=env)
        assert person.finish() == status, person.seen
        return person.seen

    assert b"is changed" in edited('echo and two >>"$1"', 0)
    assert talk.waiting == ["one\nand two"]
    assert b"is as it was" in edited("true", 0)
    assert b"ended with 3" in edited("exit 3", 1)
    wait = f'touch {talk.go}; while [ ! -e {talk.go}ne ]; do sleep .05; done; echo late >"$1"'
    late = Terminal(
        [*SIDING, "chat", "edit", "2"],
        cwd=talk.sandbox.repo,
        env={**talk.sandbox.env, "EDITOR": f"sh -c '{wait}' edit"},
    )
    talk.turns(2)
    (talk.sandbox.directory / "gone").touch()
    assert late.finish() == 1
    assert b"prompt 2 is not edited: the agent has it" in late.seen
    kept = talk.sandbox.project.glob("tasks/*/chats/c1/edited-*.md")
    assert sorted(each.read_text() for each in kept) == ["late\n", "one\nand two\n"]


def test_what_a_killed_host_held_is_sent_when_somebody_goes_on(talk: Conversation) -> None:
    talk.begin(f"say at work\nwait {talk.go}\nlimit")
    talk.until_text("at work")
    talk.says("send", "next")
    talk.go.touch()
    talk.until(lambda: talk.row["state"] == "held")
    assert "siding chat go-on" in talk.says("queue")
    killed(talk)
    talk.until(lambda: talk.row["state"] == "ended")
    talk.says("edit", "2", "next again")
    talk.says("go-on")
    talk.until_text("You said: next again\n")
    assert not talk.events("unsure")
