"""The host's side of a run's control socket. It serves viewers from the loop that drives the run.

Nothing here waits for a viewer. One that does not read what it is sent is skipped forward: it is
told how much it missed and gets the present screen. One that sends what is no message is dropped.
What is kept for each one is bounded, and so is their number.

Whoever begins to watch gets the output from the last safe point on. No terminal is emulated. What a
program does not draw again by itself is there only as far as these bytes reach.

What the terminal would answer is taken out of the output. A question is answered by typing. If
several people watch a run, only one terminal may answer; and what a program asked an hour ago must
not be answered by a terminal that shows it now: the answer would be typed into whatever reads the
keys by then.
"""

import re
import select
import time
from _socket import socket
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

from siding.ground.process.command import WindowSize
from siding.ground.process.control import frames
from siding.ground.process.control.frames import BadFrame, Frame, accept_from, listen_at
from siding.ground.process.control.recent import Recent
from siding.ground.process.control.shared import SharedTerminal
from siding.ground.process.terminal import (
    ALTERNATE,
    ALTERNATE_SCREENS,
    from_line_start,
    since_safe_point,
)

_LONGEST = 128  # bytes; a longer unfinished sequence is no question
_STRING_END = rb"(?:\x07|\x1b\\)"
_QUERY = re.compile(
    rb"\x05"  # ENQ
    rb"|\x1bZ"  # DECID
    rb"|\x1b\[[>=]?[0-9;]{0,8}c"  # DA: which terminal are you
    rb"|\x1b\[\??[0-9;]{1,8}n"  # DSR: status, place of the cursor
    rb"|\x1b\[\??[0-9;]{1,8}\$p"  # DECRQM: state of a mode
    rb"|\x1b\[>[0-9;]{0,4}q"  # XTVERSION
    rb"|\x1b\[\?u"  # kitty: state of the keyboard
    rb"|\x1b\[\?[0-9;]{0,8}g"  # XTQMODKEYS as some send it
    rb"|\x1b\[\?4m"  # XTQMODKEYS
    rb"|\x1b\[(?:1[1345689]|2[01])(?:;[0-9]{1,4})?t"  # size and title of the window
    rb"|\x1b\[[01]?x"  # DECREQTPARM
    rb"|\x1b\[[0-9;]{1,20}\*y"  # DECRQCRA
    rb"|\x1b\][0-9]{1,4};[0-9;a-z]{0,8}\?"
    + _STRING_END  # colours, the clipboard
    + rb"|\x1bP(?:\$q|\+q)[^\x07\x1b]{0,100}"
    + _STRING_END  # DECRQSS, XTGETTCAP
    + rb"|\x1b_G[^\x07\x1b]{0,100}a=q[^\x07\x1b]{0,100}\x1b\\\\"  # kitty: can you show pictures
)
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[P_][^\x07\x1b]*\x1b?)?\Z")
# Attributes, scrolling region, insert mode and character set back to normal; nothing is erased.
SOFT_RESET = b"\x1b[!p\x1b[0m\x1b(B\x0f"
MOST_VIEWERS = 16
_MOST_WAITING = 512 << 10  # bytes for one viewer; more than a replay has
_READ = 64 << 10
_DEAF_S = 1.0  # a pause when no connection can be taken, for want of descriptors say
_LONGEST_GOODBYE_S = 0.5
_MOST_CELLS = 5000
Wanted = list[tuple[int, int, Callable[[], object]]]


def without_queries(data: bytes) -> bytes:
    """Return the output without the questions in it."""
    return _QUERY.sub(b"", data)


class WholeSequences:
    """Passes output on in pieces that do not end in the middle of a sequence."""

    def __init__(self) -> None:
        self._carry = b""

    def feed(self, data: bytes) -> bytes:
        """Return what can be passed on; the beginning of a sequence is kept for the next call."""
        data, self._carry = self._carry + data, b""
        cut = _UNFINISHED.search(data, max(0, len(data) - _LONGEST))
        if cut is not None:
            data, self._carry = data[: cut.start()], data[cut.start() :]
        return data


def replay(recent: Recent) -> bytes:
    """Return bytes that bring a terminal to about what is on the run's screen now."""
    data = bytes(recent.data)
    if recent.is_cut:
        data = from_line_start(data)
    if not recent.is_terminal:
        return data
    data = since_safe_point(data)
    enter = b""
    if recent.modes.switched & ALTERNATE_SCREENS and ALTERNATE.search(data) is None:
        enter = b"\x1b[?1049h\x1b[2J\x1b[H"
    return SOFT_RESET + enter + data + recent.modes.again()


class Peer:
    """One connection: what came and is no whole message yet, and what waits to be sent."""

    def __init__(self, connection: socket) -> None:
        self.connection = connection
        self.mode = ""  # until it has said what it wants
        self.is_only_looking = False
        self.received = bytearray()
        self.typed_to = 0  # the count of the terminal after this peer's last byte
        self.typed = 0
        self.told_typed = 0
        self.is_open = True
        self._sending: deque[bytes] = deque()
        self._waiting = 0
        self._begun = 0  # bytes of the first message that are sent
        self._missed = 0

    @property
    def wants_to_send(self) -> bool:
        return bool(self._sending)

    @property
    def missed(self) -> int:
        """How many bytes were not sent because the peer was too slow; 0 if it can go on."""
        return 0 if self._sending else self._missed

    def caught_up(self) -> None:
        self._missed = 0

    def put(self, message: bytes) -> None:
        """Send output behind what waits, if there is room for it."""
        if self._missed or self._waiting + len(message) > _MOST_WAITING:
            self._skip(message)
        else:
            self._sending.append(message)
            self._waiting += len(message)

    def tell(self, message: bytes) -> None:
        """Send a short message that must not be skipped; drop a peer that reads nothing at all."""
        if self._waiting > 2 * _MOST_WAITING:
            self.close()
        else:
            self._sending.append(message)
            self._waiting += len(message)

    def flush(self) -> None:
        """Send what the peer takes now."""
        try:
            while self._sending:
                first = memoryview(self._sending[0])
                self._begun += self.connection.send(first[self._begun :])
                if self._begun < len(first):
                    break
                self._waiting -= len(first)
                self._sending.popleft()
                self._begun = 0
        except BlockingIOError:
            pass
        except OSError:
            self.close()

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            self.connection.close()
        self._sending.clear()

    def _skip(self, message: bytes) -> None:
        """Drop what waits, but for a message that is half sent."""
        self._missed += len(message)
        while len(self._sending) > (1 if self._begun else 0):
            dropped = self._sending.pop()
            self._missed += len(dropped)
            self._waiting -= len(dropped)


class Server:
    """Serves the viewers of one run. `terminal` is None if the run has pipes.

    `stop` ends everything that the run started, at once if its argument is True.
    """

    def __init__(
        self,
        path: Path,
        recent: Recent,
        terminal: SharedTerminal | None,
        stop: Callable[[bool], None],
    ) -> None:
        self._listener = listen_at(path)
        self._path = path
        self._recent = recent
        self._terminal = terminal
        self._stop = stop
        self._peers: list[Peer] = []
        self._whole = WholeSequences()
        self._deaf_until = 0.0

    @property
    def due(self) -> float | None:
        """When the server wants to be asked again, whatever happens; None: it does not."""
        return self._deaf_until or None

    def wanted(self) -> Wanted:
        """Return the descriptors to wait for, for what, and what to call then."""
        self._tell_typed()
        found: Wanted = []
        if self._deaf_until <= time.monotonic():
            self._deaf_until = 0.0
            found.append((self._listener.fileno(), select.POLLIN, self._accept))
        may_type = self._terminal is None or self._terminal.has_room
        for peer in list(self._peers):
            if not peer.is_open:
                self._forget(peer)
                continue
            fd = peer.connection.fileno()
            if peer.wants_to_send or peer.missed:
                found.append((fd, select.POLLOUT, partial(self._send, peer)))
            if may_type:
                found.append((fd, select.POLLIN, partial(self._read, peer)))
        return found

    def saw(self, data: memoryview) -> None:
        """Show output to those who watch."""
        watching = [peer for peer in self._peers if peer.mode == "attach" and peer.is_open]
        if not watching:
            self._whole = WholeSequences()
            return
        whole = bytes(data) if self._terminal is None else self._whole.feed(bytes(data))
        messages = frames.encode_long(frames.OUTPUT, whole)
        quiet = messages
        if self._terminal is not None:
            quiet = frames.encode_long(frames.OUTPUT, without_queries(whole))
        for peer in watching:
            answers = self._terminal is None or self._terminal.answers(peer)
            for message in messages if answers else quiet:
                peer.put(message)
            peer.flush()

    def ended(self, exit_code: int, ending: str) -> None:
        """Tell everybody how the run ended, and close. This takes at most half a second."""
        for peer in self._peers:
            if peer.mode:
                peer.tell(frames.encode_fields(frames.ENDED, exit_code=exit_code, ending=ending))
        end = time.monotonic() + _LONGEST_GOODBYE_S
        while left := [peer for peer in self._peers if peer.is_open and peer.wants_to_send]:
            poller = select.poll()
            for peer in left:
                poller.register(peer.connection.fileno(), select.POLLOUT)
            pause = end - time.monotonic()
            if pause <= 0 or not poller.poll(pause * 1000):
                break
            for peer in left:
                peer.flush()
        self.close()

    def close(self) -> None:
        for peer in list(self._peers):
            self._forget(peer)
        self._listener.close()
        self._path.unlink(missing_ok=True)

    def _accept(self) -> None:
        try:
            connection = accept_from(self._listener)
        except (BlockingIOError, ConnectionError):
            return
        except OSError:
            self._deaf_until = time.monotonic() + _DEAF_S
            return
        if connection is None:
            return
        if len(self._peers) >= MOST_VIEWERS:
            # Those that never said what they want make room first.
            silent = next((peer for peer in self._peers if not peer.mode), None)
            if silent is None:
                refused = Peer(connection)
                self._refuse(refused, f"{MOST_VIEWERS} viewers are there already")
                return
            self._forget(silent)
        self._peers.append(Peer(connection))

    def _read(self, peer: Peer) -> None:
        if not peer.is_open:
            return
        try:
            data = peer.connection.recv(_READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._forget(peer)
            return
        peer.received += data
        try:
            for frame in frames.take_frames(peer.received):
                self._take(peer, frame)
        except BadFrame as error:
            self._refuse(peer, str(error))

    def _take(self, peer: Peer, frame: Frame) -> None:
        if not peer.mode:
            self._greet(peer, frame)
        elif frame.kind == frames.TYPE:
            if self._terminal is not None and not peer.is_only_looking:
                self._terminal.act(peer)
                self._terminal.type(frame.data)
                peer.typed += len(frame.data)
                peer.typed_to = self._terminal.typed
        elif frame.kind == frames.SIZE:
            self._resize(peer, frame.fields())
        # A message of a kind that this version does not know is from a newer viewer.

    def _greet(self, peer: Peer, frame: Frame) -> None:
        fields = frame.fields() if frame.kind == frames.HELLO else {}
        mode = fields.get("mode")
        if mode not in ("attach", "send", "stop"):
            raise BadFrame("the first message does not say what is wanted")
        terminal = self._terminal
        size = None if terminal is None else terminal.size
        peer.tell(
            frames.encode_fields(
                frames.WELCOME,
                version=frames.VERSION,
                terminal=terminal is not None,
                rows=size.rows if size else 0,
                columns=size.columns if size else 0,
                modes=sorted(self._recent.modes.switched),
            )
        )
        peer.mode = str(mode)
        peer.is_only_looking = fields.get("read_only") is True
        if mode == "attach":
            self._show_screen(peer)
            if not self._resize(peer, fields) and terminal is not None:
                terminal.redraw()
        peer.flush()
        if mode == "stop":
            self._stop(fields.get("now") is True)

    def _resize(self, peer: Peer, fields: dict[str, object]) -> bool:
        rows = frames.number(fields.get("rows"), most=_MOST_CELLS)
        columns = frames.number(fields.get("columns"), most=_MOST_CELLS)
        if self._terminal is None or peer.is_only_looking or not rows or not columns:
            return False
        return self._terminal.look(peer, WindowSize(rows=rows, columns=columns))

    def _send(self, peer: Peer) -> None:
        if not peer.is_open:
            return
        if missed := peer.missed:
            peer.caught_up()
            peer.tell(frames.encode_fields(frames.SKIPPED, bytes=missed))
            self._show_screen(peer)
            if self._terminal is not None:
                self._terminal.redraw()
        peer.flush()

    def _show_screen(self, peer: Peer) -> None:
        screen = replay(self._recent)
        if self._terminal is not None:
            screen = without_queries(screen)
        for message in frames.encode_long(frames.OUTPUT, screen):
            peer.put(message)

    def _tell_typed(self) -> None:
        if self._terminal is None:
            return
        for peer in self._peers:
            if peer.typed > peer.told_typed and self._terminal.taken >= peer.typed_to:
                peer.told_typed = peer.typed
                peer.tell(frames.encode_fields(frames.TYPED, bytes=peer.typed))

    def _refuse(self, peer: Peer, reason: str) -> None:
        peer.tell(frames.encode_fields(frames.REFUSED, reason=reason))
        peer.flush()
        self._forget(peer)

    def _forget(self, peer: Peer) -> None:
        peer.close()
        if peer in self._peers:
            self._peers.remove(peer)
        if self._terminal is not None:
            self._terminal.leave(peer)
