"""Carries the status line's machine out: reads settings and facts in threads, runs the command,
keeps the time, and says what is to be shown.

What is shown is said by `look_at`. Files of settings are looked at every two seconds: a screen that
is open all day follows what a person writes there.
"""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.wiring import App
from siding.statusline.machine import (
    End,
    Event,
    Failed,
    Gone,
    Happened,
    Machine,
    Made,
    Say,
    Set,
    Show,
    Start,
    Woken,
    after,
)
from siding.statusline.place import Place

if TYPE_CHECKING:
    from siding.statusline.settings import LineSettings

LOOK_EVERY_S = 2.0  # at the files of settings
_BETWEEN = " │ "  # parts of the line that is made without a command


class Shown(NamedTuple):
    """The line as it is to be shown."""

    text: str = ""
    is_of_command: bool = False
    padding: int = 0


class Sized(Protocol):
    """A screen with so many columns and rows."""

    @property
    def size(self) -> tuple[int, int]: ...


class StatusLine:
    """The status line of one screen. `begin` it in the loop, and `close` it there."""

    def __init__(
        self,
        app: App,
        shown: Callable[[Shown], None],
        warn: Callable[[str], None],
        screen: Sized,
    ) -> None:
        self._app = app
        self._shown = shown
        self._warn = warn
        self._screen = screen
        self._machine = Machine()
        self._place = Place()
        self._settings: LineSettings | None = None
        self._stamps: tuple[object, ...] = ()
        self._files: tuple[Path, ...] = ()
        self._warned: set[str] = set()
        self._run: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._waking: asyncio.TimerHandle | None = None
        self._is_open = False

    def begin(self) -> None:
        """Read the settings, and make the first line."""
        self._is_open = True
        self._look()

    def look_at(self, place: Place) -> None:
        """Take what the screen is about now."""
        if place == self._place:
            return
        before, self._place = self._place, place
        if not self._is_open:
            return
        if (before.project, before.task) != (place.project, place.task):
            if not self._is_of_command:
                self._shown(Shown())  # it was about something else
            self._stamps = ()
            self._look()
        self._give(Happened())

    def happened(self) -> None:
        """Take note that something has changed that the line may show."""
        if self._is_open:
            self._give(Happened())

    def look_for_changes(self) -> None:
        """Look whether the files of settings have changed. Call it every LOOK_EVERY_S."""
        if self._is_open and self._files and _stamps(self._files) != self._stamps:
            self._look()

    async def close(self) -> None:
        """End what runs, with all that it has started."""
        self._is_open = False
        if self._waking is not None:
            self._waking.cancel()
        for task in (self._looking, self._run):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])

    # Settings.

    def _look(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        self._looking = asyncio.create_task(self._read_settings(self._place))

    async def _read_settings(self, place: Place) -> None:
        from siding.statusline.gathering import files_at, settings_at
        from siding.statusline.settings import LineSettings

        settings = LineSettings()
        try:
            self._files = await asyncio.to_thread(files_at, self._app, place)
            self._stamps = _stamps(self._files)
            settings = await asyncio.to_thread(settings_at, self._app, place)
        except SidingError as error:
            self._warn_once(f"{error.message}\n{error.hint}" if error.hint else error.message)
        except OSError as error:
            self._warn_once(f"the settings of the status line cannot be read: {error}")
        for note in settings.notes:
            self._warn_once(note)
        self._settings = settings
        self._give(Set(settings.key, settings.refresh_s))

    def _warn_once(self, sentence: str) -> None:
        if sentence not in self._warned:
            self._warned.add(sentence)
            self._warn(sentence)

    # The machine.

    @property
    def _is_of_command(self) -> bool:
        return self._settings is not None and bool(self._settings.command)

    def _give(self, event: Event) -> None:
        if self._settings is None or not self._is_open:
            return  # the first line comes with the settings
        self._machine, acts = after(self._machine, event, time.monotonic())
        for act in acts:
            match act:
                case Start(run):
                    self._run = asyncio.create_task(self._make(run, self._settings))
                case End():
                    assert self._run is not None
                    self._run.cancel()
                case Show(text):
                    self._shown(Shown(text, self._is_of_command, self._settings.padding))
                case Say(why):
                    self._warn(
                        f"the status line's command failed: {why}\n"
                        "`siding statusline` runs it once and shows all that it says"
                    )
        self._wake_later()

    def _wake_later(self) -> None:
        if self._waking is not None:
            self._waking.cancel()
            self._waking = None
        at = self._machine.wake_at
        if at is not None:
            loop = asyncio.get_running_loop()
            delay = max(0.0, at - time.monotonic())
            self._waking = loop.call_later(delay, self._give, Woken())

    async def _make(self, run: int, settings: "LineSettings") -> None:
        try:
            event: Event = await self._made(run, settings)
        except asyncio.CancelledError:
            event = Gone(run)
        except SidingError as error:
            event = Failed(run, error.message)
        except OSError as error:
            event = Failed(run, error.strerror or str(error))
        self._give(event)

    async def _made(self, run: int, settings: "LineSettings") -> Event:
        place = self._place
        if not settings.command and not (place.task and settings.is_on):
            return Made(run, "")
        from siding.statusline.document import line_of
        from siding.statusline.gathering import cwd_of, env_of, facts_at
        from siding.statusline.running import run_command
        from siding.statusline.words import parts_of

        facts = await asyncio.to_thread(facts_at, self._app, place)
        columns, rows = self._screen.size
        if not settings.command:
            return Made(run, _BETWEEN.join(parts_of(facts, columns)))
        outcome = await run_command(
            settings.command,
            line_of(facts, time.time()),
            cwd=cwd_of(facts, self._app),
            env=env_of(self._app, facts, columns=columns, rows=rows),
        )
        return Failed(run, outcome.failure) if outcome.failure else Made(run, outcome.text)


def _stamps(files: tuple[Path, ...]) -> tuple[object, ...]:
    """Return what changes when one of the files does."""
    return tuple(map(_stamp, files))


def _stamp(path: Path) -> object:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
