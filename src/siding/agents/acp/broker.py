"""The broker of the run that the bridge is in: it is told of turns, and judges commands.

An agent that speaks ACP has no hooks, so the bridge reports for it, in plain words
(`agents.plain_words`). Without a broker nothing is told, and nothing is judged.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from siding.agents.table import ANY
from siding.ground.process.broker import client


class Broker:
    """Asked from the loop; a person may take hours to answer."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._socket = env.get(client.VARIABLE, "")

    async def tell(self, moment: str, **fields: Any) -> None:
        """Report a moment of the conversation."""
        await self._report({"moment": moment, **fields})

    async def refuses(self, command: str, cwd: str) -> str | None:
        """Return why a command must not run, "" if it may; None if nobody could be asked."""
        answer = await self._report({"moment": "tool", "command": command, "cwd": cwd})
        try:
            return None if answer is None else denied_in(answer)
        except ValueError:
            return None

    async def _report(self, payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if not self._socket:
            return None
        try:
            return await asyncio.to_thread(self._ask, payload)
        except (OSError, ValueError, KeyError):
            return None

    def _ask(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        connection = client.connect(self._socket)
        try:
            line = json.dumps({"do": "report", "agent": ANY, "payload": payload})
            answer = json.loads(client.ask_line(connection, line.encode()))
        finally:
            connection.close()
        if answer["ok"] is not True:
            raise ValueError("the broker has refused")
        result: Mapping[str, Any] = answer["result"]
        return result


def denied_in(answer: Mapping[str, Any]) -> str:
    """Return why an answer denies a call, "" if it does not.

    Raises ValueError for nonsense, which is no leave to do something.
    """
    output = answer.get("output")
    if not isinstance(output, str):
        raise ValueError("the broker's answer is no text")  # noqa: TRY004 - of what was received
    said = json.loads(output or "{}")
    if not isinstance(said, dict):
        raise ValueError("the broker's answer is no object")  # noqa: TRY004
    denied = said.get("deny", "")
    if not isinstance(denied, str):
        raise ValueError("the broker gives no reason")  # noqa: TRY004
    return denied
