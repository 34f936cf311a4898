"""Read how the conversations of a task stand.

A story may have 100 MB, so it is not read: its host keeps beside it how it stands
(`siding.chat.kept`). What a host that was killed had not kept is a short end of the story.
"""

from siding.agents.talking.port import How, Trouble
from siding.asking.views import InboxEntry, Waits, entry
from siding.chat.state import Standing, Talk
from siding.chat.store import Chat, Chats
from siding.feed.board import stamp
from siding.feed.chat_facts import ChatFacts, Known
from siding.ground.errors import SidingError, counted
from siding.ground.ids import TaskId
from siding.ground.storage.locks import FileLock
from siding.record.place.project import Project
from siding.record.runs.reported import first_line

# Why an agent does not go on, where only a person can do something about it.
_NEEDS = {
    Trouble.LIMIT.value: "a limit is reached",
    Trouble.LOGIN.value: "it is not logged in",
    Trouble.TRUST.value: "it does not trust the folder",
}
_AT_WORK = frozenset({Standing.STARTING, Standing.RUNNING, Standing.WAITS, Standing.STOPPING})


def chats_of(project: Project, task_id: TaskId, name: str, known: Known) -> tuple[ChatFacts, ...]:
    """Return the conversations of a task, oldest first. `known` is kept from look to look."""
    found = []
    for chat in Chats(project.task_layout(task_id)).all():
        try:
            found.append(_facts(project, (task_id, name), chat, known))
        except (SidingError, OSError):
            continue  # it is being made, or is damaged: `siding chat list` says so
    return tuple(found)


def _facts(project: Project, task: tuple[TaskId, str], chat: Chat, known: Known) -> ChatFacts:
    # The lock first: what a host does before it lets go of it is found after that.
    is_live = chat.has_host()
    holder = FileLock(chat.lock).holder() if is_live else None
    talk = _talk(chat, known, is_live=is_live)
    was_held = talk.is_held_by_host
    if not is_live:
        talk = talk._replace(is_held_by_host=False)
    says = _Says(project, task, chat.id, talk, is_live=is_live, is_cut_off=was_held and not is_live)
    return ChatFacts(
        id=chat.id,
        agent=talk.agent,
        title=talk.title,
        run=talk.run if is_live and was_held else "",
        since=talk.since,
        what=says.what(),
        is_at_work=is_live and (talk.standing in _AT_WORK or not was_held or _goes_on(talk)),
        is_ended=not is_live and talk.is_wanted_end and not talk.queue,
        queued=len(talk.queue),
        decisions=tuple(each.decision for each in talk.asks if each.decision) if is_live else (),
        needs=says.needs(),
        broke=says.broke(),
        host=holder.pid if holder is not None else 0,
    )


def _goes_on(talk: Talk) -> bool:
    """Tell whether the next prompt goes as soon as the turn before it is recorded."""
    return bool(talk.queue) and not talk.is_paused and not talk.unsure


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


class _Says:
    """What is said of a conversation: one line, and what a person has to do."""

    def __init__(
        self,
        project: Project,
        task: tuple[TaskId, str],
        chat: str,
        talk: Talk,
        *,
        is_live: bool,
        is_cut_off: bool,
    ) -> None:
        self._project, self._task, self._chat, self._talk = project, task, chat, talk
        self._is_live, self._is_cut_off = is_live, is_cut_off
        is_busy = talk.is_running or talk.sent is not None
        self._was_busy = is_busy or bool(talk.queue)
        self._is_busy = is_live and (is_busy or _goes_on(talk))

    def what(self) -> str:
        """What it does now, or why it does nothing, in one line."""
        talk = self._talk
        if talk.sent is not None:
            return first_line(talk.sent.text)
        if talk.is_running:
            return "goes on by itself" if talk.is_by_itself else talk.title
        if self._is_live and _goes_on(talk):
            return first_line(talk.queue[0].text)
        if talk.until and self._is_live:
            return f"goes on at {talk.until}: {talk.trouble}"
        return talk.title

    def needs(self) -> InboxEntry | None:
        """Return what a person has to do; None while a turn runs, which may come through."""
        talk = self._talk
        command = f"siding chat show -c {self._chat} -t {self._task[0]}"
        if talk.unsure:
            said = f"was this prompt taken? {first_line(talk.unsure[0].text)}"
            detail = "nothing shows whether the agent has it; `again` sends it, `drop` does not"
            return self._entry(Waits.CHAT, said, detail, command)
        if self._is_busy or talk.until or talk.is_wanted_end:
            return None
        why = _NEEDS.get(talk.trouble_kind)
        if why is not None:
            said = f"{talk.agent}: {why}"
            return self._entry(Waits.CHAT, said, talk.trouble, command)
        if talk.is_paused and talk.queue and self._is_live:
            said = f"{counted(len(talk.queue), 'prompt')} held: {talk.trouble or 'until you go on'}"
            return self._entry(Waits.CHAT, said, "", command)
        return None

    def broke(self) -> InboxEntry | None:
        """Return how it broke; None if it did not, or a person has to do something else first."""
        talk = self._talk
        if self.needs() is not None or talk.until or self._is_busy:
            return None
        said = self._failure()
        if not said:
            return None
        command = f"siding chat show -c {self._chat} -t {self._task[0]}"
        return self._entry(Waits.FAILED, said, talk.title, command)

    def _failure(self) -> str:
        talk = self._talk
        if self._is_cut_off and self._was_busy:
            return f"the host of {self._chat} was killed"
        if self._is_live and not talk.is_held_by_host:
            return ""  # its agent is being started
        if talk.is_wanted_end:
            return ""
        if not self._is_live and (talk.exit_code or (talk.trouble and not self._is_cut_off)):
            how = talk.trouble or f"exit {talk.exit_code}"
            return f"{talk.agent} has ended: {how}"
        if talk.how == How.FAILED.value:
            return f"the turn failed: {talk.why or talk.trouble or 'it gives no reason'}"
        return ""

    def _entry(self, kind: Waits, title: str, detail: str, command: str) -> InboxEntry:
        task_id, name = self._task
        return entry(
            self._project,
            kind=kind,
            title=first_line(title) if "\n" in title else title,
            detail=detail,
            since=self._talk.since,
            command=command,
            page=f"/tasks/{task_id}",
            task_id=task_id,
            task_name=name,
            step_id=self._chat,
        )
