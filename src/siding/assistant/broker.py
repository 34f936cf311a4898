"""The broker of the run, as the agent uses it.

It is asked from an event loop, one connection for each request: to hear of turns and calls, and to
judge a call before it runs.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from siding.agents.acp.broker import denied_in
from siding.agents.hooks import Moment
from siding.agents.own.hooks import Told
from siding.agents.table import ANY, OWN
from siding.assistant.loop.permissions.guard import CallJudge
from siding.assistant.tools.place import Broker
from siding.assistant.tools.port import Call, Use
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.broker.client import NoBroker
from siding.ground.storage.fields import mapping, mappings, text, whole
from siding.shellguard.face import Effect

_LONGEST = 4 << 20  # bytes of an answer


class RunBroker:
    """Asks over the socket at `path`. A request that is cancelled hangs up.

    Implements `tools.place.Broker`.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    async def request(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the answer to a request. Raises OSError."""
        line = json.dumps(fields).encode() + b"\n"
        reader, writer = await asyncio.open_unix_connection(self._path, limit=_LONGEST)
        try:
            with suppress(ConnectionError):  # why it hung up stands in what it has sent
                writer.write(line)
                await writer.drain()
            answer = await reader.readline()
        except ValueError:
            raise NoBroker("the broker's answer is too long") from None
        finally:
            writer.close()
        if not answer.endswith(b"\n"):
            raise NoBroker("the broker went away before it answered")
        try:
            found = json.loads(answer)
        except (ValueError, RecursionError):
            raise NoBroker("the broker's answer cannot be read") from None
        if not isinstance(found, dict):
            raise NoBroker("the broker's answer is no object")
        return found


# -- What the agent reports to the broker of its run: turns, and each call before it runs ----------
#
# Turns become steps of the task there. A report of a turn that fails is told once and changes
# nothing else: the conversation is more than its steps.


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
    for effect, what in use.touches.touches:
        named[effect.value].append(what)
    return {"tool": use.touches.name, **{key: value for key, value in named.items() if value}}


# -- Who judges the calls of the built-in agent: the broker of its run -----------------------------
#
# In a run of its own the agent was told whether calls are judged there (`RunJudge`). In another
# agent's run it was told nothing: it reports in plain words (`agents.plain_words`), as any agent
# may (`BrokerJudge`). Where that broker cannot be asked, or answers nonsense, the call does not
# run: whoever has a policy wants a verdict, and nobody can tell from here that there is none.


_TRIES_TO_JUDGE = 3  # a broker that was killed is started again for who comes next


class RunJudge:
    """Judges in a run of the agent's own.

    No call runs before its turn is reported: what it changes would not be of the turn's step.
    """

    def __init__(self, reports: Reports) -> None:
        self._reports = reports
        self._begun: asyncio.Task[None] | None = None

    def turn_begins(self, reported: asyncio.Task[None]) -> None:
        """Let no call run before this task is done."""
        self._begun = reported

    async def refuses(self, call: Call, use: Use, cwd: str) -> str:
        """See `CallJudge.refuses`."""
        if self._begun is not None:
            await asyncio.shield(self._begun)
        return await self._reports.judged(call, use, cwd)

    async def ended(self, call: Call, use: Use) -> None:
        """See `CallJudge.ended`."""
        await self._reports.called(call, use)


class BrokerJudge:
    """Has calls judged, and reports those that have ended."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    async def refuses(self, call: Call, use: Use, cwd: str) -> str:
        """Return why a call must not run, "" if it may; a person may have been asked."""
        payload = _payload(call, use, cwd)
        if payload is None:
            return ""  # it works on no file and no address, and starts nothing
        why = ""
        for _ in range(_TRIES_TO_JUDGE):
            try:
                return await self._verdict(payload)
            except (OSError, ValueError) as error:
                why = str(error) or type(error).__name__
        return f"{call.name} was not used: the policy's verdict could not be had ({why})."

    async def ended(self, call: Call, use: Use) -> None:
        """Report a call that has ended. Nobody has to be there to hear it."""
        payload = {"moment": "call", "call": call.id, "text": use.text or call.name}
        with suppress(OSError):
            await self._report(payload)

    async def _verdict(self, payload: Mapping[str, Any]) -> str:
        answer = await self._report(payload)
        if answer.get("ok") is not True or not isinstance(answer.get("result"), dict):
            message = text(mapping(answer.get("error")).get("message"))
            raise ValueError(message or "the broker has refused")
        return denied_in(mapping(answer["result"]))

    async def _report(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        return await self._broker.request({"do": "report", "agent": ANY, "payload": payload})


def _payload(call: Call, use: Use, cwd: str) -> dict[str, Any] | None:
    """Return what is reported of a call that is about to run; None if there is nothing to judge."""
    said: dict[str, Any] = {"moment": "tool", "call": call.id, "cwd": cwd}
    if use.command:
        return {**said, "command": use.command}
    if use.touches is None or not use.touches.touches:
        return None
    said["tool"] = call.name
    for effect, what in use.touches.touches:
        said.setdefault(effect.value, []).append(what)
    return said


def judge_of(broker: Broker | None, reports: Reports | None) -> CallJudge | None:
    """Return who judges calls; None outside of a run."""
    if reports is not None:
        return RunJudge(reports)
    return None if broker is None else BrokerJudge(broker)
