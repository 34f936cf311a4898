"""Change what an agent works with, and hear from it what holds then; its own commands."""

import time
from collections.abc import Sequence

from siding.chat.conversations import Task, ensure_host, require_settable
from siding.chat.outcome import Start, carried_out
from siding.chat.requests import Change
from siding.chat.store import Chat
from siding.chat.story import StoryReader
from siding.chat.talk import Talk
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mappings, strings, text
from siding.record.place.project import Project

_READS_BACK_WITHIN_S = 10.0
_LOOK_S = 0.02


class Own(NamedTuple):
    """What an agent has said of itself when it was opened, or since."""

    commands: Sequence[tuple[str, str]] = ()  # a name with its slash, and what it does
    modes: Sequence[str] = ()
    models: Sequence[str] = ()
    version: str = ""
    has_said: bool = False


class Changed(NamedTuple):
    """Where a conversation stands after a change."""

    talk: Talk
    trouble: str = ""  # why it was not changed
    is_read_back: bool = False  # the agent has said so; else it is begun so, or has not answered
    has_agent: bool = False


def change(
    project: Project,
    task: Task,
    chat: Chat,
    wanted: Change,
    *,
    by: str,
    start: Start = ensure_host,
) -> Changed:
    """Change settings; return what holds. Raises UsageError if the agent cannot be set so."""
    before = chat.talk()
    require_settable(before.agent, **wanted._asdict())
    has_agent = chat.has_host()
    size = chat.story.stat().st_size
    carried_out(project, task, chat, wanted, by=by, start=start)
    if not has_agent:
        return Changed(chat.talk())
    end = time.monotonic() + _READS_BACK_WITHIN_S
    while True:
        found = _since(chat, size)
        if found.is_read_back or not chat.has_host() or time.monotonic() > end:
            return found
        time.sleep(_LOOK_S)


def own_of(chat: Chat) -> Own:
    """Return what the agent has said of itself."""
    reader, found = StoryReader(chat.story), Own()
    try:
        for line in reader.records_of(("offered", "opened", "commands-changed", "switched")):
            if line.get("event") == "switched":
                found = Own()  # another agent has said nothing yet
            elif line.get("event") == "opened":
                found = found._replace(
                    commands=_commands(line),
                    modes=tuple(strings(line.get("modes"))),
                    version=text(line.get("version")),
                    has_said=True,
                )
            elif line.get("event") == "offered":
                models = [text(each.get("word")) for each in mappings(line.get("models"))]
                found = found._replace(models=models)
            else:
                found = found._replace(commands=_commands(line), has_said=True)
    finally:
        reader.close()
    return found


def _commands(line: object) -> list[tuple[str, str]]:
    found = mappings(line.get("commands")) if isinstance(line, dict) else []
    return [(text(each.get("name")), text(each.get("about"))) for each in found]


def _since(chat: Chat, size: int) -> Changed:
    """Return what was said since the story had a size: an answer comes after it was asked."""
    reader, trouble, is_asked, is_read_back = StoryReader(chat.story, size), "", False, False
    try:
        for line in reader.records():
            event = line.get("event")
            is_asked = is_asked or event == "settings-asked"
            if is_asked and event == "troubled":
                trouble = text(line.get("message"))
            is_read_back = is_read_back or (is_asked and event == "applied")
    finally:
        reader.close()
    return Changed(chat.talk(), trouble, is_read_back=is_read_back or bool(trouble), has_agent=True)
