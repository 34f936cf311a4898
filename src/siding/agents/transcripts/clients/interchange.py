"""Import conversations from other programs, and export them for those programs.

An imported transcript appears whole or not at all. Importing the same file again adds what the
other program has added since.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from siding.agents.transcripts.clients import claude, codex, codex_forks, gemini
from siding.agents.transcripts.clients.arriving import Differences
from siding.agents.transcripts.clients.foreign import bytes_of, in_todays_form
from siding.agents.transcripts.forms import Form
from siding.agents.transcripts.heads import parsed
from siding.agents.transcripts.kinds import CHAIN_TYPES, Record
from siding.agents.transcripts.layout import SessionLayout
from siding.agents.transcripts.messages import as_said
from siding.agents.transcripts.store import SessionStore
from siding.agents.transcripts.writing.appending import Appender, lock_of
from siding.ground.errors import UsageError
from siding.ground.files.durable import flush_dir, make_dirs, move_aside, remove_file, replace_bytes
from siding.ground.files.regular import open_with_stat, read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, encode_line
from siding.ground.storage.lines import lines_forwards

_CHUNK_LINES = 2000
MOST_BYTES = 1024 * 1024 * 1024  # of a file that must be in memory as a whole


class Arrival(NamedTuple):
    """The result of an import.

    `lines`: how many were added to the transcript. `agents`: to how many subagents' transcripts
    lines were added.
    """

    session_id: str
    form: Form
    lines: int
    agents: int
    missing: str = ""  # the conversation that has its beginning, and is not there


_WRITERS: dict[Form, Callable[[list[Record]], list[str]]] = {
    Form.CODEX: codex.exported,
    Form.GEMINI: gemini.exported,
}


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


def form_of(path: Path) -> Form:
    """Return which program's transcript the file is, judged by its first 20 records.

    Raises UsageError when it fits none of them.
    """
    for record in islice(_records_at(path), 20):
        if isinstance(record.get("payload"), dict):
            return Form.CODEX
        if "projectHash" in record or "$set" in record or isinstance(record.get("messages"), list):
            return Form.GEMINI
        if "uuid" in record or "sessionId" in record or "leafUuid" in record:
            return Form.CLAUDE
    raise UsageError(
        f"{str(path)!r} does not look like a transcript of Claude Code, Codex or Gemini CLI",
        hint="name its format with --from if it is one",
    )


def bring_in(
    store: SessionStore,
    path: Path,
    *,
    form: Form | None = None,
    session_id: str | None = None,
    cwd: str = "",
) -> Arrival:
    """Import a transcript. If its session exists already, add only the lines that are new.

    With `session_id` the session gets that id, also in its lines. `cwd` is the directory the
    program worked in; it is used when the transcript does not say it. Raises UsageError when the
    existing session differs from the beginning of the transcript, and OSError.
    """
    form = form or form_of(path)
    missing = ""
    if form is Form.CLAUDE:
        return _bring_in_claude(store, path, session_id)
    data = read_bytes(path, limit=MOST_BYTES)
    if form is Form.CODEX:
        data, missing = codex_forks.whole(path, data)
        found = codex.imported(data, session_id=path.stem, missing=missing)
    else:
        found = gemini.imported(data, session_id=path.stem, cwd=cwd)
    layout = store.layout(session_id or found.session_id)
    naming = Naming(frozenset({found.session_id}), layout.session_id)
    lines = [encode_line(naming.record(record)) for record in found.records]
    added = _append_new(layout.transcript, lambda: lines, naming)
    return Arrival(layout.session_id, form, added, agents=0, missing=missing)


def give_out(store: SessionStore, session_id: str, form: Form, target: Path) -> list[Path]:
    """Export the session into the directory `target`; return the paths of the files written.

    The files have the names by which the other program finds them. Existing files are replaced.
    """
    make_dirs(target)
    layout = store.layout(session_id)
    if form is Form.CLAUDE:
        return _give_out_claude(layout, target)
    with store.whole(session_id) as transcript:
        marked = [(head.offset, head.size) for head in transcript.tree.heads.values()]
        others = [
            (each.offset, each.size) for each in transcript.others if each.type == "foreign-line"
        ]
        places = sorted({*marked, *others, *_lines_of_form(transcript.path, form)})
        records = [as_said(parsed(transcript.raw(*place))) for place in places]
    path = target / _name(form, session_id, records)
    replace_bytes(path, bytes_of(_WRITERS[form](records)))
    return [path]


def _name(form: Form, session_id: str, records: Sequence[Record]) -> str:
    """Return the name that Codex or the Gemini CLI would give the session's file.

    It is made of the time of the first record and the session's id.
    """
    times = (str(each["timestamp"]) for each in records if each.get("timestamp"))
    began = next(times, "1970-01-01T00:00:00")[:19].replace(":", "-")
    if form is Form.CODEX:
        return f"rollout-{began}-{session_id}.jsonl"
    return f"session-{began[:16]}-{session_id[:8]}.jsonl"


def _lines_of_form(path: Path, form: Form) -> Iterator[tuple[int, int]]:
    """Yield offset and size of all lines made from `form`.

    The tree holds only the last version of a message that was written several times; an export
    needs every line.
    """
    mark = f'"format":"{form.value}"'.encode()
    for offset, raw in _lines_at(path):
        if mark in raw:
            yield offset, len(raw)


def _bring_in_claude(store: SessionStore, path: Path, session_id: str | None) -> Arrival:
    files = claude.files_at(path)
    layout = store.layout(session_id or files.session_id)
    naming = Naming(frozenset(), layout.session_id)
    if layout.session_id != files.session_id:
        naming = Naming(frozenset({files.session_id, *_named_in(path)}), layout.session_id)
    lines = _append_new(layout.transcript, partial(_renamed, path, naming), naming)
    agents = 0
    source = SessionLayout(root=path.parent, session_id=files.session_id)
    for file in _files_in(source):
        target = layout.directory / file.relative_to(source.directory)
        if _is_agent(source, file):
            agents += _append_new(target, partial(_renamed, file, naming), naming) > 0
        else:
            _copy_file(file, target)
    return Arrival(session_id=layout.session_id, form=Form.CLAUDE, lines=lines, agents=agents)


def _named_in(path: Path) -> Iterator[str]:
    """Yield the session id that the first message of a transcript names, if it names one."""
    for record in _records_at(path):
        if record.get("type") in CHAIN_TYPES and isinstance(record.get("sessionId"), str):
            yield str(record["sessionId"])
            return


def _give_out_claude(layout: SessionLayout, target: Path) -> list[Path]:
    there = SessionLayout(root=target, session_id=layout.session_id)
    written = [_copy_for_claude(layout.transcript, there.transcript)]
    for file in _files_in(layout):
        path = there.directory / file.relative_to(layout.directory)
        is_agent = _is_agent(layout, file)
        written.append(_copy_for_claude(file, path) if is_agent else _copy_file(file, path))
    return written


def _files_in(layout: SessionLayout) -> list[Path]:
    """Return the files in a session's directory, without our index and locks."""
    if not layout.directory.is_dir():
        return []
    return sorted(
        path
        for path in layout.directory.rglob("*")
        if path.is_file() and path != layout.index_json and path.suffix != ".lock"
    )


def _is_agent(layout: SessionLayout, path: Path) -> bool:
    return (
        path.suffix == ".jsonl"
        and path.name.startswith("agent-")
        and path.is_relative_to(layout.subagents)
    )


def _copy_for_claude(source: Path, target: Path) -> Path:
    """Copy a transcript for other tools, without holding all of it in memory; return `target`.

    The copy has another name until it is complete.
    """
    changes = claude.changes_in(raw_lines_at(source))
    make_dirs(target.parent)
    lines = claude.exported(raw_lines_at(source), changes)
    if _write_partial(target, lines):
        _partial_name(target).replace(target)
        flush_dir(target.parent)
    else:
        replace_bytes(target, b"")
    return target


def _renamed(path: Path, naming: "Naming") -> Iterator[bytes]:
    return map(naming.line, raw_lines_at(path))


def _append_new(path: Path, lines: Callable[[], Iterable[bytes]], naming: "Naming") -> int:
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
    count = _write_partial(path, lines)
    if count:
        move_aside(_partial_name(path), path)
    return count


def _write_partial(path: Path, lines: Iterator[bytes]) -> int:
    """Write the lines to the file that will be renamed to `path`; return how many there were."""
    partial = _partial_name(path)
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


def _partial_name(path: Path) -> Path:
    return path.with_name(f".{path.name}.partial")


def _append_all(appender: Appender, lines: Iterator[bytes]) -> int:
    count = 0
    while chunk := list(islice(lines, _CHUNK_LINES)):
        appender.append(chunk)
        count += len(chunk)
    return count


def _copy_file(source: Path, target: Path) -> Path:
    make_dirs(target.parent)
    replace_bytes(target, read_bytes(source))
    return target


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


def _records_at(path: Path) -> Iterator[Record]:
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
