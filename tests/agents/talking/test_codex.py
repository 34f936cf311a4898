"""What holds for Codex alone, with the real client."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.at_terminal import AtTerminal
from agents.conftest import program
from agents.models import Call
from agents.talking.driver import Driven, said
from agents.talking.rows import ROWS, Place
from siding.agents.talking.port import Answer, Applied, Asked, Text, ToolEnded, Trouble, Troubled

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    if program("codex") is None:
        pytest.skip("codex is not installed (npm: @openai/codex)")
    found = Place(ROWS["codex"], tmp_path)
    yield found
    found.close()


def held(place: Place, **fields: object) -> Driven:
    """Start it, and do not wait until it is open."""
    hold = place.hold(**fields)
    driven = Driven(place.row.talking.opened(hold), hold, dict(place.sandbox.env))
    place.driven.append(driven)
    return driven


def answered(driven: Driven) -> str:
    return "".join(each.text for each in driven.turn() if isinstance(each, Text))


def test_the_settings_of_a_person_stay_and_modes_and_efforts_are_set(place: Place) -> None:
    settings = place.agent.settings / "config.toml"
    settings.write_text('[projects."/elsewhere"]\ntrust_level = "trusted"\n')
    before = settings.read_bytes()
    driven = place.begin(mode="auto", effort="low")  # it writes, so Codex would note its trust
    applied = next(each for each in driven.events if isinstance(each, Applied))
    assert (applied.mode, applied.effort) == ("auto", "low")
    place.model.says(["One."], ["Two."])
    driven.prompt("Say one")
    assert answered(driven) == "One."
    assert place.model.requests[-1]["reasoning"]["effort"] == "low"
    for mode in ("untrusted", "read-only", "full-access", "plan", "auto"):
        driven.talker.set(mode=mode, effort="high")
        applied = driven.until(Applied)
        assert (applied.mode, applied.effort) == (mode, "high")
    driven.prompt("Say two")
    assert answered(driven) == "Two."
    assert place.model.requests[-1]["reasoning"]["effort"] == "high"
    assert settings.read_bytes() == before


def test_a_conversation_is_held_once_and_is_free_after_a_kill(place: Place) -> None:
    driven = place.begin(["One."])
    driven.prompt("Say one")
    driven.turn()
    session = driven.talker.session
    second = held(place, session=session)
    trouble = second.until(Troubled)
    assert "open in another Codex" in trouble.message
    second.close()
    driven.kill()
    third = place.begin(["Two."], session=session)
    third.prompt("Say two")
    assert answered(third) == "Two."
    nothing = held(place, session="11111111-1111-4111-8111-111111111111")
    assert nothing.until(Troubled).trouble is Trouble.NO_SESSION


def test_it_is_handed_over_to_its_own_screen_and_back(place: Place) -> None:
    driven = place.begin(["Blue."])
    driven.prompt("The first colour?")
    driven.turn()
    session = driven.talker.session
    assert driven.close() == 0
    # Of a model that it knows it asks whether a newer one would not be better.
    options = place.hold().options[:-2]
    hold = place.hold(session=session, model="a-model", options=options)
    words = place.row.talking.own_screen(hold)
    trusted = f'projects={{"{place.workspace}"={{trust_level="trusted"}}}}'
    place.model.says(["Red."])
    place.sandbox.env["TERM"] = "xterm-256color"
    screen = AtTerminal(place.agent, alone=[*words[:2], "-c", trusted, *words[2:]])
    screen.until_shown("The first colour?")
    screen.until_shown("Blue.")
    screen.says("The second colour?", lambda: len(place.model.requests) > 0)
    screen.until_shown("Red.")
    assert screen.quits() == 0
    place.model.says(["Green."])
    back = place.begin(["Green."], session=session)
    back.prompt("The third colour?")
    assert answered(back) == "Green."
    request = said(place.model.requests[-1])
    assert [word for word in ("first", "second", "third") if f"The {word} colour?" in request] == [
        *("first", "second", "third")
    ]


SERVER = """
import json, sys
TOOL = {"name": "buy", "description": "Buys", "inputSchema": {"type": "object"}}
ANSWERS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "shop", "version": "1"},
    },
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"content": [{"type": "text", "text": "It is bought."}]},
}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": ANSWERS.get(asked["method"], {})}
        print(json.dumps(answer), flush=True)
"""


def test_a_tool_of_a_server_is_asked_about_denied_and_allowed_for_the_session(
    place: Place,
) -> None:
    program, words = json.dumps(sys.executable), json.dumps(["-c", SERVER])
    server = f"mcp_servers.shop={{command={program},args={words}}}"
    driven = place.begin(options=(*place.hold().options, "-c", server))
    buys = [Call("mcp__shop__buy", {"what": "milk"})]
    place.model.says(buys, ["Well."], buys, ["Bought."], buys, ["Again."])
    driven.prompt("Buy it")
    asked = driven.until(Asked)
    assert (asked.tool, asked.input, asked.can_always) == ("shop.buy", {"what": "milk"}, True)
    driven.talker.answer(asked.ask, Answer(allows=False, reason="because of the moon"))
    assert answered(driven) == "Well."
    assert "because of the moon" in said(place.model.requests[-1])
    assert "It is bought." not in said(place.model.requests[-1])
    driven.prompt("Buy it all the same")
    driven.talker.answer(driven.until(Asked).ask, Answer(allows=True, always=True))
    (tool,) = (each for each in driven.turn() if isinstance(each, ToolEnded))
    assert (tool.failed, tool.text) == (False, "It is bought.")
    driven.prompt("And again")
    events = driven.turn()
    assert not [each for each in events if isinstance(each, Asked)]
    assert [each.text for each in events if isinstance(each, ToolEnded)] == ["It is bought."]
