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


def test_an_ask_is_answered_by_whatever_it_is_called_and_from_any_task(talk: Conversation) -> None:
    talk.begin("run touch one\nrun touch two\nrun touch three")
    talk.says("send", "ask Which colour?")
    talk.sandbox.siding("task", "start", "elsewhere")
    here = talk.sandbox.json("task", "list", "--format", "json")
    (task,) = [each["id"] for each in here if each["name"] == "talk"]
    siding = talk.sandbox.siding

    def put(number: int) -> dict[str, str]:
        talk.until(lambda: len(talk.events("put")) == number)
        talk.until(lambda: talk.sandbox.json("inbox", "--json"))
        (found,) = talk.sandbox.json("inbox", "--json")
        return {"inbox": found["id"], "address": found["address"], **talk.events("put")[-1]}

    siding("chat", "answer", put(1)["inbox"], "--yes")
    siding("decide", "answer", put(2)["inbox"], "--choose", "1=refuse")
    siding("decide", "answer", put(3)["ask"], "--choose", "1=run")
    siding("chat", "answer", put(4)["address"], "--choose", "Blue")
    talk.turns(2)
    assert [each["allows"] for each in talk.events("answered")] == [True, False, True, True]
    assert talk.events("answered")[-1]["choices"] == {"Which colour?": "Blue"}
    project = talk.sandbox.project.name
    other = siding("decide", "answer", f"not-{project}/decision/{task}/d1", status=1)
    assert f"is of the project 'not-{project}'" in other.stderr.decode()
