"""Record the turns of a conversation as steps of its run, as the turns that hooks report are.

What changed before a prompt is not of its turn, so the workspace is looked at when the prompt goes
and when its turn has ended. Both take the task's lock and a snapshot; a thread does one after the
other, so that requests and viewers are served meanwhile.
"""

from collections.abc import Callable, Mapping
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

from siding.agents.hooks import Moment
from siding.agents.talking.port import How
from siding.chat.going_back import Present
from siding.chat.talk import Talk, Waiting
from siding.ground.errors import SidingError
from siding.record.ledger.usage import Usage, UsedTokens, added, usage_from, usage_record
from siding.record.place.project import Project
from siding.record.runs.reported import Reported, read_reported, write_reported
from siding.record.runs.run import LONGEST_PROMPT, Run
from siding.record.tasks.task import Task
from siding.running.checkpoint import (
    TurnWords,
    record_turn,
    settle_before_turn,
    words_of_turn,
)
from siding.running.news import News, news

T = TypeVar("T")

_MOMENTS: Mapping[How, Moment] = {How.FAILED: Moment.FAILED}


def with_turn(reported: Reported, used: Usage) -> Reported:
    """Return what is reported of a run with what one more turn of its conversation has used."""
    if not used:
        return reported
    name = reported.session
    sum_ = added((usage_from(reported.used.get(name)), used))
    return reported._replace(used={**reported.used, name: usage_record(sum_)})


def _used(talk: Talk) -> dict[str, UsedTokens]:
    """Return what the newest turn has used, as the agent has said."""
    sent, cached = talk.input_tokens, talk.cached_tokens
    used = UsedTokens(input=sent, cache_read=cached, output=talk.output_tokens)
    return {talk.model or talk.agent: used} if used.total else {}


class TurnRecorder:
    """Records the turns of one run."""

    def __init__(self, project: Project, task: Task, run: Run) -> None:
        self._project = Project(project.app, project.layout, project.paths)
        self._task, self._run = task, run
        self._layout = project.task_layout(task.id)
        self._before = Reported()  # as it was before the newest prompt
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="siding: turns", daemon=True)
        self._thread.start()

    def prompt(self, present: Present, prompt: Waiting, then: Callable[[News], None]) -> None:
        """A prompt is about to go to the agent.

        `then` is called when that is recorded, with what the agent has to know before.
        """
        nothing = News("", 0)
        self._waiting.put(lambda: then(self._tried(lambda: self._begin(present, prompt), nothing)))

    def taken_back(self, then: Callable[[int], None]) -> None:
        """The prompt does not go to the agent; `then` is called as if a turn without a step had
        ended."""
        self._waiting.put(lambda: then(self._tried(self._take_back, 0)))

    def ended(self, talk: Talk, how: How, then: Callable[[int], None]) -> None:
        """A turn has ended; `then` is called with the number of its step, 0 if it has none."""
        session, used = talk.session, _used(talk)
        self._waiting.put(lambda: then(self._tried(lambda: self._end(session, how, used), 0)))

    def close(self) -> None:
        """Wait until everything is recorded."""
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (work := self._waiting.get()) is not None:
            work()

    def _tried(self, work: Callable[[], T], usual: T) -> T:
        try:
            return work()
        except (SidingError, OSError) as error:
            # The agent goes on; what it does is in the next step.
            self._project.app.warn(f"{self._run.id}: a turn could not be recorded: {error}")
            return usual

    def _begin(self, present: Present, prompt: Waiting) -> News:
        if self._run.is_recorded:
            settle_before_turn(self._project, self._task.id, self._run.id)
        self._before = before = read_reported(self._layout, self._run.id) or Reported()
        known = before._replace(session=present.session or before.session, is_new=present.is_new)
        if present.copied.session:
            of, without = present.copied
            known = known._replace(copy=known.session, copy_of=of, without=without)
        ledger = self._project.ledger(self._task.id)
        told = news(ledger, known, goes_back=present.goes_back)
        words = self._project.redaction.text(prompt.text)[:LONGEST_PROMPT]
        begun = known.begun((words,), self._project.app.now(), 0)
        now = begun._replace(turn=prompt.prompt, prompts=before.prompts + 1, seen=told.seen)
        write_reported(self._layout, self._run.id, now)
        return told

    def _take_back(self) -> int:
        write_reported(self._layout, self._run.id, self._before)
        return 0

    def _end(self, session: str, how: How, used: Mapping[str, UsedTokens]) -> int:
        before = read_reported(self._layout, self._run.id) or Reported()
        before = before._replace(session=session or before.session)
        step = None
        if self._run.is_recorded:
            moment = _MOMENTS.get(how, Moment.STOPPED).value
            words: TurnWords = words_of_turn(before, lambda: used, moment, tuple)
            ids = self._project, self._task.id, self._run.id
            step = record_turn(*ids, moment, words, only_if_changed=False).step
        before = with_turn(before, used)
        write_reported(self._layout, self._run.id, before._replace(in_turn=False, later=()))
        return 0 if step is None else step.number
