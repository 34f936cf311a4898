"""What an agent works with is changed from the command line, and said as the agent has it."""

from integration.chat.talks import Conversation


def test_settings_are_read_back_and_a_refusal_is_said(talk: Conversation) -> None:
    talk.begin("hello", "--model", "large", "--mode", "plan", "--effort", "low")
    talk.turns(1)
    talk.until(lambda: "model large · mode plan · effort low" in talk.says("set"))
    assert "modes: default, acceptEdits, plan" in talk.says("set")
    said = talk.says("set", "--model", "tiny", "--mode", "default", "--effort", "high")
    assert "model tiny · mode default · effort high" in said
    said = talk.says("set", "--effort", "endless")
    assert "the effort is high, and endless was asked for" in said
    refused = talk.says("set", "--model", "unknown", status=1)
    assert "there is no model 'unknown'" in refused
    assert "what holds: model tiny" in refused
    assert "'nothing' is no mode" in talk.says("set", "--mode", "nothing", status=1)

    talk.end()
    assert "begins so with the next prompt" in talk.says("set", "--model", "other")
    talk.says("send", "again")
    talk.turns(2)
    set_ = talk.sandbox.json("chat", "set", "--json")
    assert (set_["model"], set_["mode"], set_["effort"]) == ("other", "default", "high")


def test_what_an_agent_cannot_is_refused_with_the_reason(talk: Conversation) -> None:
    done = talk.sandbox.siding("chat", "gemini", "x", "--effort", "low", "--new", "t", status=2)
    assert b"the effort of gemini cannot be set" in done.stderr
    done = talk.sandbox.siding("chat", "nobody", "x", "--new", "t", status=2)
    assert b"'nobody' cannot be held" in done.stderr
    assert not list((talk.sandbox.directory / "siding").glob("projects/*/tasks/*"))


def test_it_is_made_shorter_between_turns(talk: Conversation) -> None:
    talk.begin(talk.busy)
    talk.until_text("at work")
    talk.says("compact")
    talk.go.touch()
    talk.says("wait")
    assert talk.events("compacted")
    events = [each["event"] for each in talk.story]
    assert events.index("compacted") > events.index("turn-ended")
    talk.says("compact")
    talk.says("wait")
    assert len(talk.events("compacted")) == 2
    assert talk.sandbox.json("chat", "commands", "--json")[0] == {
        "name": "/compact",
        "about": "Make the conversation shorter",
    }
    assert "/review" in talk.says("commands")
