"""Carries the status line's machine out: reads settings and facts in threads, runs the command,
keeps the time, and says what is to be shown.

What is shown is said by `look_at`. Files of settings are looked at every two seconds: a screen that
is open all day follows what a person writes there.
"""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from siding.ground.errors import NotFound, SidingError
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
    from siding.statusline.running import Outcome
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
        read = await asyncio.to_thread(_read_settings, self._app, place)
        self._files = read.files or self._files
        self._stamps = read.stamps
        for sentence in read.warnings:
            self._warn_once(sentence)
        self._settings = read.settings
        self._give(Set(read.settings.key, read.settings.refresh_s))

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
        except (SidingError, OSError) as error:
            event = Failed(run, _why(error))
            if not settings.command:  # what is wrong with a place is said there
                event = Made(run, "")
        self._give(event)

    async def _made(self, run: int, settings: "LineSettings") -> Event:
        place = self._place
        if not settings.command and not (place.task and settings.is_on):
            return Made(run, "")
        columns, rows = self._screen.size
        work = await asyncio.to_thread(_read_facts, self._app, place, columns, rows)
        if not settings.command:
            return Made(run, _BETWEEN.join(work.parts))
        outcome = await work.run(settings.command, work.document, cwd=work.cwd, env=work.env)
        return Failed(run, outcome.failure) if outcome.failure else Made(run, outcome.text)


# In threads: what they import takes as long as the first frame of the screen.


class _ReadSettings(NamedTuple):
    settings: "LineSettings"
    files: tuple[Path, ...]
    stamps: tuple[object, ...]
    warnings: tuple[str, ...]


def _read_settings(app: App, place: Place) -> _ReadSettings:
    from siding.statusline.gathering import files_at, settings_at
    from siding.statusline.settings import LineSettings

    files: tuple[Path, ...] = ()
    stamps: tuple[object, ...] = ()
    settings, warnings = LineSettings(), list[str]()
    try:
        files = files_at(app, place)
        stamps = _stamps(files)  # before they are read: a change meanwhile is found later
        settings = settings_at(app, place)
    except NotFound:
        pass  # the project is gone: what is wrong with a place is said there
    except SidingError as error:
        warnings.append(f"{error.message}\n{error.hint}" if error.hint else error.message)
    except OSError as error:
        warnings.append(f"the settings of the status line cannot be read: {error}")
    return _ReadSettings(settings, files, stamps, (*warnings, *settings.notes))


class _Facts(NamedTuple):
    parts: list[str]  # of the line without a command
    document: bytes
    cwd: Path
    env: Mapping[str, str]
    run: "Callable[..., Coroutine[Any, Any, Outcome]]"


def _read_facts(app: App, place: Place, columns: int, rows: int) -> _Facts:
    from siding.statusline.document import line_of
    from siding.statusline.gathering import cwd_of, env_of, facts_at
    from siding.statusline.running import run_command
    from siding.statusline.words import parts_of

    facts = facts_at(app, place)
    return _Facts(
        parts=parts_of(facts, columns),
        document=line_of(facts, time.time()),
        cwd=cwd_of(facts, app),
        env=env_of(app, facts, columns=columns, rows=rows),
        run=run_command,
    )


def _stamps(files: tuple[Path, ...]) -> tuple[object, ...]:
    """Return what changes when one of the files does."""
    return tuple(map(_stamp, files))


def _stamp(path: Path) -> object:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _why(error: SidingError | OSError) -> str:
    return error.message if isinstance(error, SidingError) else error.strerror or str(error)
