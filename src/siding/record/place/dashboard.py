"""Announce the running dashboard of a project, and find it from other commands.

`dashboard.json` (mode 0600, like all files of the home) contains its port and its key. The file
counts only while the dashboard's lock is held; the kernel frees the lock when the process ends in
any way.

A browser gets the address as a command-line argument, which other users of the machine can read. So
the address contains a ticket instead of the key; a ticket is valid once, for `TICKET_S` seconds.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs, remove_file
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.place.project import Project
from siding.record.snapshots.scratch import NO_ROOM

DASHBOARD_VERSION = 1
TICKET_S = 60


class Dashboard(NamedTuple):
    """A running dashboard. `key` gives the same rights as the person has.

    `served` is the address at which paired devices reach it, and `fingerprint` that of the
    certificate there; both are "" where it is not served. `host` is the loopback's name in
    addresses.
    """

    pid: int
    port: int
    key: str
    started_at: str
    served: str = ""
    fingerprint: str = ""
    host: str = "127.0.0.1"

    def url(self, path: str, fragment: str = "") -> str:
        """Return the address of a page. A browser does not send the fragment to a server."""
        return f"http://{self.host}:{self.port}{path}{'#' if fragment else ''}{fragment}"


class AlreadyRunning(SidingError):
    """A dashboard of this project runs already."""

    code = "already_running"


def page_url(project: Project, path: str, *, with_key: bool = False) -> str | None:
    """Return the address of a page of the running dashboard; None if none runs.

    The address can be printed and recorded: only a browser that has the dashboard open shows the
    page, any other asks for the key. `with_key` adds a ticket, for a browser that is started now.
    """
    found = running_dashboard(project)
    if found is None:
        return None
    return found.url(path, f"ticket={new_ticket(project, found.key)}" if with_key else "")


def running_dashboard(project: Project) -> Dashboard | None:
    """Return the dashboard that runs for this project now; None if none runs."""
    if not FileLock(project.layout.lock("dashboard")).is_locked():
        return None
    try:
        document = read_document_or_none(
            project.layout.root / "dashboard.json",
            what="dashboard",
            version=DASHBOARD_VERSION,
            required=("port", "key"),
        )
    except SidingError:
        return None
    if document is None:
        return None  # it has taken the lock and has not written its port yet
    return Dashboard(
        pid=int(document.get("pid", 0)),
        port=int(document["port"]),
        key=str(document["key"]),
        started_at=str(document.get("started_at", "")),
        served=str(document.get("served", "")),
        fingerprint=str(document.get("fingerprint", "")),
        host="localhost" if document.get("host") == "localhost" else "127.0.0.1",
    )


@contextmanager
def only_dashboard(project: Project) -> Iterator[None]:
    """Hold the lock of the project's only dashboard; raise AlreadyRunning if another one runs.

    In a home that cannot be written there may be several: a dashboard is for looking, and that
    needs no room.
    """
    lock = FileLock(project.layout.lock("dashboard"))
    holder = Holder(pid=project.app.pid, since=project.app.now(), what="siding ui")
    try:
        with _where_writable():
            make_dirs(project.layout.locks_dir)
            lock.acquire(holder=holder)
        if not lock.is_held:
            with _where_writable():  # a full disk has no room for the note in the lock
                lock.acquire()
    except LockBusy:
        raise AlreadyRunning("a dashboard of this project runs already") from None
    try:
        yield
    finally:
        with _where_writable():
            remove_file(project.layout.root / "dashboard.json")
        lock.release()


def announce(project: Project, dashboard: Dashboard) -> bool:
    """Write `dashboard.json`, and return whether that was possible.

    It is not on a full disk or in a read-only home. Call it inside of `only_dashboard`.
    """
    document = {"version": DASHBOARD_VERSION, **dashboard._asdict()}
    try:
        write_document(project.layout.root / "dashboard.json", document)
    except OSError as error:
        if not _is_not_writable(error):
            raise
        return False
    return True


@contextmanager
def _where_writable() -> Iterator[None]:
    """Ignore an error that says that the home is full or must not be written."""
    try:
        yield
    except OSError as error:
        if not _is_not_writable(error):
            raise


def _is_not_writable(error: OSError) -> bool:
    return error.errno in (*NO_ROOM, errno.EACCES)


def new_ticket(project: Project, key: str) -> str:
    """Return a ticket, ``<seconds>.<random>.<proof>``. Making one requires the key."""
    now = int(project.app.clock.now().timestamp())
    told = f"{now}.{project.app.random_bytes(8).hex()}"
    return f"{told}.{_proof(key, told)}"


class Tickets:
    """The tickets that one dashboard has accepted; each is valid once."""

    def __init__(self, project: Project, key: str) -> None:
        self._project = project
        self._key = key
        self._used: dict[str, int] = {}

    def take(self, ticket: str) -> bool:
        """Return whether the ticket is valid, and make it invalid from now on."""
        import hmac

        told, _, proof = ticket.rpartition(".")
        expected = _proof(self._key, told)
        if not hmac.compare_digest(expected.encode(), proof.encode("utf-8", "replace")):
            return False
        made, now = int(told.partition(".")[0]), self._project.app.clock.now().timestamp()
        self._used = {each: at for each, at in self._used.items() if now - at <= TICKET_S}
        # Up to 5 s in the future is accepted, because the clock may be set back a little.
        if told in self._used or not -5 <= now - made <= TICKET_S:
            return False
        self._used[told] = made
        return True


def _proof(key: str, told: str) -> str:
    import hmac

    return hmac.new(key.encode(), f"ticket {told}".encode("utf-8", "replace"), "sha256").hexdigest()
