"""Find, read, resume, branch and rewind conversations (sessions)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from siding import __version__
from siding.agents.transcripts.branches import REWIND, branch_session, rewind_session
from siding.agents.transcripts.heads import MessageHead
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.layout import Subagent, subagent_of
from siding.agents.transcripts.messages import visible_count
from siding.agents.transcripts.reading.chains import EndRule
from siding.agents.transcripts.reading.recovery import ConversationEnding, recover
from siding.agents.transcripts.reading.transcript import Gap, Transcript, TranscriptDamage
from siding.agents.transcripts.reading.views import active, wire
from siding.agents.transcripts.store import SessionRow, SessionStore, Unreadable
from siding.agents.transcripts.writer import Stamp, Writer
from siding.ground.errors import NotFound, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.locks import Holder
from siding.record.place.project import Project
from siding.record.place.wiring import App
from siding.sessions.masking import mask_line, mask_records, mask_text, mask_value
from siding.sessions.shelf import SessionPlace, Shelf, store_of


class Conversation(NamedTuple):
    """A session to be shown. `ids` are the messages of the live chain; the first has number 1.

    `gaps` are the places in the shown messages where one is missing.
    """

    id: str
    title: str
    path: Path
    records: Iterator[Record]
    ids: tuple[str, ...]
    gaps: tuple[Gap, ...]
    transcript: Transcript

    @property
    def damage(self) -> list[TranscriptDamage]:
        """The damaged lines found so far. Reading more records may find more."""
        return self.transcript.numbered_damage()


class Resumption(NamedTuple):
    """The state from which a session is resumed. `prompt` is the message that has no answer yet."""

    id: str
    title: str
    ending: ConversationEnding
    prompt: Record | None
    records: list[Record]
    messages: int
    worktree: Record | None
    mode: str | None
    goal: Record | None
    replacements: list[Record]
    damage: tuple[TranscriptDamage, ...]
    gaps: tuple[Gap, ...]

    def wire(self) -> list[Record]:
        """Return the messages as a model's API takes them."""
        return wire(self.records, replacements=self.replacements)


def rows(project: Project, *, hidden: bool = False) -> list[SessionRow]:
    """Return the sessions of a project, last changed first; say which cannot be read."""

    def report(error: Unreadable) -> None:
        project.app.warn(f"a session is not listed: {error}")

    return store_of(project).rows(hidden=hidden, report=report)


def select(place: SessionPlace, named: str | None) -> str:
    """Return the id of the session that a person named, of the newest if none is named."""
    store = store_of(place)
    return store.newest() if named is None else store.require(named)


@contextmanager
def conversation(
    place: SessionPlace,
    named: str | None,
    *,
    everything: bool = False,
    agent: str | None = None,
    redacted: bool = False,
) -> Iterator[Conversation]:
    """Yield a session to be shown: its live chain or, with `everything`, also compacted messages.

    With `agent` it is the conversation of that subagent. With `redacted` secrets are masked. The
    records are read from the file while they are iterated.
    """
    store = store_of(place)
    session = select(place, named)
    path = store.layout(session).transcript if agent is None else _agent_path(store, session, agent)
    with Transcript.live(path, EndRule.SESSION if agent is None else EndRule.FILE) as transcript:
        heads = transcript.shown() if agent is None else transcript.chain(EndRule.FILE)
        ids = tuple(head.uuid for head in heads)
        title = store.title(session, transcript) if agent is None else None
        if title is None:
            title = transcript.first_prompt(heads)
        if not everything or not heads:
            shown = _shown(session, title, transcript, heads, ids)
            yield _redacted(place, shown) if redacted else shown
            return
        with Transcript.unsettled(path) as whole:
            shown = _shown(session, title, whole, whole.history(heads[-1].uuid), ids)
            yield _redacted(place, shown) if redacted else shown


def raw_lines(place: SessionPlace, named: str | None, *, redacted: bool) -> Iterator[bytes]:
    """Yield the lines of a transcript unchanged or, with `redacted`, without secrets."""
    path = store_of(place).layout(select(place, named)).transcript
    with path.open("rb") as file:
        if not redacted:
            yield from file
            return
        for line in file:
            yield mask_line(place.redaction, line)


def resume(place: SessionPlace, named: str | None, *, fork: bool = False) -> Resumption:
    """Return the state from which a session is resumed. With `fork` make a copy and resume that."""
    store = store_of(place)
    session = select(place, named)
    if fork:
        assert not isinstance(place, Shelf)  # nothing is written to the home of an agent
        copy = new_session_id(place.app)
        branch_session(store, session, copy)
        session = copy
    with store.live(session) as transcript:
        heads = transcript.shown()
        metadata = store.metadata(session, transcript)
        chain = list(transcript.records(heads))
        found = recover(
            active(chain),
            new_id=lambda: new_session_id(place.app),
            now=place.app.now(),
            cwd=str(place.app.cwd),
        )
        return Resumption(
            id=session,
            title=metadata.title(session) or transcript.first_prompt(heads),
            ending=found.found,
            prompt=found.prompt,
            records=found.records,
            messages=visible_count(chain),
            worktree=None if fork else metadata.worktree(session),
            mode=metadata.value("mode", session),
            goal=metadata.value("goal", session),
            replacements=metadata.replacements_of(session),
            damage=tuple(transcript.numbered_damage()),
            gaps=tuple(transcript.gaps(heads)),
        )


def without_secrets(place: SessionPlace, found: Resumption) -> Resumption:
    """Return the resumption with its secrets masked."""
    return found._replace(
        title=mask_text(place, found.title),
        prompt=mask_value(place, found.prompt),
        records=list(mask_records(place, found.records)),
        goal=mask_value(place, found.goal),
        replacements=list(mask_records(place, found.replacements)),
    )


def branch(project: Project, named: str | None) -> tuple[str, str]:
    """Copy the live chain of a session into a new one; return its id and title."""
    store = store_of(project)
    target = new_session_id(project.app)
    return target, branch_session(store, select(project, named), target)


def rewind(project: Project, named: str | None, message: str) -> tuple[str, int]:
    """Rewind a session so that it continues after one of its messages.

    Returns the session's id and how many messages of the chain are left behind.
    """
    store = store_of(project)
    session = select(project, named)
    with writer_of(project, session, "rewinding a session") as writer, store.live(session) as found:
        chain = list(found.records(found.shown()))
        target = message_named(chain, message)
        places = [str(each.get("uuid")) for each in chain]
        rewind_session(
            writer, found, target, now=project.app.now(), uuid=new_session_id(project.app)
        )
        later = chain[places.index(target) + 1 :]
        return session, sum(each.get("subtype") != REWIND for each in later)


@contextmanager
def writer_of(project: Project, session: str, what: str) -> Iterator[Writer]:
    """Yield the only writer of a session. Raises `LockBusy` if another process is writing it."""
    app = project.app
    with store_of(project).writer(
        session,
        stamp=Stamp(cwd=str(app.cwd), version=__version__),
        now=app.now,
        new_id=lambda: new_session_id(app),
        holder=Holder(pid=app.pid, since=app.now(), what=what),
    ) as writer:
        yield writer


def message_named(chain: Sequence[Record], named: str) -> str:
    """Return the id of the message that `named` is the number or the beginning of the id of.

    Raises NotFound, and UsageError if several messages match.
    """
    ids = [str(each.get("uuid")) for each in chain]
    number = named.removeprefix("#")
    if number.isascii() and number.isdigit() and 1 <= int(number) <= len(ids):
        return ids[int(number) - 1]
    found = [each for each in ids if named and each.startswith(named)]
    if not found:
        raise NotFound(
            f"no message {named!r} in the live conversation",
            hint="`siding session show` numbers its messages",
        )
    if len(found) > 1 and named not in found:
        raise UsageError(f"{named!r} could be {len(found)} messages", hint="give more of the id")
    return found[0]


def new_session_id(app: App) -> str:
    """Return a new random UUID (version 4). Other programs list only sessions with such names."""
    data = bytearray(app.random_bytes(16))
    data[6] = data[6] & 0x0F | 0x40
    data[8] = data[8] & 0x3F | 0x80
    text = data.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def agents(place: SessionPlace, session: str, *, redacted: bool = False) -> list[Subagent]:
    """Return a session's subagents. With `redacted` secrets in what is said of them are masked."""
    found = [subagent_of(path) for path in store_of(place).layout(session).agents()]
    if not redacted:
        return found
    return [
        each._replace(
            kind=mask_text(place, each.kind), description=mask_text(place, each.description)
        )
        for each in found
    ]


def shortest_beginnings(names: Sequence[str], *, at_least: int) -> dict[str, str]:
    """Return for each name its shortest unique beginning, of at least `at_least` characters."""
    ordered = sorted(set(names))
    shared = [0, *(_shared(one, two) for one, two in pairwise(ordered)), 0]
    return {
        name: name[: max(at_least, shared[at] + 1, shared[at + 1] + 1)]
        for at, name in enumerate(ordered)
    }


def _shared(one: str, two: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(one, two, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(two)))


def as_row(row: SessionRow) -> dict[str, Any]:
    """Return a listed session as a document for programs."""
    shown = {**row._asdict(), **row.listed._asdict(), "path": str(row.path)}
    del shown["listed"], shown["spoken_at"]
    return shown


def _agent_path(store: SessionStore, session: str, agent: str) -> Path:
    for path in store.layout(session).agents():
        if path.stem == f"agent-{agent}":
            return path
    raise NotFound(
        f"session {session!r} has no subagent {agent!r}", hint="`siding session show` names them"
    )


def _redacted(place: SessionPlace, found: Conversation) -> Conversation:
    return found._replace(
        title=mask_text(place, found.title), records=mask_records(place, found.records)
    )


def _shown(
    session: str, title: str, transcript: Transcript, heads: list[MessageHead], ids: tuple[str, ...]
) -> Conversation:
    return Conversation(
        id=session,
        title=title,
        path=transcript.path,
        records=transcript.records(heads),
        ids=ids,
        gaps=tuple(transcript.gaps(heads)),
        transcript=transcript,
    )
