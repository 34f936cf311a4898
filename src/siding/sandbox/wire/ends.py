"""The two ends of a connection that passes through: each tells the relay between them."""

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import Protocol

_AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends a reset
_PASSED_ON = frozenset({ConnectionResetError, ConnectionAbortedError})


class Relay(Protocol):
    """What stands between two ends."""

    def met(self, end: "End") -> None: ...

    def got(self, end: "End", data: bytes) -> None: ...

    def lost(self, end: "End", error: Exception | None) -> None: ...


class End(asyncio.Protocol):
    """One end. What its peer cannot take at once makes the other end stop reading."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._transport: asyncio.Transport | None = None
        self.other: End | None = None
        self.when_lost: Callable[[], None] | None = None
        self._is_lost = False
        self._held_back: set[str] = set()

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._is_lost

    @property
    def ports(self) -> tuple[int, int]:
        """The ports of the peer and of ours."""
        assert self._transport is not None
        names = (self._transport.get_extra_info(each) for each in ("peername", "sockname"))
        peer, own = (int(name[1]) if isinstance(name, tuple) else 0 for name in names)
        return peer, own

    def write(self, data: bytes) -> None:
        if self._transport is not None and not self._is_lost:
            self._transport.write(data)

    def hold_back(self, why: str) -> None:
        """Read no more, until `go_on` was called for each reason."""
        if self._transport is not None and not self._held_back and not self._is_lost:
            self._transport.pause_reading()
        self._held_back.add(why)

    def go_on(self, why: str) -> None:
        self._held_back.discard(why)
        if self._transport is not None and not self._held_back and not self._is_lost:
            self._transport.resume_reading()

    def finish(self) -> None:
        """Close when everything is written."""
        if self._transport is not None:
            self._transport.close()

    def reset(self) -> None:
        """Close at once, as a connection ends that was reset."""
        if self._transport is None:
            return
        sock = self._transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self._transport.abort()

    def end_like(self, error: Exception | None) -> None:
        """End as the connection at the other end did."""
        if type(error) in _PASSED_ON:
            self.reset()
        else:
            self.finish()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if self._held_back:
            transport.pause_reading()
        self._relay.met(self)

    def data_received(self, data: bytes) -> None:
        self._relay.got(self, data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True
        if self.other is not None:
            self.other.go_on("slow")
        self._relay.lost(self, exc)
        if self.when_lost is not None:
            self.when_lost()

    def pause_writing(self) -> None:
        if self.other is not None:
            self.other.hold_back("slow")

    def resume_writing(self) -> None:
        if self.other is not None:
            self.other.go_on("slow")
