"""Find conversations: those in the project's own home, and those in the homes of agents.

The homes of agents are only read. What a list needs of them is cached, see
`siding.agents.transcripts.summaries`. A session that was imported and the file it was imported
from are one; the one of both with the newer message is read.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from siding.agents.table import OUR_FORM
from siding.agents.transcripts.homes import HOME, FoundTranscript, found
from siding.agents.transcripts.interchange import bring_in
from siding.agents.transcripts.reading.listing import SESSION
from siding.agents.transcripts.store import SessionRow
from siding.agents.transcripts.summaries import Summarised, summarised
from siding.ground.errors import NotFound, SidingError, UsageError
from siding.ground.git.discovery import RepositoryPaths, find_repository, linked_roots
from siding.ground.git.errors import NotARepository
from siding.ground.hashing import sha256_hex
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project, ensure_project, find_project
from siding.record.place.selection import select as select_task
from siding.record.place.wiring import App
from siding.sessions.masking import mask_text
from siding.sessions.runs import ReportedRun, reported_runs
from siding.sessions.sessions import rows as stored_rows
from siding.sessions.sessions import shortest_beginnings
from siding.sessions.shelf import SessionPlace, store_of

OWN = "siding"  # the client of what Siding's own agent has held
CLIENTS = (*HOME.agents, OWN)


class Scope(NamedTuple):
    """Where somebody looks for sessions.

    `roots` are the checkouts and workspaces of a repository; None: every directory counts.
    """

    project: Project | None
    roots: tuple[str, ...] | None


class FoundSession(NamedTuple):
    """A session in a list.

    `task` is the id of the task it belongs to, "" for none; `step` the run of it that reported the
    session. `changed_at` (of the newest message) and `written_at` (of the file) are in seconds
    since 1970. `messages` are the prompts and answers; None: not counted. `is_stored`: it is in
    the project's own home. `source` is the file in an agent's home, None if there is none.
    """

    id: str
    client: str
    title: str | None
    prompt: str
    cwd: str
    branch: str | None
    tag: str | None
    task: str
    step: int | None
    messages: int | None
    changed_at: float
    written_at: float
    size: int
    path: Path
    is_stored: bool
    hidden: bool
    source: FoundTranscript | None
    is_fork: bool = False  # a part of it is in the file of another one

    @property
    def name(self) -> str:
        """What the session is called in a list."""
        return self.title or self.prompt


class SessionFilter(NamedTuple):
    """Which of the sessions are wanted; "" and None: whichever. `since` is in seconds."""

    client: str = ""
    task: str | None = None
    since: float | None = None
    hidden: bool = False


class SessionListing(NamedTuple):
    """The sessions of a list, and for each id its shortest beginning that no other one has."""

    rows: list[FoundSession]
    names: dict[str, str]


def scope_of(app: App, *, everything: bool = False) -> Scope:
    """Return what the working directory, or `--project`, says is looked at.

    Outside of a repository that is every directory.
    """
    project = None
    named = app.cwd / app.project if app.project else None
    try:
        project = find_project(app)
    except NotARepository:
        pass
    except NotFound:
        if named is None or not named.is_dir():
            raise
        inside = scope_of(app._replace(project="", cwd=named), everything=everything)
        is_repository = inside.roots is not None or everything
        return inside if is_repository else inside._replace(roots=_spellings(named))
    if everything:
        return Scope(project=project, roots=None)
    if project is not None:
        return scope_of_project(project)
    try:
        return Scope(project=None, roots=_roots(find_repository(app.cwd), None))
    except NotARepository:
        return Scope(project=None, roots=None)


def scope_of_project(project: Project) -> Scope:
    """Return what belongs to a project: its repository's worktrees, and its workspaces."""
    return Scope(project=project, roots=_roots(project.paths, project))


def sessions(app: App, scope: Scope, wanted: SessionFilter) -> SessionListing:
    """Return the sessions in a scope, the one with the newest message first."""
    everything = _all_sessions(app, scope)
    task = None
    if wanted.task is not None:
        if scope.project is None:
            raise NotFound(
                f"there is no task {wanted.task!r}", hint="this repository has no project yet"
            )
        task = select_task(scope.project, wanted.task).id
    shown = [
        each
        for each in everything
        if _in_scope(each, scope)
        and (wanted.hidden or not each.hidden)
        and (not wanted.client or each.client == wanted.client)
        and (task is None or each.task == task)
        and (wanted.since is None or each.changed_at >= wanted.since)
    ]
    names = shortest_beginnings([each.id for each in everything], at_least=8)
    return SessionListing(rows=shown, names=names)


def find_session(app: App, scope: Scope, named: str | None) -> FoundSession:
    """Return the session that `named` means: an id, its beginning, or a title; else the newest.

    One in the scope comes before others. Raises NotFound, UsageError.
    """
    everything = _all_sessions(app, scope)
    within = [each for each in everything if _in_scope(each, scope)]
    if named is None:
        shown = [each for each in within if not each.hidden]
        if not shown:
            raise NotFound(
                "there is no session of this project yet",
                hint="`siding session list --all` shows those of others",
            )
        return shown[0]
    for among in (within, everything):
        fitting = _named(among, named)
        if len(fitting) > 1:
            raise UsageError(
                f"{named!r} fits several sessions: "
                f"{', '.join(sorted(each.id for each in fitting)[:5])}",
                hint="give more of the session's id",
            )
        if fitting:
            return fitting[0]
    raise NotFound(f"there is no session {named!r}", hint="`siding session list` shows them")


def without_secrets(place: SessionPlace, listed: list[FoundSession]) -> list[FoundSession]:
    """Return the sessions with the secrets in their titles and prompts masked."""
    return [
        each._replace(
            title=None if each.title is None else mask_text(place, each.title),
            prompt=mask_text(place, each.prompt),
        )
        for each in listed
    ]


def as_record(each: FoundSession) -> dict[str, object]:
    """Return a listed session as a document for programs."""
    shown: dict[str, object] = {**each._asdict(), "path": str(each.path)}
    shown["stored"] = shown.pop("is_stored")
    shown["source"] = None if each.source is None else str(each.source.path)
    return shown


def person_home(app: App) -> Path:
    """Return the home in which agents have theirs."""
    return Path(app.env.get("HOME") or os.path.expanduser("~"))


def _named(among: Iterable[FoundSession], named: str) -> list[FoundSession]:
    listed = list(among)
    exact = [each for each in listed if each.id == named]
    beginning = [each for each in listed if named and each.id.startswith(named)]
    return exact or beginning or [each for each in listed if each.title == named]


def _all_sessions(app: App, scope: Scope) -> list[FoundSession]:
    caches = app.home.session_caches_dir
    unreadable: list[OSError] = []
    app.tell("looking for sessions")
    walked = (
        each
        for each in found(app.env, person_home(app), report=unreadable.append)
        if not each.is_subagent
    )
    outside = summarised(caches / "homes.json", walked)
    app.tell("")
    for error in unreadable:
        app.warn(f"{error.filename}: its sessions are not listed: {error.strerror}")
    tasks = _Tasks(scope, caches)
    by_id: dict[str, FoundSession] = {}
    for each in map(tasks.from_home, outside):
        other = by_id.get(each.id)
        if other is None or other.changed_at < each.changed_at:
            by_id[each.id] = each
    if scope.project is not None:
        for each in _stored(scope.project, tasks, caches):
            other = by_id.get(each.id)
            by_id[each.id] = each if other is None else _one_of(each, other)
    return sorted(by_id.values(), key=lambda row: (-row.changed_at, -row.written_at, row.id))


def _one_of(stored: FoundSession, outside: FoundSession) -> FoundSession:
    """Return one row for an imported session and the file it was imported from."""
    if outside.changed_at > stored.changed_at:
        return outside._replace(is_stored=False, title=outside.title or stored.title)
    client = OWN if stored.client == OWN else outside.client
    return stored._replace(source=outside.source, client=client)


def _stored(project: Project, tasks: "_Tasks", caches: Path) -> list[FoundSession]:
    rows = stored_rows(project, hidden=True)
    transcripts = [_as_transcript(row) for row in rows]
    name = f"{project.layout.root.name}.json"
    told = summarised(caches / name, iter(transcripts), shown=True)
    summaries = {each.transcript.path: each for each in told}
    return [tasks.from_store(row, summaries.get(row.path)) for row in rows]


def _as_transcript(row: SessionRow) -> FoundTranscript:
    """Ours are in the form of one of them."""
    return FoundTranscript(
        client=OUR_FORM,
        path=row.path,
        size=row.size,
        mtime_ns=row.path.stat().st_mtime_ns if row.path.exists() else 0,
    )


class _Tasks:
    """Finds the task that a session belongs to; each directory is looked up once."""

    def __init__(self, scope: Scope, caches: Path) -> None:
        project = scope.project
        self._project = project
        self._workspaces: list[tuple[str, TaskId]] = []
        self._runs: Mapping[str, ReportedRun] = {}
        self._around: dict[str, str] = {}
        # Old chats of Gemini CLI name the hash of their directory in place of its path.
        self._hashed = {sha256_hex(os.fsencode(each)): each for each in scope.roots or ()}
        if project is not None:
            self._workspaces = [(each.path, each.task_id) for each in project.registry.all()]
            name = f"{project.layout.root.name}.runs.json"
            self._runs = reported_runs(project, caches / name)

    def from_home(self, each: Summarised) -> FoundSession:
        """Return the row of a transcript in an agent's home."""
        transcript, summary = each
        cwd = summary.cwd or self._hashed.get(summary.project_hash, "")
        run = self._runs.get(summary.id)
        written = transcript.mtime_ns / 1e9
        return FoundSession(
            id=summary.id,
            client=transcript.client,
            title=summary.title or None,
            prompt=summary.prompt or SESSION,
            cwd=cwd,
            branch=summary.branch or None,
            tag=None,
            task=run.task if run else self.around(cwd),
            step=run.step if run else None,
            messages=summary.messages,
            changed_at=written if summary.spoken_at is None else summary.spoken_at / 1000,
            written_at=written,
            size=transcript.size,
            path=transcript.path,
            is_stored=False,
            hidden=summary.hidden,
            source=transcript,
            is_fork=summary.is_fork,
        )

    def from_store(self, row: SessionRow, each: Summarised | None) -> FoundSession:
        """Return the row of a session in the project's home."""
        summary = None if each is None else each.summary
        cwd = "" if summary is None else summary.cwd
        run = self._runs.get(row.id)
        wrote = "" if summary is None else summary.entrypoint
        return FoundSession(
            id=row.id,
            client=wrote if wrote in CLIENTS else OUR_FORM,
            title=row.listed.title,
            prompt=(summary and summary.shown_prompt) or row.listed.prompt,
            cwd=cwd,
            branch=row.listed.branch,
            tag=row.listed.tag,
            task=run.task if run else self.around(cwd),
            step=run.step if run else None,
            messages=None if summary is None else summary.shown_messages,
            changed_at=row.changed_at,
            written_at=row.written_at,
            size=row.size,
            path=row.path,
            is_stored=True,
            hidden=row.listed.hidden,
            source=None,
        )

    def around(self, cwd: str) -> str:
        """Return the id of the task whose workspace holds the directory, "" if none does."""
        if cwd not in self._around:
            self._around[cwd] = self._look_around(cwd)
        return self._around[cwd]

    def _look_around(self, cwd: str) -> str:
        holding = [(path, task) for path, task in self._workspaces if _holds(path, cwd)]
        if holding:
            return max(holding, key=lambda each: len(each[0]))[1]
        if self._project is None:
            return ""
        for base in _spellings(self._project.layout.workspaces_dir):
            if _holds(base, cwd) and cwd != base:
                return Path(cwd).relative_to(base).parts[0]
        return ""


def _roots(paths: RepositoryPaths, project: Project | None) -> tuple[str, ...]:
    places = [paths.root, *linked_roots(paths.common_dir)]
    places += [each for each in (paths.worktree, paths.main_worktree) if each is not None]
    if project is not None:
        places.append(project.layout.workspaces_dir)
        places += [Path(each.path) for each in project.registry.all()]
    return tuple({spelled for place in places for spelled in _spellings(place)})


def _spellings(place: Path) -> tuple[str, ...]:
    return tuple({str(place), os.path.realpath(place)})


def _in_scope(each: FoundSession, scope: Scope) -> bool:
    if scope.roots is None or each.is_stored or each.task:
        return True
    return any(_holds(root, each.cwd) for root in scope.roots)


def _holds(root: str, place: str) -> bool:
    return place == root or place.startswith(root.rstrip("/") + "/")


class KeptSession(NamedTuple):
    """A session in a project's own home. `imported` is the file that it was just read from."""

    project: Project
    id: str
    imported: Path | None


def kept(app: App, named: str | None) -> KeptSession:
    """Return the session that was named, in the home of the project of its repository.

    What its client has added since the last import is imported. Raises NotFound, UsageError.
    """
    scope = scope_of(app)
    found = find_session(app, scope, named)
    if found.is_stored:
        assert scope.project is not None
        return KeptSession(project=scope.project, id=found.id, imported=None)
    return _imported(_project_of(app, Path(found.cwd)), found)


def kept_here(app: App, named: str) -> KeptSession:
    """Return the same, in the home of the project in which we are, wherever it was held."""
    scope = scope_of(app)
    found = find_session(app, scope, named)
    if found.is_stored:
        assert scope.project is not None
        return KeptSession(project=scope.project, id=found.id, imported=None)
    return _imported(ensure_project(app)[0], found)


def _imported(project: Project, found: FoundSession) -> KeptSession:
    done = bring_in(
        store_of(project),
        found.path,
        form=found.client,
        session_id=found.id,
        cwd=found.cwd,
    )
    return KeptSession(project=project, id=done.session_id, imported=found.path)


def _project_of(app: App, cwd: Path) -> Project:
    """Return the project of the directory in which a session was held, else the one we are in."""
    if cwd.is_absolute() and cwd.is_dir() and not app.project:
        try:
            return ensure_project(app._replace(cwd=cwd))[0]
        except SidingError:
            pass
    return ensure_project(app)[0]
