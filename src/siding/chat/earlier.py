"""What was said in an agent's own screen, as the agent's transcript has it: lines for a story.

Texts of the person and of the model are kept, tools as one short line each; no thoughts, and no
results of tools.
"""

import json
from contextlib import suppress
from typing import Any

from siding.agents.transcripts.kinds import moment
from siding.chat.events import Told
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.sessions.lookup import find_session, scope_of_project
from siding.sessions.reader import ReadableSession, readable_of
from siding.sessions.talk import Said, TalkPart, talk

_MOST_LINES = 400
_MOST_CHARACTERS = 400_000
_LONGEST_TOOL = 160
# What of a tool's input says in a line what it is about, the first that is there.
_ABOUT = ("command", "cmd", "file_path", "path", "pattern", "query", "url", "description", "prompt")
_WHO = {"person": "person", "model": "agent", "summary": "agent"}


class Earlier(NamedTuple):
    """What was said, oldest first, and how many messages before it were left out."""

    told: tuple[Told, ...] = ()
    left_out: int = 0
    is_found: bool = False


def earlier(project: Project, session: str, *, since: str = "") -> Earlier:
    """Return the newest that was said in a session, `since` a moment (ISO 8601)."""
    try:
        scope = scope_of_project(project)
        found = readable_of(project.app, scope, find_session(project.app, scope, session))
        return _read(found, since)
    except (SidingError, OSError):
        return Earlier()


def _read(found: ReadableSession, since: str) -> Earlier:
    told: list[Told] = []
    room, before = _MOST_CHARACTERS, 0
    is_older = False
    while True:
        page = talk(found, (), before=before)
        for said in reversed(page.said):
            if since and (moment(said.at) or 0.0) < (moment(since) or 0.0):
                is_older = True
                continue
            lines = _told(said)
            room -= sum(len(each.text) for each in lines)
            if room < 0 or len(told) >= _MOST_LINES:
                return Earlier(tuple(reversed(told)), said.number, is_found=True)
            told += reversed(lines)
        if page.first <= 1 or is_older:
            return Earlier(tuple(reversed(told)), is_found=True)
        before = page.first


def _told(said: Said) -> list[Told]:
    lines = []
    for part in said.parts:
        if part.kind == "call":
            lines.append(Told("tool", _tool_line(part), said.at))
        elif part.kind == "text" and said.who in _WHO and part.text.strip():
            if said.who == "person" and part.text.lstrip().startswith(("<command-", "<local-")):
                continue  # a command of the agent's own, which its model was not asked
            lines.append(Told(_WHO[said.who], part.text, said.at))
    return lines


def _tool_line(part: TalkPart) -> str:
    given: Any = None
    with suppress(ValueError):  # a long one is cut
        given = json.loads(part.text)
    about = ""
    if isinstance(given, dict):
        named = (given.get(name) for name in _ABOUT)
        about = next((each for each in named if isinstance(each, str) and each), "")
    line = " ".join(f"{part.title}: {about}".split()) if about else part.title
    return line if len(line) <= _LONGEST_TOOL else line[: _LONGEST_TOOL - 1] + "…"
