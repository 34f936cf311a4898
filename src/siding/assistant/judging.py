"""Who judges the calls of the built-in agent: the broker of its run.

In a run of its own the agent was told whether calls are judged there (`RunJudge`). In another
agent's run it was told nothing: it reports in plain words (`agents.plain_words`), as any
agent may (`BrokerJudge`). Where that broker cannot be asked, or answers nonsense, the call does not
run: whoever has a policy wants a verdict, and nobody can tell from here that there is none.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from siding.agents.acp.broker import denied_in
from siding.agents.table import ANY
from siding.assistant.loop.permissions.guard import CallJudge
from siding.assistant.reporting import Reports
from siding.assistant.tools.place import Broker
from siding.assistant.tools.port import Call, Use
from siding.ground.storage.fields import mapping, text

_TRIES = 3  # a broker that was killed is started again for who comes next


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
        for _ in range(_TRIES):
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
