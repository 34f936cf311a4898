"""Any program that speaks ACP is held by its command line: here one made with the protocol's SDK.

The SDK reads each of our messages by the schema, so it would refuse one that is not of ACP.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.calls import acp_agent
from agents.talking.driver import Driven
from siding.agents.acp.talking import ANY
from siding.agents.talking.abilities import Evidence
from siding.agents.talking.port import (
    Answer,
    Asked,
    Event,
    Hold,
    How,
    Picture,
    Text,
    ToolEnded,
    TurnEnded,
)

TABLE: dict[str, Any] = {
    "hello": {"text": "Hello there."},
    "make": {"command": "touch made", "text": "Made."},
    "refuse": {"stop": "refusal", "text": "No."},
    "write": {"write": {"written": "x"}, "text": "I tried."},
    "before": {"text": "before: {before}"},
}


class Program:
    """A place in which the program is held."""

    def __init__(self, directory: Path) -> None:
        self.workspace = directory / "w"
        self.workspace.mkdir()
        self._table = directory / "table.json"
        self._table.write_text(json.dumps(TABLE))
        program = (sys.executable, acp_agent.__file__, str(self._table))
        self._hold = Hold(program, cwd=self.workspace, directory=str(directory / "files"))
        self.driven: list[Driven] = []

    def begin(self, session: str = "") -> Driven:
        hold = self._hold._replace(session=session)
        driven = Driven(ANY.opened(hold), hold, {"PATH": "/usr/bin:/bin"})
        self.driven.append(driven)
        driven.opened()
        return driven


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    found = Program(tmp_path)
    yield found
    for driven in found.driven:
        driven.close()


def said(events: Sequence[Event]) -> str:
    return "".join(each.text for each in events if isinstance(each, Text))


def test_it_is_held(program: Program) -> None:
    driven = program.begin()
    assert driven.talker.abilities.evidence is Evidence.NONE
    assert not driven.talker.abilities.pictures
    driven.prompt("hello", Picture("image/png", b"x", "/w/x.png"))
    events = driven.turn()
    assert [each.text for each in events if isinstance(each, Text)] == ["Hello", " there."]
    driven.prompt("refuse it")
    end = driven.until(TurnEnded)
    assert end.how is How.FAILED
    driven.prompt("write it")
    assert said(driven.turn()) == "I tried."
    assert not (program.workspace / "written").exists()


@pytest.mark.parametrize("allows", [True, False])
def test_it_asks(program: Program, allows: bool) -> None:
    driven = program.begin()
    driven.prompt("make it")
    asked = driven.until(Asked)
    assert asked.command == "touch made"
    driven.talker.answer(asked.ask, Answer(allows=allows))
    events = driven.turn()
    assert said(events) == "Made."
    assert (program.workspace / "made").exists() is allows
    assert [each.call for each in events if isinstance(each, ToolEnded)] == [asked.call]


def test_it_goes_on(program: Program) -> None:
    first = program.begin()
    first.prompt("hello")
    first.turn()
    first.kill()
    driven = program.begin(first.talker.session)
    driven.prompt("what was before")
    events = driven.turn()
    assert said(events) == "before: hello"  # the story itself is no event
