"""What is taken out before a conversation goes on, and how its end is told."""

from itertools import count

import pytest

from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.messages import blocks_of, text_of
from siding.agents.transcripts.reading.recovery import (
    CONTINUE,
    CUT_OFF_RESULT,
    ENDINGS,
    NO_RESPONSE,
    ConversationEnding,
    Last,
    ending_of,
    mended,
    recover,
)

from .building import at, called, line, result, said


def recovered(records: list[Record]) -> tuple[ConversationEnding, list[str], Record | None]:
    numbers = count(1)
    found = recover(line(records), new_id=lambda: f"new-{next(numbers)}", now=at(99), cwd="/w")
    return found.found, [record["uuid"] for record in found.records], found.prompt


def test_every_last_message_has_an_ending() -> None:
    assert set(ENDINGS) == set(Last)


def test_a_prompt_without_an_answer_waits_for_one() -> None:
    ending, ids, prompt = recovered([said("u1", None, 1)])
    assert (ending, ids) == (ConversationEnding.CUT_OFF_PROMPT, ["u1", "new-1"])
    assert prompt is not None
    assert prompt["uuid"] == "u1"


def test_a_turn_cut_off_in_its_tools_goes_on_with_a_hidden_prompt() -> None:
    records = [said("u1", None, 1), called("a1", None, 2, "t1"), result("r1", None, 3, "t1")]
    ending, ids, prompt = recovered(records)
    assert (ending, ids) == (ConversationEnding.CUT_OFF_TURN, ["u1", "a1", "r1", "new-1", "new-2"])
    assert prompt is not None
    assert prompt["isMeta"] is True
    assert text_of(prompt) == CONTINUE


@pytest.mark.parametrize("tool", ["SendUserMessage", "Brief", "SendUserFile"])
def test_the_result_of_a_tool_that_tells_the_person_ends_the_turn(tool: str) -> None:
    call = called("a1", None, 2, "t1")
    call["message"]["content"][0]["name"] = tool
    ending, _, _ = recovered([said("u1", None, 1), call, result("r1", None, 3, "t1")])
    assert ending is ConversationEnding.COMPLETE


def test_the_silent_answer_stands_right_behind_the_last_user_message() -> None:
    records = [said("u1", None, 1), said("s1", None, 2, "system"), said("s2", None, 3, "system")]
    numbers = count(1)
    found = recover(records, new_id=lambda: f"new-{next(numbers)}", now=at(9))
    assert [each["uuid"] for each in found.records] == ["u1", "new-1", "s1", "s2"]
    assert text_of(found.records[1]) == NO_RESPONSE


def test_calls_nobody_answered_go_with_all_their_message_said() -> None:
    open_call = called("a1", None, 2, "t1")
    open_call["message"]["content"].insert(0, {"type": "text", "text": "let me see"})
    _, ids, _ = recovered([said("u1", None, 1), open_call, said("u2", None, 3)])
    assert ids == ["u1", "u2", "new-1"]


def _text(uuid: str, answer: str, text: str) -> Record:
    message = {"id": answer, "role": "assistant", "content": [{"type": "text", "text": text}]}
    return said(uuid, None, 2, "assistant", message=message)


def test_a_call_nobody_answered_at_the_end_is_a_turn_that_was_cut_off() -> None:
    """The tool may have done its work: the model must know that it called it."""
    records = [
        said("u1", None, 1),
        _text("a1", "M", "I run it."),
        called("a2", None, 3, "t1", answer="M"),
        called("a3", None, 3, "t2", answer="M"),
    ]
    ending, ids, prompt = recovered(records)
    assert (ending, ids) == (
        ConversationEnding.CUT_OFF_TURN,
        ["u1", "a1", "a2", "a3", "new-1", "new-2"],
    )
    assert prompt is not None
    assert text_of(prompt) == CONTINUE
    results = [each for each in blocks_of(prompt) if each["type"] == "tool_result"]
    assert [(each["tool_use_id"], each["content"]) for each in results] == [
        ("t1", CUT_OFF_RESULT),
        ("t2", CUT_OFF_RESULT),
    ]


def test_of_parallel_calls_only_those_without_a_result_were_cut_off() -> None:
    records = [
        said("u1", None, 1),
        called("a1", None, 2, "t1", answer="M"),
        called("a2", None, 3, "t2", answer="M"),
        result("r1", None, 4, "t1"),
    ]
    ending, ids, prompt = recovered(records)
    assert (ending, ids[:4]) == (ConversationEnding.CUT_OFF_TURN, ["u1", "a1", "a2", "r1"])
    assert prompt is not None
    results = [each for each in blocks_of(prompt) if each["type"] == "tool_result"]
    assert [each["tool_use_id"] for each in results] == ["t2"]


@pytest.mark.parametrize("last", ["system", "attachment"])
def test_what_a_program_notes_behind_a_call_does_not_answer_it(last: str) -> None:
    records = [said("u1", None, 1), called("a1", None, 2, "t1"), said("s1", None, 3, last)]
    ending, ids, _ = recovered(records)
    assert (ending, ids[:3]) == (ConversationEnding.CUT_OFF_TURN, ["u1", "a1", "s1"])


def test_a_call_that_was_given_up_long_ago_is_taken_out() -> None:
    records = [
        said("u1", None, 1),
        called("a1", None, 2, "t1"),
        said("u2", None, 3),
        said("a2", None, 4, "assistant"),
    ]
    assert recovered(records)[:2] == (ConversationEnding.COMPLETE, ["u1", "u2", "a2"])


def test_thoughts_stay_when_their_answer_has_other_lines() -> None:
    def thought(uuid: str, answer: str) -> Record:
        block = {"type": "thinking", "thinking": "hm", "signature": "s"}
        message = {"id": answer, "role": "assistant", "content": [block]}
        return said(uuid, None, 2, "assistant", message=message)

    text = {"id": "M", "role": "assistant", "content": [{"type": "text", "text": "so"}]}
    records = [
        said("u1", None, 1),
        thought("a1", "M"),
        said("a2", None, 3, "assistant", message=text),
        thought("a3", "N"),
    ]
    assert [each["uuid"] for each in mended(line(records))] == ["u1", "a1", "a2"]


def test_users_around_a_blank_answer_become_one_with_results_first() -> None:
    blank = said("a1", None, 2, "assistant")
    blank["message"]["content"] = [{"type": "text", "text": " \n"}]
    records = [
        called("a0", None, 0, "t1"),
        said("u1", None, 1, isMeta=True),
        blank,
        result("r1", None, 3, "t1"),
    ]
    found = mended(line(records))
    assert [each["uuid"] for each in found] == ["a0", "r1"]
    assert [block["type"] for block in blocks_of(found[1])] == ["tool_result", "text"]


def test_old_attachments_and_unknown_modes_are_brought_up_to_date() -> None:
    old = said("t1", None, 1, "attachment", attachment={"type": "new_file", "filename": "/w/a/b"})
    odd = said("u1", None, 2, permissionMode="nonsense")
    good = said("u2", None, 3, permissionMode="plan")
    found = mended([old, odd, good], cwd="/w")
    assert found[0]["attachment"] == {"type": "file", "filename": "/w/a/b", "displayPath": "a/b"}
    assert "permissionMode" not in found[1]
    assert found[2]["permissionMode"] == "plan"
    assert old["attachment"]["type"] == "new_file"  # what was read stays as it was


def test_nothing_is_complete() -> None:
    assert ending_of([]) == (ConversationEnding.COMPLETE, -1)
    assert recovered([]) == (ConversationEnding.COMPLETE, [], None)
