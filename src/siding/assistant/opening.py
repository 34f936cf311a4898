"""Open the conversation that the built-in agent begins or goes on with."""

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from siding.agents.transcripts.branches import branch_session
from siding.agents.transcripts.heads import parsed
from siding.agents.transcripts.kinds import USER, Record
from siding.agents.transcripts.session import Session, Source, UnstoredLines, aside, live_records
from siding.agents.transcripts.store import SessionStore
from siding.agents.transcripts.writer import Stamp
from siding.assistant.loop.model import Cache, Thinking
from siding.assistant.settings import NO_FLAGS, AgentFlags
from siding.ground.errors import NotFound, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson
from siding.ground.storage.fields import mapping
from siding.ground.storage.locks import Holder

# -- What a conversation of the built-in agent is begun with ---------------------------------------


class Which(NamedTuple):
    """Which conversation it is. Without anything it is a new one.

    `id` is a new one's own; `resumes` names an old one by id, the beginning of it, or title;
    `newest` is the newest of this workspace. With `forks` a copy of it goes on. `after`: it goes on
    after the message of this id; `drops` is the prompt that has to be the next one after that, if
    one is named. What is said is stored if it `persists`.
    """

    id: str = ""
    resumes: str = ""
    newest: bool = False
    forks: bool = False
    after: str = ""
    drops: str = ""
    persists: bool = True


class Options(NamedTuple):
    """The options of one conversation. None is no limit, or what is usual.

    `flags` is what the command line says of what files of settings may say as well.
    """

    which: Which = Which()
    flags: AgentFlags = NO_FLAGS
    effort: str | None = None  # as `effort_named` reads it
    thinking: Thinking = Thinking.AUTO
    cache: Cache = Cache.SHORT
    tools: tuple[str, ...] | None = None  # there are these alone
    without: frozenset[str] = frozenset()  # names of tools that there are not
    system: str | None = None  # in the place of the usual text
    more_system: str = ""  # behind it
    schema: Mapping[str, Any] | None = None


# -- Open the conversation that the built-in agent begins or goes on with --------------------------


_LINES = 20  # of the beginning of a transcript, in which its directory must be


class Opened(NamedTuple):
    """A conversation that is open. `transcript` is None if it is not stored."""

    session: Session
    is_new: bool
    transcript: Path | None


def opened(
    store: SessionStore | None,
    which: Which,
    *,
    workspace: Path,
    source: Source,
    stamp: Stamp,
    holder: Holder,
) -> Opened:
    """Open the conversation that is asked for. Without a store nothing is kept.

    Raises NotFound, UsageError, LockBusy, NewerVersion, OSError.
    """
    old = _old(store, which, workspace)
    if store is not None and old is not None and which.drops:
        _require_dropped(live_records(store, old), which)
    if store is None or (old is None and not which.persists):
        session_id = which.id or source.new_id()
        return Opened(Session(session_id, UnstoredLines(source), source), True, None)
    if old is not None and not which.persists:
        session = aside(store, old, source=source)
        if which.after:
            raise UsageError(
                "a conversation that is not stored cannot go on after an earlier message",
                hint="leave --no-persist out; --fork-session leaves the old one as it is",
            )
        return Opened(session, False, None)
    session_id = old or which.id or source.new_id()
    if old is not None and which.forks:
        session_id = which.id or source.new_id()
        _copy(store, old, session_id)
    elif old is None and session_id in store.ids():
        raise UsageError(
            f"there is a conversation {session_id} already",
            hint=f"--resume {session_id} goes on with it",
        )
    session = Session.open(store, session_id, stamp=stamp, source=source, holder=holder)
    if which.after:
        try:
            session.rewind(which.after)
        except BaseException:
            session.close()
            raise
    return Opened(session, old is None, store.layout(session_id).transcript)


def _old(store: SessionStore | None, which: Which, workspace: Path) -> str | None:
    """Return the id of the conversation to go on with; None for a new one."""
    if not which.resumes and not which.newest:
        return None
    if store is None:
        raise NotFound(
            "conversations cannot be seen here, so none can be gone on with",
            hint="in a sandbox the agent sees the one that `siding agent` has opened for it",
        )
    if which.resumes:
        return store.require(which.resumes)
    rows = store.rows()
    for row in rows:
        if is_of(row.path, workspace):
            return row.id
    raise NotFound(
        "there is no conversation in this workspace to go on with",
        hint="`siding session list` shows all; --resume SESSION goes on with one of them",
    )


def _require_dropped(records: Sequence[Record], which: Which) -> None:
    """Raise UsageError if what is left behind does not begin with the prompt that was named."""
    ids = [each.get("uuid") for each in records]
    behind = records[ids.index(which.after) + 1 :] if which.after in ids else []
    first = next((each.get("uuid") for each in behind if each.get("type") == USER), None)
    if first != which.drops:
        # Programs look for these words, which are Claude Code's.
        raise UsageError(
            f"Resume rejected by --resume-drops-turn: after message {which.after} comes "
            f"{first or 'no prompt'}, not {which.drops}",
            hint="nothing was changed; `siding session show` has the messages",
        )


def is_of(transcript: Path, workspace: Path) -> bool:
    """Tell whether a conversation was held in the workspace, by the first lines that say it."""
    root = os.path.realpath(workspace)
    with transcript.open("rb") as file:
        for line in islice(file, _LINES):
            try:
                cwd = parsed(line).get("cwd")
            except NotJson:
                continue
            if isinstance(cwd, str) and cwd:
                return os.path.realpath(cwd) == root
    return False


def _copy(store: SessionStore, old: str, new: str) -> None:
    try:
        branch_session(store, old, new)
    except FileExistsError:
        raise UsageError(
            f"there is a conversation {new} already", hint="leave --session-id out"
        ) from None


def cut_off(session: Session, changes_nothing: Callable[[str, Record], bool]) -> int:
    """Answer the calls of a conversation whose agent was killed; return how many there were.

    `changes_nothing` tells of a tool's name and what it was given whether it may be called again.
    """
    calls = session.open_calls()
    for call in calls:
        again = changes_nothing(str(call.get("name")), dict(mapping(call.get("input"))))
        said = "It changes nothing: call it again if you need it." if again else _MAY_BE_DONE
        session.result(
            str(call.get("id")), f"[Cut off before it had a result. {said}]", is_error=True
        )
    return len(calls)


_MAY_BE_DONE = "It may have done all, a part or nothing of it: look first, before you do it again."
