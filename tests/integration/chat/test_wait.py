"""A script waits for a conversation, and its exit status says why it rests."""

from integration.chat.talks import Conversation, killed


def test_the_exit_status_says_why_a_conversation_rests(talk: Conversation) -> None:
    talk.begin("say one")
    assert "done" in talk.says("wait")
    assert talk.events("recorded")  # it can be undone now
    talk.says("send", talk.busy)
    talk.says("send", "say last")
    assert "still works" in talk.says("wait", "--timeout", "1s", status=124)
    talk.go.touch()
    talk.says("wait", "--turn")
    talk.says("wait")
    assert talk.text() == "one\nat work\nlast\n"
    talk.go.unlink()

    talk.says("send", "run touch it")
    assert "it asks: touch it" in talk.says("wait", status=5)
    (decision,) = talk.sandbox.json("chat", "wait", "--json", status=5)["decisions"]
    talk.says("answer", decision, "--yes")
    talk.says("wait")
    talk.says("send", talk.busy)
    talk.until(lambda: talk.text().endswith("at work\n"))
    talk.says("stop")
    assert "stopped" in talk.says("wait", status=1)

    talk.says("send", talk.busy)
    talk.says("send", "never")
    talk.until(lambda: talk.waiting == ["never"])
    killed(talk)
    assert "prompts wait" in talk.says("wait", status=5)
    talk.says("drop", "7")
    assert "its host was killed" in talk.says("wait", status=1)
    assert "--timeout 'x'" in talk.says("wait", "--timeout", "x", status=2)


def test_a_conversation_that_was_ended_is_done(talk: Conversation) -> None:
    talk.begin("say one")
    talk.says("wait")
    talk.says("end", "--now")
    talk.until(lambda: talk.row["state"] == "ended")
    talk.says("wait")
