"""What the agent reports to the broker of its run: turns, and each call before it runs.

Turns become steps of the task there. A report of a turn that fails is told once and changes nothing
else: the conversation is more than its steps.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from siding.agents.hooks import Moment
from siding.agents.own.hooks import Told
from siding.agents.table import OWN
from siding.assistant.tools.place import Broker
from siding.assistant.tools.port import Call, Use
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, text, whole
from siding.shellguard.tool_use import Effect

_NO_VERDICT = (
    "In this run each command and tool is judged before it runs, and Siding did not answer. "
    "Do not try again."
)
_OF_SERVERS, _OWN_SERVER = "mcp__", "mcp__siding__"
_SHOWN = 300  # characters of each field of an unknown tool's input
_WAITED_S = 0.5  # who waited so long for a verdict waited for a person
_TRIES = 3  # a broker that was killed is started again for who comes next


class Standing(NamedTuple):
    """Which turns of a conversation stand, oldest first; `step` is the task's newest one."""

    step: int
    turns: tuple[tuple[str, bool], ...]


class Reports:
    """Reports of one conversation. `say` shows the person a sentence."""

    def __init__(self, broker: Broker, told: Told, say: Callable[[str], None]) -> None:
        self._broker = broker
        self._told = told
        self._say = say
        self._has_failed = False
        self.session = ""
        self.transcript = ""

    async def begin(self, *, is_new: bool) -> None:
        """Report that the conversation begins or goes on."""
        await self._report(Moment.SESSION, {"new": is_new})

    async def prompted(self, turn: str, prompt: str) -> None:
        """Report that a turn begins: what changed before is not of it."""
        await self._report(Moment.PROMPT, {"turn": turn, "text": prompt})

    async def ended(self, turn: str, *, failed: bool) -> None:
        """Report that a turn is over: it becomes a step."""
        await self._report(Moment.FAILED if failed else Moment.STOPPED, {"turn": turn})

    async def called(self, call: Call, use: Use) -> None:
        """Report that a call has ended which may have changed files."""
        if self._told.calls:
            await self._report(Moment.CALLED, {"call": call.id, "text": use.text})

    async def judged(self, call: Call, use: Use, cwd: str) -> str:
        """Return "" if the call may run, else why not. A person may be asked meanwhile."""
        told = _touched(use) if use.command or use.touches else self._unknown(call)
        if not self._told.judges or not told:
            return ""
        fields = {"call": call.id, "cwd": cwd, **told}
        begun = time.monotonic()
        for _ in range(_TRIES):
            try:
                answer = await self._sent(Moment.TOOL, fields)
            except OSError:
                continue
            denied = _NO_VERDICT if answer is None else answer.get("deny", "")
            return denied if isinstance(denied, str) else _NO_VERDICT
        # The run may have ended while a person was asked.
        has_waited = time.monotonic() - begun > _WAITED_S
        return _NO_VERDICT if self._told.requires or has_waited else ""

    def _unknown(self, call: Call) -> Mapping[str, Any]:
        """Return what is told of a tool that is no tool of ours, where it must have a verdict."""
        is_of_server = call.name.startswith(_OF_SERVERS) and not call.name.startswith(_OWN_SERVER)
        if not self._told.requires or not is_of_server:
            return {}
        given = {name: str(value)[:_SHOWN] for name, value in call.given.items()}
        return {"tool": call.name, "given": given}

    async def standing(self, since: int | None) -> Standing | None:
        """Return which turns stand; none if nothing was gone back to after the step `since`.

        None: nobody can tell.
        """
        asked = {"do": "turns", "session": self.session}
        try:
            answer = await self._broker.request(
                asked if since is None else {**asked, "since": since}
            )
        except OSError as error:
            self._failed(str(error))
            return None
        result = mapping(answer.get("result"))
        if answer.get("ok") is not True:
            return None
        turns = mappings(result.get("turns"))
        return Standing(
            whole(result.get("step")),
            tuple((text(each.get("turn")), each.get("stands") is True) for each in turns),
        )

    async def _report(self, moment: Moment, fields: Mapping[str, Any]) -> None:
        try:
            if await self._sent(moment, fields) is None:
                self._failed("the broker of the run refused a report")
        except OSError as error:
            self._failed(str(error))

    async def _sent(self, moment: Moment, fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return what the broker has to say; None if that is nonsense or a refusal."""
        payload = {
            "moment": moment.value,
            "session": self.session,
            "transcript": self.transcript,
            **fields,
        }
        answer = await self._broker.request({"do": "report", "agent": OWN, "payload": payload})
        output = mapping(answer.get("result")).get("output")
        if answer.get("ok") is not True or not isinstance(output, str):
            return None
        if not output:
            return {}
        try:
            said = json.loads(output)
        except ValueError:
            return None
        return said if isinstance(said, dict) else None

    def _failed(self, why: str) -> None:
        if not self._has_failed:
            self._has_failed = True
            self._say(f"turns are not recorded as steps: {why}")


def _touched(use: Use) -> dict[str, Any]:
    if use.touches is None:
        return {"command": use.command}
    named: dict[str, Any] = {each.value: [] for each in Effect}
    for touch in use.touches.touches:
        named[touch.effect.value].append(touch.what)
    return {"tool": use.touches.name, **{key: value for key, value in named.items() if value}}
