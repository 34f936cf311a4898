"""The talker of ACP: what an agent asks, and how it is answered."""

import json
from typing import Any

import pytest

from siding.agents.talking.port import (
    Answer,
    Asked,
    AskGone,
    Event,
    ToolEnded,
    Troubled,
)
from unit.agents.acp.replay import (
    Played,
    begun,
    of,
    opened,
    recorded,
    turn,
)

# -- Permissions -----------------------------------------------------------------------------------


def ask(played: Played, *options: tuple[str, str], **call: Any) -> list[Event]:
    """Have it ask for a tool; `options` are kinds and ids."""
    given = [{"kind": kind, "optionId": its, "name": its} for kind, its in options]
    params = {
        "sessionId": "a-session",
        "options": given,
        "toolCall": {"toolCallId": "c1", "title": "Do it", **call},
    }
    return played.hears(
        json.dumps({"id": 0, "method": "session/request_permission", "params": params}),
        answer=None,
    )


def test_allowing_for_good_writes_no_file() -> None:
    """Gemini CLI has a way that holds for the session; both ways of Qwen Code write a rule."""
    always = Answer(allows=True, always=True)
    gemini = begun("gemini")
    events = turn(gemini, recorded("gemini")["always"], always)
    assert [each.can_always for each in of(Asked, events)] == [True]
    assert {"outcome": "selected", "optionId": "proceed_always"} in [
        each["result"]["outcome"] for each in gemini.sent if "result" in each
    ]
    qwen = begun("qwen")
    events = turn(qwen, recorded("qwen")["shell"], always)
    assert [each.can_always for each in of(Asked, events)] == [False]
    assert {"outcome": "selected", "optionId": "proceed_once"} in [
        each["result"]["outcome"] for each in qwen.sent if "result" in each
    ]


def test_an_option_that_is_kept_on_disk_is_not_the_one_of_the_session() -> None:
    gemini = begun("gemini")
    gemini.does("prompt", "p1", ["x"])
    saved = ("allow_always", "proceed_always_and_save")
    (asked,) = of(Asked, ask(gemini, saved, ("allow_once", "once"), ("reject_once", "no")))
    assert not asked.can_always
    gemini.does("answer", asked.ask, Answer(allows=True, always=True))
    assert gemini.last["result"]["outcome"]["optionId"] == "once"


def test_an_ask_without_a_way_to_allow_once_is_refused_and_told() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    (asked,) = of(Asked, ask(played, ("allow_always", "ever"), ("reject_once", "no")))
    (trouble,) = played.does("answer", asked.ask, Answer(allows=True))
    assert isinstance(trouble, Troubled)
    assert played.last["result"] == {"outcome": {"outcome": "cancelled"}}


def test_a_rejection_for_good_is_never_chosen() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    (asked,) = of(Asked, ask(played, ("allow_once", "yes"), ("reject_always", "never")))
    played.does("answer", asked.ask, Answer(allows=False))
    assert played.last["result"] == {"outcome": {"outcome": "cancelled"}}


def test_the_id_of_an_ask_may_be_zero_and_comes_again() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    options = (("allow_once", "yes"), ("reject_once", "no"))
    (first,) = of(Asked, ask(played, *options))
    played.does("answer", first.ask, Answer(allows=True))
    assert played.last["id"] == 0
    (second,) = of(Asked, ask(played, *options))
    assert second.ask != first.ask
    assert played.does("answer", first.ask, Answer(allows=True)) == []
    assert "method" in played.sent[-2] or played.last["id"] == 0
    played.does("answer", second.ask, Answer(allows=False))
    assert played.last["result"]["outcome"]["optionId"] == "no"


def test_an_ask_after_a_stop_is_withdrawn_at_once() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    played.does("stop")
    assert of(Asked, ask(played, ("allow_once", "yes"), ("reject_once", "no"))) == []
    assert played.last["result"] == {"outcome": {"outcome": "cancelled"}}


def test_an_ask_that_is_open_as_the_turn_ends_is_gone() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    (asked,) = of(Asked, ask(played, ("allow_once", "yes")))
    events = played.says(id=3, result={"stopReason": "end_turn"})
    assert AskGone(asked.ask) in events
    assert ToolEnded("c1", failed=True) in events
    assert played.last["result"] == {"outcome": {"outcome": "cancelled"}}


@pytest.mark.parametrize(
    ("fields", "command", "cwd"),
    [
        ({"rawInput": {"command": ["ls", "a b"]}, "kind": "execute"}, "ls 'a b'", ""),
        ({"rawInput": {"cmd": "ls", "workdir": "/w/x"}, "kind": "execute"}, "ls", "/w/x"),
        ({"title": "`rm -rf x`", "kind": "execute"}, "rm -rf x", ""),
        ({"title": "a.txt", "kind": "edit", "rawInput": {"command": "insert"}}, "", ""),
    ],
)
def test_the_command_of_an_ask(fields: dict[str, Any], command: str, cwd: str) -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    (asked,) = of(Asked, ask(played, ("allow_once", "yes"), **fields))
    assert (asked.command, asked.cwd) == (command, cwd)
