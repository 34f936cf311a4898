"""What `siding decide` takes and prints: any way in, and the letters that were written."""

import json
from typing import Any

import pytest

from sandbox import Sandbox

OPTIONS = [{"value": "甲", "label": "第一"}, {"value": "b", "label": "é"}]
QUESTION: dict[str, Any] = {
    "task": "登录",
    "source": "plan.md",
    "items": [{"id": 1, "title": "怎么办", "options": OPTIONS}],
}


def asked(sandbox: Sandbox) -> str:
    done = sandbox.siding("decide", "--file", "-", "--no-wait", stdin=json.dumps(QUESTION).encode())
    return done.stdout.decode().strip()


def test_a_dash_is_standard_input_for_the_flag_too(sandbox: Sandbox) -> None:
    session = asked(sandbox)
    assert sandbox.json("decide", "show", session, "--json")["input"]["task"] == "登录"
    both = sandbox.siding("decide", "-", "--file", "-", status=2, stdin=b"{}")
    assert b"one question is needed" in both.stderr


def test_an_answer_is_printed_in_its_own_letters_and_stays_json(sandbox: Sandbox) -> None:
    session = asked(sandbox)
    note = "因为 \u202edrow\u2028 \x07 \U0001f600"
    answers = [{"id": 1, "chosen": "甲", "note": note}]
    sandbox.siding(
        "decide", "answer", session, "--answers", "-", stdin=json.dumps(answers).encode()
    )
    raw = sandbox.siding("decide", "result", session).stdout
    assert "甲".encode() in raw
    assert "\U0001f600".encode() in raw
    assert raw.count(b"\n") == 1
    assert b"\\u202e" in raw
    assert b"\\u2028" in raw
    assert json.loads(raw)["decisions"][0]["note"] == note
    for name in ("ascii", "latin-1"):
        plain = sandbox.siding("decide", "result", session, env={"PYTHONIOENCODING": name}).stdout
        assert json.loads(plain.decode("latin-1")) == json.loads(raw)


@pytest.mark.parametrize("text", ["[]", "  [1]", '"text"'])
def test_json_that_is_no_object_is_told_what_it_lacks(sandbox: Sandbox, text: str) -> None:
    done = sandbox.siding("decide", text, status=1)
    assert b"it is not a JSON object" in done.stderr
    assert b'{"task":' in done.stderr


def test_a_second_start_says_how_a_pass_is_ended(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "T")
    sandbox.siding("phase", "start", "impl", "begin")
    refused = sandbox.siding("phase", "start", "impl", "begin", status=1)
    assert b"`siding phase start --again`" in refused.stderr
    other = sandbox.siding("phase", "next-part", "finish", "x", status=1)
    assert b"--again" not in other.stderr


def test_a_merge_is_not_told_as_a_rollback(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "T")
    sandbox.siding("run", "--no-tty", "--", "sh", "-c", "echo theirs >hello.txt")
    (sandbox.repo / "hello.txt").write_text("mine\n")
    sandbox.git("commit", "-qam", "mine")
    sandbox.siding("apply", "--resolve")
    for words in (("log",), ("show", "2"), ("status",)):
        said = sandbox.siding(*words).stdout.decode()
        assert "merge" in said, said
        assert "rollback" not in said, said


def test_a_question_in_words(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    asked = sandbox.siding("decide", "Which database?", "postgres", "sqlite", "--no-wait")
    session = asked.stdout.decode().strip()
    sandbox.siding("decide", "answer", session, "--choose", "1=sqlite")
    told = json.loads(sandbox.siding("decide", "result", session).stdout)
    assert [each["chosen"] for each in told["decisions"]] == ["sqlite"]
    asked = sandbox.siding("decide", "What shall it be called?", "--no-wait")
    shown = sandbox.siding("decide", "show", asked.stdout.decode().strip()).stdout
    assert b"1. What shall it be called?  [write an answer]" in shown


def test_a_question_in_a_file_however_it_is_called(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    item = {"id": 1, "title": "How?", "kind": "text"}
    question = json.dumps({"task": "x", "source": "y", "items": [item]})
    for name in ("question.json", "my question.json"):
        (sandbox.repo / name).write_text(question)
        sandbox.siding("decide", "submit", name, "--no-wait")
    assert b"there is no file" in sandbox.siding("decide", "submit", "none", status=1).stderr
    said = sandbox.siding("decide", "submit", '{"task": "torn', "--no-wait", status=1).stderr
    assert b"it is not JSON" in said
