"""The stream of JSON: each event as its lines, and what holds for all of them."""

import json
from itertools import count
from typing import Any, get_args

import pytest

from siding.assistant.front_end import (
    Answered,
    AnswerStarted,
    Call,
    Compacted,
    Compacting,
    CompactingFailed,
    Continued,
    Denial,
    Ending,
    Event,
    FellBack,
    InputDelta,
    ModelUse,
    Progress,
    Result,
    Retrying,
    Said,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolDenied,
    ToolEnded,
    ToolStarted,
    Transition,
    Trouble,
    TurnEnded,
    TurnStarted,
    Usage,
    Use,
    Withdrawn,
)
from siding.faces.cli.assistant.stream_json import Facts, Translator, exit_status

USED = Usage(10, 5, 100, 20)
CALL = Call("t1", "Bash", {"command": "ls"})
THOUGHT = {"type": "thinking", "thinking": "Well."}
TEXT = {"type": "text", "text": "Hello there."}
TOOL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
ANSWER = (
    AnswerStarted("a1", "m", USED),
    ThinkingDelta(0, "Well."),
    Said("u1", "a1", "m", THOUGHT, USED),
    TextDelta(1, "Hello "),
    TextDelta(1, "there."),
    Said("u2", "a1", "m", TEXT, USED),
    InputDelta(2, "t1", "Bash", '{"command":'),
    InputDelta(2, "t1", "Bash", ' "ls"}'),
    Said("u3", "a1", "m", TOOL, USED),
    Answered("a1", "m", StopReason.TOOLS, USED, 0.5),
)


def ended(ending: Ending = Ending.COMPLETED, **more: Any) -> TurnEnded:
    return TurnEnded(
        ending, "Hello there.", 2, {"m": ModelUse(USED, 0.5, 2)}, [], 1.25, 0.75, **more
    )


ALL = (
    TurnStarted("p1"),
    *ANSWER,
    ToolStarted(CALL, Use()),
    Progress("t1", "a"),
    ToolEnded("u4", CALL, Result("a.txt", details={"stdout": "a.txt"}), 0.1),
    ToolDenied(CALL, "not here"),
    Withdrawn("a1", ["u1"]),
    Retrying(1, 10, 0.5, Trouble.OVERLOADED, 529, "too much"),
    FellBack("n", "m", "overloaded"),
    Compacting("auto", 9),
    Compacted("b1", "auto", 9, "so far"),
    CompactingFailed("no"),
    Continued(Transition.NEXT),
    ended(),
)


def translator(**more: Any) -> Translator:
    numbers = count(1)
    return Translator(Facts("s1", "/w", "m"), lambda: f"n{next(numbers)}", **more)


def lines(*events: Event, **more: Any) -> list[dict[str, Any]]:
    made = translator(**more)
    return [line for event in events for line in made.lines(event)]


def test_every_event_is_translated_to_json_of_this_session() -> None:
    assert {type(event) for event in ALL} == set(get_args(Event))
    found = lines(*ALL, has_partial=True)
    assert json.loads(json.dumps(found)) == found
    assert {line["session_id"] for line in found} == {"s1"}
    ids = [line["uuid"] for line in found]
    assert len(ids) == len(set(ids))


def test_the_lines_of_a_conversation() -> None:
    kinds = [f"{line['type']} {line.get('subtype', '')}".strip() for line in lines(*ALL)]
    assert kinds == [
        "system init",
        "assistant",
        "assistant",
        "assistant",
        "user",
        "system permission_denied",
        "system answer_withdrawn",
        "system api_retry",
        "system model_fallback",
        "system status",
        "system status",
        "system compact_boundary",
        "system status",
        "result success",
    ]


def test_a_try_that_comes_says_when_in_milliseconds_and_why() -> None:
    (line,) = (
        each
        for each in lines(*ALL, Retrying(2, 10, 2.5, Trouble.SERVER, None, "no"))
        if each.get("subtype") == "api_retry" and each["attempt"] == 2
    )
    assert (line["retry_delay_ms"], line["max_retries"], line["error_status"]) == (2500, 10, None)
    assert (line["error"], line["message"]) == (Trouble.SERVER.value, "no")


def replayed(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the blocks of an answer together, as a client does; their numbers have no gaps."""
    blocks: list[dict[str, Any]] = []
    texts: list[str] = []
    open_at: set[int] = set()
    for event in events:
        match event["type"]:
            case "content_block_start":
                assert event["index"] == len(blocks)
                blocks.append(dict(event["content_block"]))
                texts.append("")
                open_at.add(event["index"])
            case "content_block_delta":
                assert event["index"] in open_at
                texts[event["index"]] += next(
                    value for key, value in event["delta"].items() if key != "type"
                )
            case "content_block_stop":
                open_at.remove(event["index"])
                block, text = blocks[event["index"]], texts[event["index"]]
                if block["type"] == "tool_use":
                    block["input"] = json.loads(text)
                elif text:
                    block[block["type"]] = text
    assert not open_at
    return blocks


@pytest.mark.parametrize(
    "events",
    [
        ANSWER,
        tuple(each for each in ANSWER if not isinstance(each, TextDelta | InputDelta)),
        tuple(each for each in ANSWER if not isinstance(each, ThinkingDelta)),
    ],
    ids=["all deltas", "thoughts only", "no thoughts"],
)
def test_what_streams_adds_up_to_the_blocks(events: tuple[Event, ...]) -> None:
    found = [line["event"] for line in lines(*events, has_partial=True) if "event" in line]
    assert (found[0]["type"], found[-1]["type"]) == ("message_start", "message_stop")
    assert replayed(found) == [{**THOUGHT, "signature": ""}, TEXT, TOOL]


def test_a_block_that_has_no_deltas_of_a_known_kind_comes_whole() -> None:
    hidden = {"type": "redacted_thinking", "data": "x"}
    events = (ANSWER[0], Said("u1", "a1", "m", hidden, USED), ANSWER[-1])
    found = [line["event"] for line in lines(*events, has_partial=True) if "event" in line]
    assert replayed(found) == [hidden]


def test_an_answer_after_one_that_broke_off_begins_anew() -> None:
    made = translator(has_partial=True)
    for event in (*ANSWER[:4], Withdrawn("a1", ["u1"])):
        made.lines(event)
    found = [line["event"] for each in ANSWER for line in made.lines(each) if "event" in line]
    assert replayed(found) == [{**THOUGHT, "signature": ""}, TEXT, TOOL]


def test_a_block_is_told_before_it_ends() -> None:
    found = lines(*ANSWER[:3], has_partial=True)
    kinds = [line["event"]["type"] if "event" in line else line["type"] for line in found]
    assert kinds[-2:] == ["assistant", "content_block_stop"]


@pytest.mark.parametrize(
    ("ending", "subtype", "failed", "status"),
    [
        (Ending.COMPLETED, "success", False, 0),
        (Ending.STOPPED, "success", False, 0),
        (Ending.INTERRUPTED, "error_during_execution", True, 130),
        (Ending.MAX_TURNS, "error_max_turns", True, 1),
        (Ending.MAX_BUDGET, "error_max_budget_usd", True, 1),
        (Ending.MAX_TOKENS, "success", True, 1),
        (Ending.MODEL_ERROR, "success", True, 1),
        (Ending.TOO_LONG, "success", True, 1),
        (Ending.NO_OBJECT, "error_max_structured_output_retries", True, 1),
    ],
)
def test_how_a_turn_ends(ending: Ending, subtype: str, failed: bool, status: int) -> None:
    [line] = lines(ended(ending, error="why", status=529))
    assert (line["subtype"], line["is_error"], line["api_error_status"]) == (subtype, failed, 529)
    assert exit_status(ending) == status
    if subtype == "success":
        assert line["result"] == ("why" if failed else "Hello there.")
    else:
        assert line["errors"] == ["why"]
        assert "result" not in line


def test_sums_are_of_the_conversation_and_usage_is_of_the_turn() -> None:
    made = translator(used={"n": ModelUse(Usage(1), 1.0, 1)})
    made.lines(ended())
    [line] = made.lines(ended())
    assert line["total_cost_usd"] == 2.0
    assert line["usage"]["input_tokens"] == 10
    assert line["modelUsage"]["m"]["inputTokens"] == 20
    assert set(line["modelUsage"]) == {"m", "n"}
    assert line["model_usage_since_last_result"]["m"]["costUSD"] == 0.5


def test_a_price_that_is_not_known_is_no_price() -> None:
    made = translator(used={"n": ModelUse(Usage(1), None, 1)})
    [line] = made.lines(ended())
    assert line["total_cost_usd"] is None
    assert line["modelUsage"]["n"]["costUSD"] is None


def test_denials_and_the_object_are_in_the_result() -> None:
    event = ended(object={"a": 1})._replace(denials=[Denial(CALL, "no")])
    [line] = lines(event)
    assert line["permission_denials"] == [
        {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls"}}
    ]
    assert line["structured_output"] == {"a": 1}


def test_a_failed_tool_says_so_and_its_blocks_are_kept() -> None:
    blocks = ({"type": "text", "text": "a"},)
    [good] = lines(ToolEnded("u1", CALL, Result(blocks), 0.1))
    [bad] = lines(ToolEnded("u1", CALL, Result("no", is_error=True), 0.1))
    assert good["message"]["content"][0]["content"] == [*blocks]
    assert "is_error" not in good["message"]["content"][0]
    assert bad["message"]["content"][0]["is_error"] is True
    assert bad["tool_use_result"] == "no"


def test_the_next_turn_tells_the_model_that_answers_now() -> None:
    found = lines(TurnStarted("p1"), FellBack("n", "m", "overloaded"), TurnStarted("p2"))
    assert [line["model"] for line in found] == ["m", "n", "n"]
