"""Read how the conversations of a task stand.

A story may have 100 MB, so it is not read: its host keeps beside it how it stands
(`siding.chat.kept`). What a host that was killed had not kept is a short end of the story.
"""

from siding.chat.says import Says, goes_on
from siding.chat.store import Chat, Chats
from siding.chat.talk import Standing, Talk
from siding.feed.board import stamp
from siding.feed.chat_facts import ChatFacts, Known
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.storage.locks import FileLock
from siding.record.place.project import Project

_AT_WORK = frozenset({Standing.STARTING, Standing.RUNNING, Standing.WAITS, Standing.STOPPING})


def chats_of(project: Project, task_id: TaskId, name: str, known: Known) -> tuple[ChatFacts, ...]:
    """Return the conversations of a task, oldest first. `known` is kept from look to look."""
    found = []
    for chat in Chats(project.task_layout(task_id)).all():
        try:
            found.append(_facts(project, (task_id, name), chat, known))
        except (SidingError, OSError) as error:
            why = error.message if isinstance(error, SidingError) else str(error)
            problem = f"task {name}: conversation {chat.id} cannot be read: {why}"
            found.append(ChatFacts(chat.id, "", "", "", "", problem=problem))
    return tuple(found)


def _facts(project: Project, task: tuple[TaskId, str], chat: Chat, known: Known) -> ChatFacts:
    # The lock first: what a host does before it lets go of it is found after that.
    is_live = chat.has_host()
    holder = FileLock(chat.lock).holder() if is_live else None
    talk = _talk(chat, known, is_live=is_live)
    was_held = talk.is_held_by_host
    starts = is_live and not was_held and not talk.is_handed_over
    if not is_live:
        talk = talk._replace(is_held_by_host=False)
    cut_off = was_held and not is_live
    says = Says(project, task, chat.id, talk, is_live=is_live, is_cut_off=cut_off)
    return ChatFacts(
        id=chat.id,
        agent=talk.agent,
        title=talk.title,
        run=talk.run if is_live and was_held else "",
        since=talk.since,
        what=says.what(),
        is_at_work=starts or (is_live and (talk.standing in _AT_WORK or goes_on(talk))),
        is_ended=not is_live and talk.is_wanted_end and not talk.queue,
        has_ended=not is_live and not was_held,
        queued=len(talk.queue),
        decisions=tuple(each.decision for each in talk.asks if each.decision) if is_live else (),
        needs=says.needs(),
        broke=says.broke(),
        host=holder.pid if holder is not None else 0,
    )


def _talk(chat: Chat, known: Known, *, is_live: bool) -> Talk:
    """Return how it stands; only what has changed since the last look is read."""
    key = str(chat.directory)
    stamps: tuple[object, ...] = (is_live, stamp(str(chat.kept)))
    if not is_live or not chat.kept.exists():
        stamps = (*stamps, stamp(str(chat.story)))
    before = known.get(key)
    if before is not None and before[0] == stamps:
        return before[1]
    talk = chat.talk(is_live=is_live)
    known[key] = (stamps, talk)
    return talk
