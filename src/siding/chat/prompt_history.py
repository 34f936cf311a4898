"""Earlier prompts, for who types a new one."""

from collections.abc import Iterator

from siding.chat.store import Chat, Chats
from siding.chat.story import StoryReader
from siding.ground.storage.fields import text
from siding.record.place.project import Project

MOST = 500


def earlier_prompts(project: Project, chat: Chat | None) -> list[str]:
    """Return the prompts of a project, each once, newest first: those of `chat` before others.

    Stories are read from the newest on, and no more of them than are needed.
    """
    found: dict[str, None] = {}
    if chat is not None:
        found |= dict.fromkeys(said for _at, said in reversed([*_prompts(chat)]))
    others: list[tuple[str, str]] = []
    for each in sorted(_other_chats(project, chat), key=_changed_at, reverse=True):
        if len(found) + len(others) >= MOST:
            break
        others += _prompts(each)
    found |= {said: None for _at, said in sorted(others, reverse=True)}
    return [each for each in found if each.strip()][:MOST]


def _other_chats(project: Project, chat: Chat | None) -> Iterator[Chat]:
    for task in project.tasks.readable():
        for each in Chats(project.task_layout(task.id)).all():
            if chat is None or each.directory != chat.directory:
                yield each


def _changed_at(chat: Chat) -> float:
    try:
        return chat.story.stat().st_mtime
    except OSError:  # it is gone meanwhile
        return 0.0


def _prompts(chat: Chat) -> Iterator[tuple[str, str]]:
    """Yield when prompts were given, and their words."""
    for line in _lines(chat):
        yield text(line.get("at")), text(line.get("text"))


def _lines(chat: Chat) -> Iterator[dict[str, object]]:
    try:
        reader = StoryReader(chat.story)
    except OSError:
        return
    try:
        yield from reader.records_of(("queued",))
    finally:
        reader.close()
