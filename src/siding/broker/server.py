"""The broker of one run as a process: it serves everybody of the run who comes to its socket.

Each connection has a thread, because requests wait: for a person, for the task's lock, for the
commands of a gate. A connection's requests are answered in their order. The process ends when the
run is over, or when nobody has come for a while; the run's host starts another one for the next.
"""

import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from socket import SHUT_RD, socket

from siding.broker.answers import Answered, answer
from siding.broker.desk import Desk, DeskOfRun, PeerGone, RunOver
from siding.broker.messages import (
    LONGEST,
    BadRequest,
    EventReply,
    RefusalReply,
    Reply,
    ResultReply,
    ToldRequest,
    parse,
    reply_line,
    request_in,
)
from siding.broker.record import MOST_PEERS, Pace, RequestRecord, TooMuch
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.broker.peers import Lines, LineTooLong, Top, is_of
from siding.ground.process.identity import started_of
from siding.phases.gates import GateClosed
from siding.record.place.project import require_project
from siding.record.place.redaction import printable
from siding.record.place.wiring import App
from siding.record.runs.run import ProcessMark, Run

IDLE_S = 300.0  # without a connection; then the broker ends
_SILENT_S = 3600.0  # how long a connection may be open without a request
_FIRST_S = 30.0  # and before the first one
_FAREWELL_S = 1.0  # how long requests that are under way may take when the run is over
_FRESH_S = 1.0
_TICK_S = 0.05
_LONGEST_OUTPUT = 64 << 10  # characters of what the command of a gate printed


class BrokerPlace(NamedTuple):
    """What a broker is started with.

    `act` is the id of the run's act, which its record is named by; "" for a run without a step.
    """

    task_id: str
    run_id: str
    act: str
    listening: int  # the descriptor of the socket
    lifeline: int  # a descriptor that becomes readable when the run is over
    screen: int = -1  # the descriptor on which lines are said to who has started the run


class Broker:
    """Serves the run of `of` at `listener` until `lifeline`, a descriptor, becomes readable."""

    def __init__(self, of: DeskOfRun, record: RequestRecord, listener: socket) -> None:
        self._of = of
        self._record = record
        self._listener = listener
        self._pace = Pace()
        self._is_over = threading.Event()
        self._lock = threading.Lock()
        self._peers: set[socket] = set()
        self._busy_until = time.monotonic()

    def serve(self, lifeline: int, *, idle_s: float = IDLE_S) -> None:
        """Serve until the run is over, or nobody has come for `idle_s` seconds."""
        poller = select.poll()
        poller.register(self._listener, select.POLLIN)
        poller.register(lifeline, select.POLLIN)
        while True:
            ready = dict(poller.poll(1000 * min(idle_s, 10.0)))
            if lifeline in ready:
                break
            if ready:
                self._accept()
            elif not self._peers and time.monotonic() - self._busy_until > idle_s:
                return
        self._end()

    def _accept(self) -> None:
        try:
            connection, _address = self._listener.accept()
        except OSError:
            time.sleep(_TICK_S)  # no descriptor left, say
            return
        connection.setblocking(True)
        with self._lock:
            self._busy_until = time.monotonic()
            is_full = len(self._peers) >= MOST_PEERS
            if not is_full:
                self._peers.add(connection)
        if is_full:
            full = TooMuch(f"{MOST_PEERS} connections of this run are open already")
            self._refuse_and_close(connection, full)
            return
        name = f"peer {connection.fileno()}"
        threading.Thread(target=self._serve, args=(connection,), name=name, daemon=True).start()

    def _refuse_and_close(self, connection: socket, why: SidingError) -> None:
        with suppress(OSError):
            connection.settimeout(0.2)
            connection.sendall(reply_line(RefusalReply.of(None, why)))
        connection.close()

    def _serve(self, connection: socket) -> None:
        try:
            if is_of(connection, tops_of(self._of.run), not_below=os.getpid()):
                with suppress(PeerGone, RunOver, OSError):
                    Conversation(self, connection).hold()
            else:
                strange = Stranger("only processes of this run may ask its broker")
                self._refuse_and_close(connection, strange)
        finally:
            connection.close()
            with self._lock:
                self._peers.discard(connection)
                self._busy_until = time.monotonic()

    def open_desk(self, connection: socket) -> Desk:
        """Return a desk for a connection; its `idle` notices when the peer or the run is gone."""
        return self._of.open(lambda seconds: self._idle(connection, seconds))

    def count(self) -> None:
        """Take note of a request. Raises TooMuch."""
        self._pace.count()

    @property
    def record(self) -> RequestRecord:
        return self._record

    def is_over(self) -> bool:
        """Tell whether the run has ended."""
        return self._is_over.is_set()

    def _idle(self, connection: socket, seconds: float) -> None:
        poller = select.poll()
        poller.register(connection, 0)  # a peer that only says no more is still there
        for _fd, event in poller.poll(seconds * 1000):
            if event & (select.POLLHUP | select.POLLERR | select.POLLNVAL):
                raise PeerGone
        if self._is_over.is_set():
            raise RunOver("the run has ended; a question that was asked stays open")

    def _end(self) -> None:
        """Tell those who wait that the run is over; give what is under way a moment."""
        self._is_over.set()
        with self._lock:
            for connection in self._peers:
                with suppress(OSError):
                    connection.shutdown(SHUT_RD)  # wakes those that wait for a request
        end = time.monotonic() + _FAREWELL_S
        while self._peers and time.monotonic() < end:
            time.sleep(_TICK_S / 5)


class Stranger(SidingError):
    """Who connected is no process of the run."""

    code = "not_of_this_run"


class Conversation:
    """One connection: requests, and their answers in the same order."""

    def __init__(self, broker: Broker, connection: socket) -> None:
        self._broker = broker
        self._connection = connection
        self._lines = Lines(connection, longest=LONGEST)
        self._desk: Desk | None = None
        self._opened_at = 0.0
        self._delivered: Callable[[], None] | None = None

    def hold(self) -> None:
        """Answer requests until the peer hangs up, is silent for too long, or sends no line."""
        seconds = _FIRST_S
        while not self._broker.is_over():
            try:
                line = self._lines.next(seconds)
            except (TimeoutError, ConnectionError):
                return
            except LineTooLong:
                much = BadRequest(f"a request has {LONGEST} bytes at most")
                self._send(RefusalReply.of(None, much))
                return
            if self._broker.is_over():
                return
            # Who goes on, or hangs up without an error, has read what was sent before.
            self._take_as_delivered()
            if line is None:
                return
            if line.strip():
                self._send(self._answered(line))
            seconds = _SILENT_S

    def _answered(self, line: bytes) -> Reply:
        number: object = None
        try:
            self._broker.count()
            told = parse(line)
            number = told.number
            self._broker.record.asked(told)
            return self._carried_out(told)
        except GateClosed as closed:
            return RefusalReply.of(number, closed, output=closed.output[-_LONGEST_OUTPUT:])
        except SidingError as error:
            return RefusalReply.of(number, error)
        except PeerGone:
            raise
        except OSError as error:  # a full disk, say
            return RefusalReply.of(number, Failed(f"it could not be done: {error}"))
        except Exception as error:  # noqa: BLE001 - one request must not end the broker
            failed = Failed(f"the broker failed: {type(error).__name__}: {error}")
            return RefusalReply.of(number, failed)

    def _carried_out(self, told: ToldRequest) -> Reply:
        desk = self._at_desk()
        try:
            done = answer(desk, request_in(told))
            if not isinstance(done, Answered):
                for event in done:  # until one side hangs up
                    self._send(EventReply(told.number, event))
                done = Answered({})
        except SidingError as error:
            self._broker.record.told(told, {"error": error.code, "message": error.message})
            raise
        self._broker.record.told(told, dict(done.brief))
        self._delivered = done.delivered
        return ResultReply(told.number, done.result)

    def _at_desk(self) -> Desk:
        """Return the desk. It is opened anew after a moment, to see settings that were changed."""
        now = time.monotonic()
        if self._desk is None or now - self._opened_at > _FRESH_S:
            self._desk, self._opened_at = self._broker.open_desk(self._connection), now
        return self._desk

    def _take_as_delivered(self) -> None:
        delivered, self._delivered = self._delivered, None
        if delivered is not None:
            with suppress(SidingError):
                delivered()

    def _send(self, reply: Reply) -> None:
        self._connection.settimeout(_FIRST_S)
        self._connection.sendall(reply_line(reply))


class Failed(SidingError):
    """The broker itself made a mistake; the run goes on."""

    code = "failed"


def tops_of(run: Run) -> tuple[Top, ...]:
    """Return the processes below which everything is of the run.

    Without a keeper, or when it was killed, what it kept is below the host.
    """
    keeper = run.keeper
    if keeper.pid and started_of(keeper.pid) == keeper.started:
        return (Top(*keeper),)
    return tuple(Top(*each) for each in (run.command, run.host) if each != ProcessMark())


def _say(screen: int, line: str) -> None:
    """Say a line to who has started the run; whoever is gone does not hear it."""
    if screen >= 0:
        # A terminal is in raw mode while it belongs to the command.
        end = "\r\n" if os.isatty(screen) else "\n"
        with suppress(OSError):
            os.write(screen, f"{printable(line)}{end}".encode())


def run_broker(app: App, place: BrokerPlace) -> None:
    """Serve a run at the descriptor of its socket until it is over, or nobody has come for long.

    Raises NotFound if the run has ended.
    """
    of = DeskOfRun.of(app, place.task_id, place.run_id, partial(_say, place.screen))
    project = require_project(of.app)
    path = project.task_layout(of.task_id).artifact(place.act, "requests") if place.act else None
    record = RequestRecord(path, project.redaction, of.app.now)
    with socket(fileno=place.listening) as listener:
        listener.setblocking(False)
        Broker(of, record, listener).serve(place.lifeline)
