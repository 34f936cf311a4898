"""The turn that was under way when the command of a run ended, and what was typed in a turn.

An agent that gives up, or is interrupted or killed, does not say that its turn is over. What it did
until then belongs to its prompt all the same.

What a person typed while a turn ran is read from the transcript that the agent names. The path is
what a process of the run says: it is only read where the agent keeps its transcripts. What is read
is an agent's word, as what it reports is, and is kept without secrets.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from siding.agents.hooks import Adapter, TypedMeanwhile, adapter_of
from siding.asking.kinds import end_questions
from siding.ground.errors import SidingError, UnreadableFile
from siding.ground.files.regular import open_regular
from siding.ground.ids import TaskId
from siding.record.place.project import Project
from siding.record.place.wiring import App
from siding.record.runs.reported import Reported, read_reported, write_reported
from siding.record.runs.run import LONGEST_PROMPT, Run
from siding.running.checkpoint import ENDED, record_turn, words_of_turn
from siding.usage.of_run import UsedInTurn, is_transcript

_MOST = 50  # prompts of one turn


def record_last_turn(project: Project, task_id: TaskId, run: Run) -> None:
    """Record the open turn of a run whose command has ended, if it has one.

    If that fails, what it did is in the step of the run, which says in which prompt it was.
    """
    layout = project.task_layout(task_id)
    with suppress(SidingError, OSError):  # who reads questions ends them as well
        end_questions(project, task_id, run.id)
    found = read_reported(layout, run.id)
    if found is None or not found.in_turn or not run.is_recorded:
        return
    used = UsedInTurn(project.app, run.started_at, found)
    adapter = adapter_of(run.agent) if run.agent else None
    later = TypedInTurn(project.app, adapter, found, project.redaction.text)
    words = words_of_turn(found, used, ENDED, later)
    try:
        record_turn(
            project,
            task_id,
            run.id,
            ENDED,
            words,
            only_if_changed=found.is_kept,
            # Its agent may have told of the end as it went, and its broker is at it.
            unless_ended=not found.is_kept,
        )
        write_reported(layout, run.id, used.after._replace(in_turn=False))
    except (SidingError, OSError) as error:
        project.app.warn(f"{run.id}: its last turn could not be recorded: {error}")


class TypedInTurn:
    """The prompts of a turn beside its first one: asked for when the transcript is written.

    `next_ones` are those that the agent begins its next turn with. `clean` takes secrets out. With
    `has_gone_on` it has begun that turn already; else such ones count as prompts of this turn.
    """

    def __init__(
        self,
        app: App,
        adapter: Adapter | None,
        before: Reported,
        clean: Callable[[str], str],
        *,
        has_gone_on: bool = False,
    ) -> None:
        self._app = app
        self._adapter = adapter
        self._before = before
        self._clean = clean
        self._has_gone_on = has_gone_on
        self.taken: tuple[str, ...] = ()
        self.next_ones: tuple[str, ...] = ()

    def __call__(self) -> tuple[str, ...]:
        """Return the prompts that the model got in the turn."""
        found, told = self._read(), self._before.later
        if self._has_gone_on:
            self.taken = () if found is None else self._kept(found.taken)
            others = tuple(each for each in told if each not in self.taken)
            self.next_ones = (found and self._kept(found.begun)) or others
        elif found is None:
            self.taken = told
        else:
            # The turn itself may have begun with one that had waited.
            own = (self._before.prompt, *self._before.besides)
            begun = [each for each in self._kept(found.begun) if each not in own]
            self.taken = (*self._kept(found.taken), *begun)
            # What was not reported as it was typed is reported when its turn begins.
            self.next_ones = self._kept(found.waiting) if told else ()
        return (*self._before.besides, *self.taken)

    def _read(self) -> TypedMeanwhile | None:
        before = self._before
        if self._adapter is None or not is_transcript(self._app, before.transcript):
            return None
        try:
            return self._adapter.typed_in(_lines(before.transcript, before.began_at))
        except (OSError, UnreadableFile):
            return None

    def _kept(self, prompts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self._clean(each)[:LONGEST_PROMPT] for each in prompts[:_MOST])


def _lines(path: str, since: int) -> Iterator[bytes]:
    with os.fdopen(open_regular(Path(path)), "rb") as file:
        file.seek(since)
        yield from file
