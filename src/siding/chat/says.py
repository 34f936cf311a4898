"""What is said of a conversation: one line of what it does, and what a person has to do."""

from siding.agents.talking.port import How, Trouble
from siding.asking.views import InboxEntry, Waits, entry
from siding.chat.talk import Talk
from siding.ground.errors import counted
from siding.ground.ids import TaskId
from siding.record.place.project import Project
from siding.record.runs.reported import first_line

TURN_FAILED = "the turn failed"
# Why an agent does not go on, where only a person can do something about it.
_NEEDS = {
    Trouble.LIMIT.value: "a limit is reached",
    Trouble.LOGIN.value: "it is not logged in",
    Trouble.TRUST.value: "it does not trust the folder",
}


def goes_on(talk: Talk) -> bool:
    """Tell whether the next prompt goes as soon as the turn before it is recorded."""
    is_held = talk.is_paused or talk.is_handed_over
    return bool(talk.queue) and not is_held and not talk.unsure


class Says:
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
        self._is_busy = is_live and (is_busy or goes_on(talk))

    def what(self) -> str:
        """What it does now, or why it does nothing, in one line."""
        talk = self._talk
        if talk.is_handed_over:
            return "it is open on its agent's own screen"
        if talk.sent is not None:
            return first_line(talk.sent.text)
        if talk.is_running:
            return "goes on by itself" if talk.is_by_itself else talk.title
        if self._is_live and goes_on(talk):
            return first_line(talk.queue[0].text)
        if talk.until and self._is_live:
            return f"goes on at {talk.until}: {talk.trouble}"
        return talk.title

    def needs(self) -> InboxEntry | None:
        """Return what a person has to do; None while a turn runs, which may come through."""
        talk = self._talk
        which = f"-c {self._chat} -t {self._task[0]}"
        command = f"siding chat show {which}"
        if talk.unsure:
            said = f"was this prompt taken? {first_line(talk.unsure[0].text)}"
            detail = "nothing shows whether the agent has it; `siding chat drop` does not send it"
            command = f"siding chat again {which} {talk.unsure[0].prompt}"
            return self._entry(Waits.CHAT, said, detail, command)
        if self._is_busy or talk.until or talk.is_wanted_end:
            return None
        why = _NEEDS.get(talk.trouble_kind)
        if why is not None:
            said = f"{talk.agent}: {why}"
            return self._entry(Waits.CHAT, said, talk.trouble, command)
        if talk.is_paused and talk.queue and self._is_live:
            said = f"{counted(len(talk.queue), 'prompt')} held: {talk.trouble or 'until you go on'}"
            return self._entry(Waits.CHAT, said, "", f"siding chat go-on {which}")
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
        starts = self._is_live and not talk.is_held_by_host
        if starts or talk.is_wanted_end or talk.is_handed_over:
            return ""
        if not self._is_live and (talk.exit_code or (talk.trouble and not self._is_cut_off)):
            how = talk.trouble or f"exit {talk.exit_code}"
            return f"{talk.agent} has ended: {how}"
        if talk.how == How.FAILED.value:
            return f"{TURN_FAILED}: {talk.why or talk.trouble or 'it gives no reason'}"
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
            chat=self._chat,
        )
