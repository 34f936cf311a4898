"""What a person typed while a turn ran, read from the transcript that the agent names.

The path is what a process of the run says: it is only read where the agent keeps its transcripts.
What is read is an agent's word, as what it reports is, and is kept without secrets.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from siding.agents.hooks import Adapter, TypedMeanwhile
from siding.ground.errors import UnreadableFile
from siding.ground.files.regular import open_regular
from siding.record.place.wiring import App
from siding.record.runs.reported import Reported
from siding.record.runs.run import LONGEST_PROMPT
from siding.usage.of_run import is_transcript

_MOST = 50  # prompts of one turn


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
