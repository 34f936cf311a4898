"""The talker of ACP: whatever an agent says, cut anywhere."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.acp.habits import UNKNOWN
from siding.agents.acp.talker import AcpTalker
from siding.agents.talking.port import (
    Event,
    How,
    Text,
    Thought,
    TurnEnded,
    Unread,
)
from unit.agents.acp.replay import AGENTS, Played, begun, hold, of, opened, recorded, turn

# -- Whatever it says ------------------------------------------------------------------------------


def test_what_is_not_understood_is_unread() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    assert [type(each) for each in played.hears("no json", "[1]", '{"a": 1}')] == [Unread] * 3
    assert isinstance(played.updates("moonrise", x=1)[0], Unread)
    assert isinstance(played.says(method="other/notice", params={})[0], Unread)
    other = {"sessionId": "b", "update": {"sessionUpdate": "agent_message_chunk"}}
    assert isinstance(played.says(method="session/update", params=other)[0], Unread)
    (unread,) = played.says(id="x", method="craft/drain", params=[])
    assert isinstance(unread, Unread)
    assert played.last == {
        "jsonrpc": "2.0",
        "id": "x",
        "error": {"code": -32601, "message": "Method not found: craft/drain"},
    }
    text = {"type": "text", "text": "on"}
    assert of(Text, played.updates("agent_message_chunk", content=text)) == [Text("on")]


def test_a_word_to_no_prompt_is_no_event() -> None:
    played = opened()
    text = {"type": "text", "text": "by the way"}
    (unread,) = played.updates("agent_message_chunk", content=text)
    assert isinstance(unread, Unread)


def test_a_thought_is_apart() -> None:
    played = begun("gemini")
    played.does("prompt", "p1", ["x"])
    content = {"type": "text", "text": "****\nHm."}
    assert of(Thought, played.updates("agent_thought_chunk", content=content)) == [Thought("Hm.")]
    content = {"type": "text", "text": "**Title**\nHm."}
    (thought,) = of(Thought, played.updates("agent_thought_chunk", content=content))
    assert thought.text == "**Title**\nHm."


def test_a_line_of_five_megabytes() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    text = {"type": "text", "text": "x" * (5 << 20)}
    (said,) = of(Text, played.updates("agent_message_chunk", content=text))
    assert len(said.text) == 5 << 20


@pytest.mark.parametrize("agent", AGENTS)
@given(data=st.data())
def test_bytes_may_be_cut_anywhere(agent: str, data: st.DataObject) -> None:
    lines = recorded(agent)["text"]
    whole = begun(agent)
    expected = turn(whole, lines)
    played = begun(agent)
    played.does("prompt", "p1", ["Words"])
    raw = played.bytes_of(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    events: list[Event] = []
    for begin, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
        events += played.talker.receive(raw[begin:end])
    assert events == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
NAMES = st.sampled_from(
    [
        *("content", "status", "title", "kind", "rawInput", "rawOutput", "locations", "toolCallId"),
        *("entries", "availableCommands", "configOptions", "currentModeId", "used", "size", "cost"),
    ]
)
KINDS = st.sampled_from(
    [
        *("agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"),
        *("available_commands_update", "config_option_update", "current_mode_update"),
        "usage_update",
    ]
)


@given(kind=KINDS, fields=st.dictionaries(NAMES, JSON), status=st.sampled_from(["", "completed"]))
def test_odd_fields_break_nothing(kind: str, fields: dict[str, Any], status: str) -> None:
    talker = AcpTalker(hold(), UNKNOWN)
    played = Played(talker)
    played.says(id=1, result={"protocolVersion": 1, **fields})
    played.says(id=2, result={"sessionId": "a-session", "modes": fields, **fields})
    played.does("prompt", "p1", ["x"])
    played.updates(kind, **({"status": status} if status else {}) | fields)
    params = {"toolCall": fields, "options": fields, "sessionId": "a-session", **fields}
    played.says(id=9, method="session/request_permission", params=params)
    end = played.says(id=3, result={"stopReason": "end_turn", "usage": fields, "_meta": fields})
    assert of(TurnEnded, end) == [TurnEnded(How.DONE)]
