"""The dashboard that runs for a project: how it makes itself known, and how others find it.

`dashboard.json` says where it listens and what its key is (0600, as all of the home). It is only
believed while the lock beside it is held: the kernel frees that when the dashboard ends, however
it ends.

A browser is started with its address as an argument, which others on the machine can read. So it
is given a ticket instead of the key: good once, and for a minute.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from siding.app.place.project import Project
from siding.errors import SidingError
from siding.files.durable import make_dirs, remove_file
from siding.storage.documents import read_document_or_none, write_document
from siding.storage.locks import FileLock, Holder, LockBusy

DASHBOARD_VERSION = 1
TICKET_S = 60


class Dashboard(NamedTuple):
    """A running dashboard. Whoever has `key` may do what the person may."""

    pid: int
    port: int
    key: str
    started_at: str

    def url(self, path: str, fragment: str = "") -> str:
        """Return the address of a page; a fragment stays in the browser and is never sent."""
        return f"http://127.0.0.1:{self.port}{path}{'#' if fragment else ''}{fragment}"


class AlreadyRunning(SidingError):
    """A dashboard of this project runs already."""

    code = "already_running"


def page_url(project: Project, path: str, *, with_key: bool = False) -> str | None:
    """Return the address of a page of the running dashboard, None when none runs.

    Without the key it may be printed and recorded anywhere: a browser that has the dashboard open
    opens it, any other asks for the key. `with_key` makes one for a browser that is started now:
    it carries a ticket.
    """
    found = running_dashboard(project)
    if found is None:
        return None
    return found.url(path, f"ticket={new_ticket(project, found.key)}" if with_key else "")


def running_dashboard(project: Project) -> Dashboard | None:
    """Return the dashboard that runs for this project now."""
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
        return None  # it has the lock and is about to say where it listens
    return Dashboard(
        pid=int(document.get("pid", 0)),
        port=int(document["port"]),
        key=str(document["key"]),
        started_at=str(document.get("started_at", "")),
    )


@contextmanager
def only_dashboard(project: Project) -> Iterator[None]:
    """Be the one dashboard of the project; raise AlreadyRunning when there is one."""
    make_dirs(project.layout.locks_dir)
    lock = FileLock(project.layout.lock("dashboard"))
    holder = Holder(pid=project.app.pid, since=project.app.now(), what="siding ui")
    try:
        lock.acquire(holder=holder)
    except LockBusy:
        raise AlreadyRunning("a dashboard of this project runs already") from None
    try:
        yield
    finally:
        remove_file(project.layout.root / "dashboard.json")
        lock.release()


def announce(project: Project, dashboard: Dashboard) -> None:
    """Write down where the dashboard is. The caller is `only_dashboard`."""
    document = {"version": DASHBOARD_VERSION, **dashboard._asdict()}
    write_document(project.layout.root / "dashboard.json", document)


def new_ticket(project: Project, key: str) -> str:
    """Return a ticket: ``<seconds>.<random>.<proof>``. Who has the key can make one."""
    now = int(project.app.clock.now().timestamp())
    told = f"{now}.{project.app.random_bytes(8).hex()}"
    return f"{told}.{_proof(key, told)}"


class Tickets:
    """The tickets that were shown to one dashboard: each is good once."""

    def __init__(self, project: Project, key: str) -> None:
        self._project = project
        self._key = key
        self._used: dict[str, int] = {}

    def take(self, ticket: str) -> bool:
        """Return whether the ticket is good, which it is not again."""
        import hmac

        told, _, proof = ticket.rpartition(".")
        expected = _proof(self._key, told)
        if not hmac.compare_digest(expected.encode(), proof.encode("utf-8", "replace")):
            return False
        made, now = int(told.partition(".")[0]), self._project.app.clock.now().timestamp()
        self._used = {each: at for each, at in self._used.items() if now - at <= TICKET_S}
        if told in self._used or not -5 <= now - made <= TICKET_S:
            return False
        self._used[told] = made
        return True


def _proof(key: str, told: str) -> str:
    import hmac

    return hmac.new(key.encode(), f"ticket {told}".encode("utf-8", "replace"), "sha256").hexdigest()
