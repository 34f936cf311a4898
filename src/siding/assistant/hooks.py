"""Hooks: of the program that drives the agent, and commands that settings name (`stop_hooks`).

They are told what happens, and may object.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from siding.assistant.loop.setup import CallHooks, HookRuling
from siding.assistant.tools.program import Limits, Output, run
from siding.ground.process.capture import CannotStart

__all__ = ["ConversationHooks", "HookRuling"]


class ConversationHooks(CallHooks, Protocol):
    """What a front end passes on. Each waits as long as the program takes."""

    async def prompted(self, text: str) -> HookRuling:
        """Return whether a prompt may be answered; `told` of it is for the model."""
        ...

    async def object(self, text: str) -> str:
        """Return what objects to the end of the turn, whose last text this is; "" for nothing."""
        ...

    def take_told(self) -> list[str]:
        """Return what the model is to be told since this was last called."""
        ...


# -- Commands of the settings that have a say in whether a turn may end (`stop_hooks`) -------------


_OBJECTS = 2  # the exit status with which a command objects, as with Claude Code
_LIMITS = Limits(longest_s=600, most_bytes=1 << 20)
_MOST_OBJECTIONS = 10  # in a turn; a test that cannot be mended must not go on for ever
_MOST_SHOWN = 10_000  # characters of what a command says


class StopHooks:
    """Runs the commands, one after the other, in the workspace. `say` shows a sentence."""

    def __init__(
        self,
        commands: Sequence[str],
        workspace: Path,
        env: Mapping[str, str],
        say: Callable[[str], None],
    ) -> None:
        self._commands = commands
        self._workspace = workspace
        self._env = env
        self._say = say
        self._objections = 0

    def turn_begins(self) -> None:
        """Count the objections anew."""
        self._objections = 0

    async def object(self, _said: str) -> str:
        """Return what objects to the end of the turn, for the model; "" if nothing does."""
        for command in self._commands:
            objection = await self._asked(command)
            if not objection:
                continue
            if self._objections == _MOST_OBJECTIONS:
                self._say(f"{command!r} objects for the {_MOST_OBJECTIONS + 1}th time: not heard")
                return ""
            self._objections += 1
            return objection
        return ""

    async def _asked(self, command: str) -> str:
        again = {"SIDING_STOP_HOOK_ACTIVE": "1"} if self._objections else {}
        argv = ("sh", "-c", command)
        try:
            found = await run(argv, cwd=self._workspace, env={**self._env, **again}, limits=_LIMITS)
        except CannotStart as error:
            self._say(f"{command!r} could not be run: {error}")
            return ""
        if found.code == _OBJECTS:
            return f"`{command}` objects to the end of this turn:\n\n{_shown(found)}"
        if found.code != 0:
            why = found.cut or f"exit status {found.code}"
            self._say(f"{command!r} has failed and is not heard: {why}")
        return ""


def _shown(found: Output) -> str:
    text = found.stderr.strip() or found.stdout.decode("utf-8", "replace").strip()
    if len(text) > _MOST_SHOWN:
        text = f"[The beginning is left out.]\n{text[-_MOST_SHOWN:]}"
    return text or "It does not say why."
