"""A viewer's side of a run's control socket."""

from contextlib import suppress
from pathlib import Path

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import WindowSize
from siding.ground.process.control import frames
from siding.ground.process.control.frames import BadFrame, Frame, connect_to

_READ = 256 << 10
_MOST_CELLS = 10_000


class Welcome(NamedTuple):
    """What the host says first: whether the run has a terminal, its size, and the modes it is in.

    Without a terminal the size is 0.
    """

    terminal: bool
    modes: frozenset[int]
    size: WindowSize = WindowSize(rows=0, columns=0)


class RunEnd(NamedTuple):
    """How the run ended, as its host says."""

    exit_code: int
    ending: str


class Refused(Exception):
    """The host does not serve this viewer."""


class HostGone(Exception):
    """The host has closed the connection without a word: it died, or stopped serving us."""


class Connection:
    """A connection with the host of a run, that has greeted us.

    Raises OSError if there is none, Refused and HostGone.
    """

    def __init__(
        self,
        path: Path,
        *,
        mode: str,
        size: WindowSize | None = None,
        read_only: bool = False,
        now: bool = False,
    ) -> None:
        self._socket = connect_to(path)
        self._received = bytearray()
        self._waiting: list[Frame] = []
        rows, columns = size or (0, 0)
        hello = frames.encode_fields(
            frames.HELLO,
            version=frames.VERSION,
            mode=mode,
            rows=rows,
            columns=columns,
            read_only=read_only,
            now=now,
        )
        try:
            with suppress(HostGone):  # it may have said why before it closed the connection
                self._put(hello)
            self.welcome = self._await_welcome()
        except BaseException:
            self.close()
            raise

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def has_more(self) -> bool:
        """Whether messages have come that `read` has not returned: it will not have to wait."""
        return bool(self._waiting)

    def type(self, keys: bytes) -> None:
        """Send keys; wait while the program does not take them."""
        for message in frames.encode_long(frames.TYPE, keys):
            self._put(message)

    def resize(self, size: WindowSize) -> None:
        self._put(frames.encode_fields(frames.SIZE, rows=size.rows, columns=size.columns))

    def read(self) -> list[Frame]:
        """Wait until something comes, and return the messages that are whole by then, if any.

        Raises Refused, HostGone, and TimeoutError.
        """
        found, self._waiting = self._waiting, []
        if not found:
            try:
                data = self._socket.recv(_READ)
            except ConnectionError:
                data = b""
            if not data:
                raise HostGone("the connection was closed")
            self._received += data
            try:
                found = list(frames.take_frames(self._received))
            except BadFrame as error:
                raise HostGone(str(error)) from error
        return [_allowed(frame) for frame in found]

    def close(self) -> None:
        self._socket.close()

    def wait_at_most(self, seconds: float) -> None:
        """From now on raise TimeoutError if the host takes longer than this."""
        self._socket.settimeout(seconds)

    def _put(self, message: bytes) -> None:
        try:
            self._socket.sendall(message)
        except ConnectionError as error:
            raise HostGone(str(error)) from error

    def _await_welcome(self) -> Welcome:
        while not (came := self.read()):
            pass
        first, *self._waiting = came
        fields = first.fields()
        modes = fields.get("modes")
        return Welcome(
            terminal=fields.get("terminal") is True,
            modes=frozenset(each for each in modes if isinstance(each, int))
            if isinstance(modes, list)
            else frozenset(),
            size=WindowSize(
                rows=frames.number(fields.get("rows"), most=_MOST_CELLS),
                columns=frames.number(fields.get("columns"), most=_MOST_CELLS),
            ),
        )


def end_of(frame: Frame) -> RunEnd:
    """Return what the message of a run's end says."""
    fields = frame.fields()
    return RunEnd(
        exit_code=frames.number(fields.get("exit_code"), most=255),
        ending=str(fields.get("ending", "")),
    )


def _allowed(frame: Frame) -> Frame:
    if frame.kind == frames.REFUSED:
        raise Refused(str(frame.fields().get("reason", "")))
    return frame
