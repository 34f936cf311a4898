"""Import conversations from other programs, and export them for those programs.

An imported transcript appears whole or not at all. Importing the same file again adds what the
other program has added since. `interchange` in an agent's folder has its ``INTERCHANGE``.

A copy of a conversation, as a new one, has what a model would be sent: what was rewound or
compacted away is not in it, also for programs whose own files know nothing of either.

`changes_in` tells what Siding has changed in a transcript since it was taken over.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Protocol

from siding.agents.facets import Facet
from siding.agents.table import BY_NAME, OUR_FORM
from siding.agents.transcripts.appender import Appender, lock_of
from siding.agents.transcripts.branches import branch_session
from siding.agents.transcripts.foreign import (
    Differences,
    Imported,
    bytes_of,
    in_todays_form,
    origin_of,
    record_of,
)
from siding.agents.transcripts.heads import is_ours, parsed
from siding.agents.transcripts.kinds import CHAIN_TYPES, Record
from siding.agents.transcripts.messages import as_said
from siding.agents.transcripts.store import SessionStore
from siding.ground.errors import UsageError
from siding.ground.files.durable import make_dirs, move_aside, remove_file, replace_bytes
from siding.ground.files.regular import open_with_stat, read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson
from siding.ground.storage.lines import lines_forwards
from siding.ground.storage.writes import encode_line

_CHUNK_LINES = 2000
MOST_BYTES = 1024 * 1024 * 1024  # of a file that must be in memory as a whole


class Arrival(NamedTuple):
    """The result of an import.

    `lines`: how many were added to the transcript. `agents`: to how many subagents' transcripts
    lines were added.
    """

    session_id: str
    form: str
    lines: int
    agents: int
    missing: str = ""  # the conversation that has its beginning, and is not there


class Interchange(Protocol):
    """How the transcripts of one program are taken over and given out."""

    edition: int  # copies that were made of earlier ones are made anew

    def is_one(self, record: Record, /) -> bool:
        """Tell whether a record is of one of its transcripts."""
        ...

    def bring_in(
        self, store: SessionStore, path: Path, session_id: str | None, cwd: str, /
    ) -> Arrival:
        """Import a transcript; see `bring_in`."""
        ...

    def give_out(self, store: SessionStore, session_id: str, target: Path, /) -> list[Path]:
        """Export a session into a directory that is there; see `give_out`."""
        ...

    def first_lines(self, lines: Iterator[bytes], copy: str, /) -> tuple[Record, ...]:
        """Return the records with which the copy of a conversation begins; `lines` are its own."""
        ...


INTERCHANGE: Facet[Interchange] = Facet("interchange", "INTERCHANGE")


class Converted:
    """The interchange with a program whose transcripts are converted, and kept in ours as well.

    `made` imports the file `data` of `path`, and returns what its beginning is missing, if that is
    elsewhere. `exported` returns the lines of a file, `named` the name that the program would give
    it, of the time of the first record and the session's id.
    """

    def __init__(
        self,
        form: str,
        is_one: Callable[[Record], bool],
        made: Callable[[Path, bytes, str], tuple[Imported, str]],
        exported: Callable[[list[Record]], list[str]],
        named: Callable[[str, str], str],
        first_lines: Callable[[Iterator[bytes], str], tuple[Record, ...]] = lambda _lines, _id: (),
        edition: int = 0,
    ) -> None:
        self._form = form
        self.is_one = is_one
        self._made = made
        self._exported = exported
        self._named = named
        self.first_lines = first_lines
        self.edition = edition

    def bring_in(
        self, store: SessionStore, path: Path, session_id: str | None, cwd: str, /
    ) -> Arrival:
        data = read_bytes(path, limit=MOST_BYTES)
        found, missing = self._made(path, data, cwd)
        layout = store.layout(session_id or found.session_id)
        naming = Naming(frozenset({found.session_id}), layout.session_id)
        lines = [encode_line(naming.record(record)) for record in found.records]
        added = append_new(layout.transcript, lambda: lines, naming)
        return Arrival(layout.session_id, self._form, added, agents=0, missing=missing)

    def give_out(self, store: SessionStore, session_id: str, target: Path, /) -> list[Path]:
        with store.whole(session_id) as transcript:
            marked = [(head.offset, head.size) for head in transcript.tree.heads.values()]
            others = [
                (each.offset, each.size)
                for each in transcript.others
                if each.type == "foreign-line"
            ]
            ours = _lines_of_form(transcript.path, self._form)
            places = sorted({*marked, *others, *ours})
            records = [as_said(parsed(transcript.raw(*place))) for place in places]
        times = (str(each["timestamp"]) for each in records if each.get("timestamp"))
        began = next(times, "1970-01-01T00:00:00")[:19].replace(":", "-")
        path = target / self._named(began, session_id)
        replace_bytes(path, bytes_of(self._exported(records)))
        return [path]


class Naming(NamedTuple):
    """Renames the session in imported lines: each id in `before` becomes `now`."""

    before: frozenset[str]
    now: str

    def record(self, record: Record) -> Record:
        """Return the record with its session renamed; the same record if nothing changes."""
        if record.get("sessionId") not in self.before or not self.before:
            return record
        return {**record, "sessionId": self.now}

    def line(self, raw: bytes) -> bytes:
        """Return the line with its session renamed. A damaged line is returned as it is."""
        if not self.before:
            return raw
        try:
            record = parsed(raw)
        except NotJson:
            return raw
        renamed = self.record(record)
        return raw if renamed is record else encode_line(renamed)

    def is_same(self, known: bytes, coming: bytes) -> bool:
        """Return whether `known`, a line of our file, was made from the same line as `coming`.

        They can differ: an earlier release of Siding may have written `known` in another form.
        """
        try:
            one, two = parsed(known), parsed(coming)
        except NotJson:
            return False
        return in_todays_form(self.record(one)) == in_todays_form(self.record(two))


def form_of(path: Path) -> str:
    """Return which program's transcript the file is, judged by its first 20 records.

    Raises UsageError when it fits none of them.
    """
    forms = [(form, _interchange(form)) for form in INTERCHANGE.agents]
    # Other programs' records have ids as well: whether it is one of ours is asked last.
    forms.sort(key=lambda each: each[0] == OUR_FORM)
    for record in islice(records_at(path), 20):
        for form, each in forms:
            if each.is_one(record):
                return form
    *others, last = (BY_NAME[form].title for form in INTERCHANGE.agents)
    raise UsageError(
        f"{str(path)!r} does not look like a transcript of {', '.join(others)} or {last}",
        hint="name its format with --from if it is one",
    )


def bring_in(
    store: SessionStore,
    path: Path,
    *,
    form: str | None = None,
    session_id: str | None = None,
    cwd: str = "",
) -> Arrival:
    """Import a transcript. If its session exists already, add only the lines that are new.

    With `session_id` the session gets that id, also in its lines. `cwd` is the directory the
    program worked in; it is used when the transcript does not say it. Raises UsageError when the
    existing session differs from the beginning of the transcript, and OSError.
    """
    form = form or form_of(path)
    return _interchange(form).bring_in(store, path, session_id, cwd)


def give_out(store: SessionStore, session_id: str, form: str, target: Path) -> list[Path]:
    """Export the session into the directory `target`; return the paths of the files written.

    The files have the names by which the other program finds them. Existing files are replaced.
    """
    make_dirs(target)
    return _interchange(form).give_out(store, session_id, target)


def give_out_copy(
    store: SessionStore, session: str, copy: str, form: str, directory: Path
) -> list[Path]:
    """Write the live conversation of `session` as the session `copy`; return the new files.

    They are in `directory`/out; what else is in there is of no use afterwards. Raises as
    `branch_session` does.
    """
    copies = SessionStore(directory)
    lines = raw_lines_at(store.layout(session).transcript)
    first = _interchange(form).first_lines(lines, copy)
    branch_session(store, session, copy, into=copies, first=first)
    return give_out(copies, copy, form, directory / "out")


def edition_of(form: str) -> int:
    """Return the edition of what transcripts of a program are converted to."""
    return _interchange(form).edition


def _interchange(form: str) -> Interchange:
    found = INTERCHANGE.of(form)
    assert found is not None
    return found


def _lines_of_form(path: Path, form: str) -> Iterator[tuple[int, int]]:
    """Yield offset and size of all lines made from `form`.

    The tree holds only the last version of a message that was written several times; an export
    needs every line.
    """
    mark = f'"format":"{form}"'.encode()
    for offset, raw in _lines_at(path):
        if mark in raw:
            yield offset, len(raw)


def append_new(path: Path, lines: Callable[[], Iterable[bytes]], naming: Naming) -> int:
    """Append the lines that the file does not have yet; return how many.

    The file's lines must be the first of `lines`, but for answers that the other program has taken
    out or written anew (`arriving.Differences`); UsageError is raised otherwise. A new file appears
    whole or not at all. Lines of the file that are not whole JSON (an import was killed while it
    wrote them) are ignored, and written again.
    """
    with Appender(path) as appender:
        if not path.exists():
            return _create(path, iter(lines()))
        appender.append(())  # end a last line that a killed writer left without its newline
        differences = Differences(lines, naming.is_same)
        for _, known in _lines_at(path):
            if not differences.take(known) and _is_json(known):
                raise UsageError(
                    f"session {naming.now!r} exists already and differs from this transcript",
                    hint="import it under another name with --as ID",
                )
        return _append_all(appender, differences.new(naming.now))


def _create(path: Path, lines: Iterator[bytes]) -> int:
    count = write_partial(path, lines)
    if count:
        move_aside(partial_name(path), path)
    return count


def write_partial(path: Path, lines: Iterator[bytes]) -> int:
    """Write the lines to the file that will be renamed to `path`; return how many there were."""
    partial = partial_name(path)
    partial.unlink(missing_ok=True)
    try:
        with Appender(partial) as appender:
            count = _append_all(appender, lines)
    except OSError:  # the disk is full: the part of a transcript would only take room
        for path in (partial, lock_of(partial)):
            path.unlink(missing_ok=True)
        raise
    remove_file(lock_of(partial))
    return count


def partial_name(path: Path) -> Path:
    """Return the name that a file has until it is whole."""
    return path.with_name(f".{path.name}.partial")


def _append_all(appender: Appender, lines: Iterator[bytes]) -> int:
    count = 0
    while chunk := list(islice(lines, _CHUNK_LINES)):
        appender.append(chunk)
        count += len(chunk)
    return count


def _lines_at(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield offset and bytes of each line; a last line without a newline only if it is whole JSON.

    Lines that are too long to be read are left out.
    """
    fd, _ = open_with_stat(path)
    try:
        for line in lines_forwards(fd):
            if line.is_too_long or (not line.is_closed and not _is_json(line.raw)):
                continue
            yield line.offset, line.raw
    finally:
        os.close(fd)


def raw_lines_at(path: Path) -> Iterator[bytes]:
    """Yield the lines of a transcript; a last one that is only half there is left out."""
    return (raw for _, raw in _lines_at(path))


def _is_json(raw: bytes) -> bool:
    try:
        parsed(raw)
    except NotJson:
        return False
    return True


def records_at(path: Path) -> Iterator[Record]:
    """Yield the records of a transcript; one that is a single document is one."""
    found = False
    for _, raw in _lines_at(path):
        try:
            yield parsed(raw)
            found = True
        except NotJson:
            continue
    if not found:
        try:
            yield parsed(read_bytes(path, limit=MOST_BYTES))
        except NotJson:
            return


# -- What Siding has changed in a transcript since it was taken over -------------------------------

_TOMBSTONE = b'"tombstone"'
_REPLACED = b'"content-replacement"'


class Changes(NamedTuple):
    """What Siding did to a transcript.

    `withdrawn`: the ids of withdrawn messages. `since`: the ids of the last message that Siding
    wrote and of everything after it; None when Siding wrote no message.
    """

    withdrawn: frozenset[str]
    since: frozenset[str] | None


def changes_in(lines: Iterable[bytes]) -> Changes:
    """Return what Siding did to the transcript with these lines."""
    withdrawn = set()
    since: set[str] | None = None
    for line in lines:
        if _TOMBSTONE in line:  # most lines are not parsed: they cannot hold what is looked for
            record = record_of(line)
            if is_our_line(record) and record.get("type") == "tombstone":
                withdrawn.add(str(record.get("uuid")))
        if is_ours(line):
            record = record_of(line)
            if record.get("type") in CHAIN_TYPES and origin_of(record) is None:
                since = {str(record.get("uuid"))}
        elif since is not None:
            since.add(str(record_of(line).get("uuid")))
    return Changes(frozenset(withdrawn), None if since is None else frozenset(since))


def is_changed_here(transcript: Path) -> bool:
    """Tell whether something was said, rewound or compacted here since the last import."""
    if changes_in(raw_lines_at(transcript)).since is not None:
        return True
    return any(_REPLACED in line and is_ours(line) for line in raw_lines_at(transcript))


def is_our_line(record: Record) -> bool:
    """Return whether the line has a type that only Siding writes.

    Another program may use the same name for a type of its own; its lines have no `v`.
    """
    return record.get("type") in ("tombstone", "foreign-line") and "v" in record
