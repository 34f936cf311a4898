"""An agent that is not in the table: any program, one that speaks ACP, one with written answers.

A program is a command line with places for the prompt, and what it prints is the result.

    my-agent --ask {prompt}         the prompt as a word
    my-agent --file {prompt_file}   the path of a file that holds it
    my-agent                        on its standard input

Beside these, {model}, {effort} and {session} stand for what a call asks for. An agent that
speaks ACP is started by way of the bridge (`agents.acp`).
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from siding.agents.headless.output import EventLines, PlainText
from siding.agents.headless.port import CUT_OFF, Ask, Invocation, Stream, with_text
from siding.agents.table import AGENTS, BY_PROGRAM
from siding.ground.storage.fields import said

_PROMPT_FILE = "prompt.md"
_BRIDGE = (sys.executable, "-m", "siding.agents.acp.bridge_program")


class CommandHeadless:
    """A program that prints its result."""

    says_end = False
    has_answer = False  # one that only works on files is done when it ends

    def takes_schema(self, _schema: Mapping[str, Any], /) -> bool:
        return False

    def invoked(self, ask: Ask) -> Invocation:
        prompt = with_text(ask)
        places = {
            "{prompt}": prompt,
            "{prompt_file}": ask.file(_PROMPT_FILE),
            "{model}": ask.model,
            "{effort}": ask.effort,
            "{session}": ask.session or ask.new_session,
        }
        typed = (*ask.program, *ask.options)
        argv = tuple(_filled(word, places) for word in typed)
        used = {name for name in places if any(name in word for word in typed)}
        asked = {
            "model": (ask.model, "{model}" in used),
            "effort": (ask.effort, "{effort}" in used),
            "allowed_tools": (ask.tools, False),
            "session": (ask.session, "{session}" in used),
        }
        return Invocation(
            argv=argv,
            stdin="" if used & {"{prompt}", "{prompt_file}"} else prompt,
            files={_PROMPT_FILE: prompt} if "{prompt_file}" in used else {},
            session=places["{session}"] if "{session}" in used else "",
            left_out=tuple(name for name, (given, said) in asked.items() if given and not said),
        )

    def stream(self, _ask: Ask, /) -> Stream:
        return PlainText()


class EventsHeadless(CommandHeadless):
    """A program that prints events, one JSON object a line (`events`)."""

    says_end = True

    def stream(self, ask: Ask, /) -> Stream:
        return EventLines(model=ask.model)


HEADLESS = CommandHeadless()
WITH_EVENTS = EventsHeadless()


def _filled(word: str, places: Mapping[str, str]) -> str:
    """Return a word with its places filled, in one pass: a prompt may hold the names of others."""
    found: list[str] = []
    rest = word
    while True:
        at, name = min(
            ((rest.find(name), name) for name in places if name in rest), default=(-1, "")
        )
        if at < 0:
            return "".join([*found, rest])
        found += [rest[:at], places[name]]
        rest = rest[at + len(name) :]


class AcpHeadless:
    """The bridge prints events. `is_judged`: a policy judges what commands the agent asks for."""

    says_end = True
    has_answer = True

    def __init__(self, *, is_judged: bool) -> None:
        self._is_judged = is_judged

    def takes_schema(self, _schema: Mapping[str, Any], /) -> bool:
        return False

    def invoked(self, ask: Ask) -> Invocation:
        asked = said(
            command=[*ask.program, *ask.options],
            resume=ask.session,
            model=ask.model,
            level=ask.level.value,
            tools=list(ask.tools),
        )
        return Invocation(
            argv=(*_BRIDGE, json.dumps({**asked, "judged": self._is_judged})),
            stdin=with_text(ask),
            session=ask.session,
            left_out=("effort",) if ask.effort else (),
        )

    def stream(self, _ask: Ask, /) -> Stream:
        return EventLines()


def behind_acp(command: Sequence[str]) -> str:
    """Return the name of the agent that a command line starts to speak ACP; "" if none is known.

    It may be started by a launcher: `npx -y @somebody/my-agent-acp@0.4`.
    """
    by_acp = {program: agent for agent in AGENTS for program in agent.acp}
    for word in command:
        program = word.rpartition("/")[2].partition("@")[0]
        agent = by_acp.get(program) or BY_PROGRAM.get(program)
        if agent is not None:
            return agent.name
    return ""


# -- The agent whose answers are written down (`scripted_program`) ---------------------------------

_PROGRAM = str(Path(__file__).with_name("scripted_program.py"))


class ScriptedHeadless:
    """It takes a schema in the sense that its table has the object."""

    says_end = True
    has_answer = False

    def takes_schema(self, _schema: Mapping[str, Any], /) -> bool:
        return True

    def invoked(self, ask: Ask) -> Invocation:
        how = ("--resume", ask.session) if ask.session else ("--session", ask.new_session)
        return Invocation(
            argv=(*ask.program, *ask.options, *how),
            stdin=ask.prompt.removeprefix(CUT_OFF),
            session=ask.session or ask.new_session,
        )

    def stream(self, _ask: Ask, /) -> Stream:
        return EventLines()


SCRIPTED = ScriptedHeadless()


def scripted_command(answers: str) -> tuple[str, ...]:
    """Return how the command line begins that answers from a table, whose path is absolute."""
    return (sys.executable, _PROGRAM, "--answers", answers)
