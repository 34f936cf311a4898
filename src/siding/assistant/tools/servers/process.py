"""A server of MCP that is a process of ours: a message is a line of its standard streams."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from siding.assistant.tools.servers.server import Message, ServerError

_LONGEST = 64 << 20  # bytes of a message
_GRACE_S = 2.0  # for a server whose input has ended


class ProcessLink:
    """Implements `Link`. What the server says on standard error goes where ours goes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[object, asyncio.Future[Mapping[str, Any]]] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def started(
        cls, argv: Sequence[str], *, env: Mapping[str, str], cwd: str
    ) -> "ProcessLink":
        """Start a server. Raises ServerError."""
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=dict(env),
                cwd=cwd,
                limit=_LONGEST,
                start_new_session=True,  # a Ctrl-C is for the turn, not for the server
            )
        except (OSError, ValueError) as error:
            raise ServerError(f"{argv[0]!r} does not start: {error}") from None
        return cls(process)

    async def exchange(self, message: Message) -> Mapping[str, Any]:
        """See `Link.exchange`."""
        if self._reading.done():
            raise ServerError("it has ended")
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[message["id"]] = waiting
        try:
            await self.tell(message)
            found: Mapping[str, Any] = await waiting
            return found
        finally:
            self._waiting.pop(message["id"], None)

    async def tell(self, message: Message) -> None:
        """See `Link.tell`."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            await self._process.stdin.drain()
        except OSError as error:
            raise ServerError(f"it does not listen: {error}") from None

    async def close(self) -> None:
        """End the server: by the end of its input, or else by a signal."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), _GRACE_S)
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        await self._reading

    async def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                await self._take(line)
        except ValueError:  # a line is longer than any message
            pass
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ServerError("it has ended before it answered"))

    async def _take(self, line: bytes) -> None:
        """Take an answer; refuse what the server asks of us, and pass over what it tells."""
        try:
            message = json.loads(line)
        except ValueError:
            return  # some print what is no message
        if not isinstance(message, dict):
            return
        if "method" not in message:
            waiting = self._waiting.get(message.get("id"))
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
        elif "id" in message:
            is_ping = message["method"] == "ping"
            error = {"code": -32601, "message": f"siding does not know {message['method']!r}"}
            answer = {"result": {}} if is_ping else {"error": error}
            with suppress(ServerError):
                await self.tell({"jsonrpc": "2.0", "id": message["id"], **answer})
