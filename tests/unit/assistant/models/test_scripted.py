"""The scripted model answers as its script says, by the conversation alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from siding.assistant.loop.model import (
    BlockEnded,
    InputDelta,
    Message,
    StopReason,
    TextDelta,
    Trouble,
    Usage,
)
from siding.assistant.models.scripted import ScriptedModel
from unit.assistant.models.asking import ask, failure, request, returned, said, user

FIX = """
answers:
  - match: fix (\\S+)
    steps:
      - thinking: I should look first.
        text: I look at {1}.
        tools: [{Read: {file_path: "{1}"}}, {Bash: {command: ls}}]
      - results: 'return a - (?P<name>\\w)'
        tools: [{Edit: {file_path: "{1}", old_string: "a - {name}", new_string: "a + {name}"}}]
        otherwise: {text: This is not the file that I know.}
      - lacks: rror
        text: "{1} is fixed."
        used: {input: 1000, cache_read: 900, output: 7}
        otherwise: {text: The edit went wrong.}
  - {match: again, turn: 2, text: Once more}
  - {prompt: again, text: The first time}
otherwise: {text: I have no answer for this}
prices: {input: 2, output: 10}
"""

LOOKED = said(
    "I look at a.py.",
    {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py"}},
)


@pytest.fixture
def script(tmp_path: Path) -> Any:
    def write(text: str, name: str = "script.yaml") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return f"scripted:{tmp_path / name}"

    return write


def test_blocks_come_in_pieces_and_the_model_says_that_it_is_scripted(script: Any) -> None:
    answer = ask(ScriptedModel(), request(script(FIX), "Please fix a.py"))
    assert answer.started.model == "scripted"
    thought, text, read, shell = answer.blocks
    assert thought["thinking"] == "I should look first."
    assert text["text"] == "I look at a.py."
    assert (read["name"], read["input"]) == ("Read", {"file_path": "a.py"})
    assert read["id"] != shell["id"]
    assert answer.ended.reason is StopReason.TOOLS
    pieces = [event.text for event in answer.events if isinstance(event, TextDelta)]
    assert len(pieces) == 4
    assert "".join(pieces) == text["text"]
    typed = [event for event in answer.events if isinstance(event, InputDelta) and event.at == 2]
    assert json.loads("".join(event.json for event in typed)) == read["input"]


def test_an_answer_that_is_not_streamed_has_one_delta_for_each_block(script: Any) -> None:
    whole = ask(ScriptedModel(), request(script(FIX), "fix a.py", is_streamed=False))
    assert len(whole.events) == 2 + 2 * len(whole.blocks)


@pytest.mark.parametrize(
    ("results", "next_text"),
    [("    return a - b\n", ""), ("    return a * b\n", "This is not the file that I know.")],
)
def test_what_tools_returned_decides(script: Any, results: str, next_text: str) -> None:
    messages = [user("fix a.py"), LOOKED, user(returned("t1", results))]
    answer = ask(ScriptedModel(), request(script(FIX), *messages))
    assert answer.text == next_text
    if not next_text:
        assert answer.blocks[0]["input"]["new_string"] == "a + b"


def test_a_prompt_begins_anew_and_reminders_are_none(script: Any) -> None:
    reminder = "<system-reminder>The file has changed.</system-reminder>"
    edited = said({"type": "tool_use", "id": "t2", "name": "Edit", "input": {}})
    messages = [
        user(reminder, "fix a.py"),
        LOOKED,
        user(returned("t1", [{"type": "text", "text": "return a - b"}])),
        edited,
        user(returned("t2", "Edited"), reminder),
    ]
    name = script(FIX)
    last = ask(ScriptedModel(), request(name, *messages))
    assert last.text == "a.py is fixed."
    assert last.ended.usage == Usage(input=1000, cache_read=900, output=7)
    assert ScriptedModel().dollars(name, last.ended.usage) == pytest.approx(0.00207)
    wrong = [*messages[:-1], user(returned("t2", "Error: no such text"))]
    assert ask(ScriptedModel(), request(name, *wrong)).text == "The edit went wrong."
    more = [*messages, said("a.py is fixed."), user("again")]
    assert ask(ScriptedModel(), request(name, *more)).text == "Once more"
    assert ask(ScriptedModel(), request(name, "again")).text == "The first time"
    after = [*messages, said("a.py is fixed."), user("what else?")]
    assert ask(ScriptedModel(), request(name, *after)).text == "I have no answer for this"


def test_a_step_fails_as_often_as_it_says(script: Any) -> None:
    name = script("answers: [{text: Hello, fail: rate_limit, times: 2, after: 1.5, begun: true}]")
    model = ScriptedModel()
    for _ in range(2):
        error, events = failure(model, request(name))
        assert (error.trouble, error.status, error.after_s) == (Trouble.RATE, 429, 1.5)
        assert error.has_begun
        assert not [event for event in events if isinstance(event, BlockEnded)]
        assert [event for event in events if isinstance(event, TextDelta)]
    assert ask(model, request(name)).text == "Hello"


def test_what_fails_before_an_answer_begins_yields_nothing(script: Any) -> None:
    error, events = failure(ScriptedModel(), request(script("otherwise: {fail: login}")))
    assert (error.trouble, error.status, error.has_begun, events) == (Trouble.LOGIN, 401, False, [])


def test_an_input_that_is_no_object_is_marked(script: Any) -> None:
    name = script(json.dumps({"answers": [{"tools": [{"Read": '{"file'}]}]}), "a.json")
    answer = ask(ScriptedModel(), request(name))
    assert answer.blocks[0]["input"] == {"_invalid": '{"file'}


def test_limits_and_stop_reasons_are_the_scripts(script: Any) -> None:
    name = script("{limits: {window: 9000}, otherwise: {text: a, stop: max_tokens}}")
    assert ScriptedModel().limits(name).window == 9000
    assert ask(ScriptedModel(), request(name)).ended.reason is StopReason.MAX_OUTPUT


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "a script has a list of `answers`"),
        ("answers: [{txt: a}]", "answer 1 has no txt"),
        ("answers: [{steps: [{text: a}, {tools: [Read]}]}]", "answer 1, step 2: a tool should"),
        ("answers: [{match: '('}]", "match is no regular expression"),
        ("otherwise: {fail: broken}", "fail should be one of overloaded"),
        ("otherwise: {used: {tokens: 1}}", "used has no tokens"),
        ("answers: [", "cannot be read"),
    ],
)
def test_a_script_with_a_mistake_says_where(script: Any, text: str, said: str) -> None:
    error, _ = failure(ScriptedModel(), request(script(text)))
    assert error.trouble is Trouble.SETUP
    assert said in error.message


def test_a_script_without_an_answer_says_for_what(script: Any) -> None:
    error, _ = failure(ScriptedModel(), request(script("answers: []"), "Sing a song"))
    assert (error.trouble, "Sing a song" in error.message) == (Trouble.REQUEST, True)
    error, _ = failure(ScriptedModel(), request("scripted:/nowhere.yaml"))
    assert error.trouble is Trouble.SETUP


def test_a_conversation_begins_with_what_is_left_of_it(script: Any) -> None:
    """After compaction a call may have no prompt before it: nothing breaks."""
    messages: list[Message] = [said("Hello"), user(returned("t", ""))]
    assert ask(ScriptedModel(), request(script(FIX), *messages)).text
