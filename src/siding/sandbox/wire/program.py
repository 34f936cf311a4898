"""The proxy of one run, ``python -m siding.sandbox.wire.program``; its input is a `Spec`.

It lives as long as its lifeline, which the host of the run holds (and the keeper of one that
survives its host). It writes the lines of the run and nothing else, and asks nobody.
"""

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from siding.record.wire.journal import WireJournal
from siding.sandbox.wire.egress import Allowance, EgressRelay, addresses_of
from siding.sandbox.wire.ends import End, Reach, anybody, is_ours
from siding.sandbox.wire.exchange import FailedBodies
from siding.sandbox.wire.hosts import HostList
from siding.sandbox.wire.meter import Metering, MeterRelay
from siding.sandbox.wire.spec import INSIDE, Route, Spec

MOST_CONNECTIONS = 512
_HANDOVER_S = 5.0
_MOST_LISTENERS = 64
_FAREWELL_S = 0.5  # for clients that have ended: their last lines are to be written


class Proxy:
    """Serves the listeners of one run."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._journal = WireJournal(Path(spec.journal) if spec.journal else None)
        self._reach = Reach(spec.env)
        self._failed = FailedBodies()
        self._open: set[End] = set()
        self._tasks: list[asyncio.Task[None]] = []

    async def serve(self) -> None:
        """Serve until the lifeline ends."""
        over = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._spec.lifeline, over.set)
        for route in self._spec.routes:
            if route.listening != INSIDE:
                await self._meter(route, socket.socket(fileno=route.listening), is_ours)
        if self._spec.handover >= 0:
            self._await_listeners(socket.socket(fileno=self._spec.handover))
        await over.wait()
        end = time.monotonic() + _FAREWELL_S
        while self._open and time.monotonic() < end:
            await asyncio.sleep(0.01)
        for each in list(self._open):
            each.reset()
        await asyncio.sleep(0)

    def _await_listeners(self, door: socket.socket) -> None:
        """Take over, once, the listeners that the sandbox hands out before its command begins."""
        loop = asyncio.get_running_loop()

        def take() -> None:
            loop.remove_reader(door)
            with door, door.accept()[0] as giver:
                giver.settimeout(_HANDOVER_S)
                _data, fds, _flags, _address = socket.recv_fds(giver, 1, _MOST_LISTENERS)
            self._tasks.append(loop.create_task(self._serve_inside(fds)))

        loop.add_reader(door, take)

    async def _serve_inside(self, fds: list[int]) -> None:
        listeners = [socket.socket(fileno=fd) for fd in fds]
        if self._spec.egress is not None:
            allowance = Allowance(
                hosts=HostList(self._spec.egress.hosts),
                reach=self._reach,
                resolve=addresses_of,
                journal=self._journal,
                at=_now,
                now=_milliseconds,
                proxies=self._spec.egress.proxies,
            )
            await self._listen(listeners.pop(0), lambda: EgressRelay(allowance).client)
        for route, listener in zip(self._spec.routes, listeners, strict=True):
            await self._meter(route, listener, anybody)

    async def _meter(
        self, route: Route, listener: socket.socket, owners: Callable[[int, int], bool]
    ) -> None:
        metering = Metering(
            reach=self._reach,
            journal=self._journal,
            failed=self._failed,
            at=_now,
            now=_milliseconds,
            is_ours=owners,
        )
        await self._listen(listener, lambda: MeterRelay(route, metering).client)

    async def _listen(self, listener: socket.socket, made: Callable[[], End]) -> None:
        def factory() -> End:
            end = made()
            if len(self._open) >= MOST_CONNECTIONS:
                asyncio.get_running_loop().call_soon(end.reset)
            self._open.add(end)
            end.when_lost = partial(self._open.discard, end)
            return end

        listener.setblocking(False)
        await asyncio.get_running_loop().create_server(factory, sock=listener, backlog=128)


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="milliseconds")


def _milliseconds() -> float:
    return time.monotonic() * 1000


def main() -> int:
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the run ends it
    spec = Spec.decoded(sys.stdin.buffer.read())
    os.set_inheritable(spec.lifeline, False)
    asyncio.run(Proxy(spec).serve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
