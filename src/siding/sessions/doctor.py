"""Check transcripts, those kept here and those in the homes of agents, and say what is wrong.

Nothing is repaired: a damaged line costs only what it covers, and the files of agents are theirs.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from siding.agents.table import OUR_FORM
from siding.agents.transcripts.heads import parsed
from siding.agents.transcripts.reading.chains import EndRule, choose_end, has_circle
from siding.agents.transcripts.reading.transcript import Gap, Transcript
from siding.agents.transcripts.store import SessionStore
from siding.ground.errors import SidingError, UnreadableFile
from siding.ground.files.durable import remove_file
from siding.ground.files.regular import open_with_stat
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson
from siding.ground.storage.journals import TOO_LONG, TORN
from siding.ground.storage.lines import Line, lines_forwards
from siding.record.place.project import Project
from siding.record.place.wiring import App
from siding.sessions.lookup import FoundSession, Scope, SessionFilter, sessions
from siding.sessions.reader import readable_of
from siding.sessions.shelf import store_of


class SessionFinding(NamedTuple):
    """A problem of one transcript. `number` is its line, None if it concerns no single line.

    `bridged_to` is the message from which the chain continues where one is missing.
    """

    session_id: str
    path: Path
    number: int | None
    problem: str
    bridged_to: str | None = None


def examine(app: App, scope: Scope, *, mend: bool = False) -> tuple[int, list[SessionFinding]]:
    """Check every transcript in the scope; return how many there are and their problems.

    They are those that are kept here and those that were found in the homes of agents. `mend`
    rebuilds all indexes of ours. No line of a transcript is ever changed.
    """
    count, findings = (0, []) if scope.project is None else _kept(scope.project, mend=mend)
    for row in sessions(app, scope, SessionFilter(hidden=True)).rows:
        if row.source is None:
            continue
        found = row._replace(path=row.source.path, is_stored=False)
        if row.source.client != OUR_FORM:
            count += 1
            findings += _of_another_form(app, scope, found)
            continue
        layout = SessionStore(found.path.parent).layout(found.path.stem)
        for path in (found.path, *layout.agents()):
            count += 1
            findings += _examined(row.id, path)
    return count, findings


def _of_another_form(app: App, scope: Scope, found: FoundSession) -> list[SessionFinding]:
    """Check a transcript of another form: its lines, and that it can be shown."""
    try:
        wrong = list(_damaged_lines(found))
        readable_of(app, scope, found)
    except (OSError, SidingError) as error:
        return [SessionFinding(found.id, found.path, None, str(error))]
    return wrong


def _damaged_lines(found: FoundSession) -> Iterator[SessionFinding]:
    fd, _ = open_with_stat(found.path)
    try:
        if found.path.suffix != ".jsonl":
            return  # one document, which is shown whole or not at all
        for number, line in enumerate(lines_forwards(fd), start=1):
            problem = _problem_of(line)
            if problem is not None:
                yield SessionFinding(found.id, found.path, number, problem)
    finally:
        os.close(fd)


def _problem_of(line: Line) -> str | None:
    if line.is_too_long:
        return TOO_LONG
    if not line.raw.strip():
        return None
    try:
        parsed(line.raw)
    except NotJson as error:
        return str(error) if line.is_closed else TORN
    return None


def _kept(project: Project, *, mend: bool) -> tuple[int, list[SessionFinding]]:
    store = store_of(project)
    findings: list[SessionFinding] = []
    count = 0
    for session in sorted(store.ids()):
        layout = store.layout(session)
        if mend:
            remove_file(layout.index_json)
        for path in (layout.transcript, *layout.agents()):
            count += 1
            findings += _examined(session, path)
        if mend:
            store.index(session)
    if mend:
        for suffix in ("", "-wal", "-shm"):
            remove_file(store.root / f"search.sqlite3{suffix}")
    return count, findings


def _examined(session: str, path: Path) -> list[SessionFinding]:
    try:
        with Transcript.whole(path) as transcript:
            for head in list(transcript.tree.heads.values()):
                transcript.record(head)  # parsing the whole line finds damage that the index misses
            found = [
                SessionFinding(session, path, each.number, each.problem)
                for each in transcript.numbered_damage()
            ]
            end = choose_end(transcript.tree)
            is_agent = path.name.startswith("agent-")
            chain = transcript.chain(EndRule.FILE if is_agent else EndRule.SESSION)
            found += [_missing(session, path, each) for each in transcript.gaps(chain)]
            if end is not None and has_circle(transcript.tree, end):
                found.append(
                    SessionFinding(session, path, None, "its parents go round in a circle")
                )
            elif chain and transcript.tree.parent_id(chain[0]) is not None:
                lost = f"the conversation begins after {chain[0].parent!r}, which is not there"
                found.append(SessionFinding(session, path, None, lost))
            return found
    except (OSError, UnreadableFile) as error:
        return [SessionFinding(session, path, None, str(error))]


def _missing(session: str, path: Path, gap: Gap) -> SessionFinding:
    where = "it begins here" if gap.bridged_to is None else f"it goes on from {gap.bridged_to!r}"
    problem = f"the message before ({gap.missing!r}) is not there; {where}"
    return SessionFinding(session, path, gap.number, problem, bridged_to=gap.bridged_to)
