"""Calls of the built-in agent are judged by the broker of the run that it is in.

It reports in plain words (`adapters.agents.plain_words`), as any agent may. Where the broker of a
run cannot be asked, or answers nonsense, the call does not run: whoever has a policy wants a
verdict, and nobody can tell from here that there is none.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from siding.adapters.acp.broker import denied_in
from siding.adapters.agents.table import ANY
from siding.process.broker.client import VARIABLE, NoBroker
from siding.storage.fields import mapping, text
from siding.tools.place import Broker
from siding.tools.port import Call, Use

_LONGEST = 4 << 20  # bytes of an answer
_TRIES = 3  # a broker that was killed is started again for who comes next


class RunBroker:
    """The broker of a run, asked over its socket. A request that is cancelled hangs up."""

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


def broker_in(env: Mapping[str, str]) -> RunBroker | None:
    """Return the broker of the run whose environment this is; None outside of a run."""
    path = env.get(VARIABLE, "")
    return RunBroker(path) if path else None


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
    for touch in use.touches.touches:
        said.setdefault(touch.effect.value, []).append(touch.what)
    return said
