"""What an agent asks is answered from the command line, once."""

from integration.chat.talks import Conversation


def test_a_permission_is_given_once_always_or_not(talk: Conversation) -> None:
    talk.begin("run touch one\nrun touch two\nrun touch three")
    talk.until(lambda: talk.row["asks"])
    talk.says("answer", "--yes")
    talk.until(lambda: (talk.row["asks"] or [{}])[0].get("ask") == "call-2")
    assert "--reason goes with --no" in talk.says("answer", "--yes", "--reason", "x", status=2)
    assert "--yes, --always or --no" in talk.says("answer", "--choose", "1", status=2)
    talk.says("answer", "--no", "--reason", "not two")
    talk.until(lambda: (talk.row["asks"] or [{}])[0].get("ask") == "call-3")
    decision = talk.row["asks"][0]["decision"]
    talk.says("answer", decision, "--always")
    talk.turns(1)
    ended = [each.get("text", "") for each in talk.events("tool-ended")]
    assert ended == ["", "not two", " (always)"]
    workspace = talk.sandbox.workspace()
    assert [(workspace / name).exists() for name in ("one", "two", "three")] == [True, False, True]
    assert "answered" in talk.says("answer", decision, "--yes", status=1)
    assert "it asks nothing now" in talk.says("answer", "--yes", status=1)


def test_a_question_is_answered_by_an_option_or_not(talk: Conversation) -> None:
    talk.begin("ask Which colour?\nask And then?\nask At last?")
    talk.until(lambda: talk.row["asks"])
    assert "one of: Red, Blue" in talk.says("answer", "--choose", "Green", status=2)
    assert "--choose one of: Red, Blue" in talk.says("answer", "--yes", status=2)
    talk.says("answer", "--choose", "blue")
    talk.until(lambda: (talk.row["asks"] or [{}])[0].get("ask") == "call-2")
    talk.says("answer", "--choose", "1=1")
    talk.until(lambda: (talk.row["asks"] or [{}])[0].get("ask") == "call-3")
    talk.says("answer", "--no", "--reason", "ask later")
    talk.turns(1)
    ended = [each["text"] for each in talk.events("tool-ended")]
    assert ended == ['{"Which colour?": "Blue"}', '{"And then?": "Red"}', "ask later"]


def test_who_answers_second_is_told_so(talk: Conversation) -> None:
    talk.begin("run touch one")
    talk.until(lambda: talk.row["asks"] and talk.row["asks"][0]["decision"])
    decision = talk.row["asks"][0]["decision"]
    talk.sandbox.siding("decide", "answer", decision, "--choose", "1=refuse")
    assert "answered" in talk.says("answer", decision, "--yes", status=1)
    talk.turns(1)
    assert not (talk.sandbox.workspace() / "one").exists()


def test_a_yes_in_one_task_is_none_in_another(talk: Conversation) -> None:
    """Each task has a run r1, and its agent's first ask may have the same id."""
    talk.begin("run touch one")
    talk.until(lambda: talk.row["asks"] and talk.row["asks"][0]["decision"])
    first = talk.row["asks"][0]
    talk.says("answer", "--yes")
    talk.turns(1)
    talk.sandbox.siding("chat", "claude", "run touch two", "--new", "other")
    talk.until(lambda: talk.row["asks"] and talk.row["asks"][0]["decision"])
    second = talk.row["asks"][0]
    assert second["ask"] == first["ask"]
    assert second["decision"] != first["decision"]
    talk.says("answer", "--no")
    talk.turns(1)
    assert not (talk.sandbox.workspace() / "two").exists()
    talk.sandbox.siding("stop", "--all", "--now", "-t", "talk", status=None)
