"""What the model is told of its context while the conversation goes on.

The system prompt stays as it is, because a change in it would cost what the provider keeps of the
whole conversation. What is other than it says comes as a hidden message before the next prompt.
"""

import asyncio
import os
from pathlib import Path

from siding.assistant.briefing import Briefing, read_file, today
from siding.assistant.loop.context.files import (
    Candidate,
    InstructionFile,
    Instructions,
    at_start,
    directories_above,
    in_directory,
)
from siding.assistant.loop.context.instructions import gather
from siding.assistant.loop.context.texts import changes_text, nested_text


class FollowingContext:
    """Remembers what the model was told. For one conversation in one process."""

    def __init__(self, briefing: Briefing) -> None:
        self._briefing = briefing
        self._places = briefing.places
        self._at_start = at_start(briefing.places)
        self.forget()

    def forget(self) -> None:
        """Take note that the model knows the system prompt alone: after a compaction."""
        self._day = self._briefing.environment.day
        self._known = _by_path(self._briefing.instructions)
        self._below: list[list[Candidate]] = []  # what was looked for at once, in that order
        started = {each.path.parent for each in self._at_start}
        self._looked = {self._places.root, *started}

    async def below(self, path: Path) -> str:
        """Return the instructions for a file that a tool has looked at; "" for none new.

        `path` is absolute and without links. A directory is looked into once.
        """
        new = [each for each in self._above(path) if each not in self._looked]
        if not new:
            return ""
        self._looked.update(new)
        candidates = [each for directory in new for each in in_directory(self._places, directory)]
        found = await asyncio.to_thread(
            gather, candidates, read_file, home=self._places.home, known=self._known.values()
        )
        self._below.append(candidates)
        self._known |= _by_path(found)
        return nested_text(found)

    async def changed_since(self) -> str:
        """Return what the model has to be told before the next prompt; "" for nothing.

        That is: instruction files that were changed, made or removed since it was told of them,
        and a new day.
        """
        now = await asyncio.to_thread(self._gathered)
        day = today(self._briefing.facts.place)
        text = changes_text(self._known, now, told_day=self._day, day=day)
        self._known, self._day = _by_path(now), day
        return text

    def _gathered(self) -> Instructions:
        found = gather(self._at_start, read_file, home=self._places.home)
        for candidates in self._below:
            more = gather(candidates, read_file, home=self._places.home, known=found.files)
            found = Instructions(found.files + more.files, found.omitted + more.omitted)
        return found

    def _above(self, path: Path) -> list[Path]:
        return directories_above(self._places, Path(os.path.normpath(path)))


def _by_path(instructions: Instructions) -> dict[Path, InstructionFile]:
    return {each.path: each for each in instructions.files}
