"""Everything that was counted, from the homes of the clients and from the sessions kept here."""

import os
from collections.abc import Iterator, Mapping
from glob import escape
from pathlib import Path
from stat import S_ISREG

from siding.agents.transcripts.counting import (
    COUNTING,
    Counted,
    CountedFile,
    FileCount,
    counted_files,
    counting_of,
)
from siding.agents.transcripts.homes import KEPT_HERE, FoundTranscript, found
from siding.agents.transcripts.spending import Spent, spent_in
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.wiring import App

CACHE = "usage.sqlite3"


class Counts(NamedTuple):
    """The calls that were found, and the sentences about what could not be read."""

    spent: list[Spent]
    problems: tuple[str, ...]


def count(app: App) -> Counts:
    """Count what is in the homes of all clients and in the sessions of all projects."""
    problems: list[str] = []
    home = Path(app.env.get("HOME") or os.path.expanduser("~"))

    def report(error: OSError) -> None:
        problems.append(f"{error.filename!r} cannot be read and is not counted: {error.strerror}")

    places = [*found(app.env, home, report=report), *_others(app.env, home), *_kept(app)]
    files = []
    for file in counted_files(app.home.root / CACHE, places):
        if file.problem:
            path = str(file.found.path)
            problems.append(f"{path!r} cannot be read and is not counted: {file.problem}")
        _place_in_workspace(app, file)
        files.append(file)
    return Counts(spent_in(_without_imported(files)), tuple(problems))


def count_kept(project: Project) -> list[Spent]:
    """Count the sessions that are kept in a project, and nothing else."""
    places = _sessions(project.layout.root / "sessions")
    return spent_in(counted_files(project.app.home.root / CACHE, places))


def _others(env: Mapping[str, str], home: Path) -> Iterator[FoundTranscript]:
    """Yield what programs keep elsewhere than in their homes: a database, a log."""
    for client in COUNTING.agents:
        for path in counting_of(client).others(env, home):
            yield from _file(client, path)


def _kept(app: App) -> Iterator[FoundTranscript]:
    """Yield the sessions in the home of Siding, with their subagents."""
    for sessions in app.home.projects_dir.glob("*/sessions"):
        yield from _sessions(sessions)


def _sessions(place: Path) -> Iterator[FoundTranscript]:
    for path in (*place.glob("*.jsonl"), *place.glob("*/subagents/agent-*.jsonl")):
        yield from _file(KEPT_HERE, path, is_subagent=path.parent != place)


def _place_in_workspace(app: App, file: CountedFile) -> None:
    """Give calls without a directory the workspace that the place of their file names, if any."""
    name = counting_of(file.found.client).checkout(file.found.path)
    if not name:
        return
    calls = [call for each in file.read.conversations for call in each.calls if not call.cwd]
    if calls:
        checkout = next(app.home.projects_dir.glob(f"*/workspaces/{escape(name)}"), None)
        for call in calls:
            call.cwd = "" if checkout is None else str(checkout)


def _file(client: str, path: Path, *, is_subagent: bool = False) -> Iterator[FoundTranscript]:
    try:
        status = path.lstat()
    except OSError:
        return
    if S_ISREG(status.st_mode):
        yield FoundTranscript(client, path, status.st_size, status.st_mtime_ns, is_subagent)


def _without_imported(files: list[CountedFile]) -> Iterator[CountedFile]:
    """Yield the files, without what was imported of a conversation that its client has, too."""
    theirs = {
        each.session
        for file in files
        if file.found.client != KEPT_HERE
        for each in file.read.conversations
    }
    for file in files:
        if file.found.client != KEPT_HERE:
            yield file
        else:
            own = [each for each in file.read.conversations if _name(file, each) not in theirs]
            yield file._replace(read=FileCount(own))


def _name(file: CountedFile, counted: Counted) -> str:
    """Return the session of a transcript kept here: a subagent's lies in its directory."""
    path = file.found.path
    return path.parent.parent.name if file.found.is_subagent else counted.session or path.stem
