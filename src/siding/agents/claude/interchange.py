"""Take over and export transcripts of Claude Code, whose format is ours: line by line.

The subagents of a conversation come and go with it.

An export leaves out the lines that only Siding understands: withdrawn messages, their tombstones,
and the lines that carry another program's transcript. It also leaves out `last-prompt` notes that
are out of date, because Claude Code would go on from a message before the last one written here
(seen in Claude Code 2.1.197). A session that was only imported is exported byte for byte.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from siding.agents.transcripts.foreign import origin_of, record_of, without_origin
from siding.agents.transcripts.interchange import (
    Arrival,
    Changes,
    Interchange,
    Naming,
    append_new,
    changes_in,
    is_our_line,
    partial_name,
    raw_lines_at,
    records_at,
    write_partial,
)
from siding.agents.transcripts.kinds import CHAIN_TYPES, Record
from siding.agents.transcripts.layout import SessionLayout
from siding.agents.transcripts.store import SessionStore
from siding.ground.files.durable import flush_dir, make_dirs, replace_bytes
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.writes import encode_line

_OURS = (b'"tombstone"', b'"foreign-line"', b'"origin"', b'"sidingOrigin"')
_LAST_PROMPT = b'"last-prompt"'


class Files(NamedTuple):
    """A conversation's files where Claude Code keeps them."""

    session_id: str
    transcript: Path
    directory: Path  # with subagents/ and tool-results/; need not exist


def files_at(path: Path) -> Files:
    """Return the files of the transcript at `path`: ``<session>.jsonl`` and ``<session>/``."""
    return Files(session_id=path.stem, transcript=path, directory=path.with_name(path.stem))


def exported(lines: Iterable[bytes], changes: Changes) -> Iterator[bytes]:
    """Yield the lines for other tools, byte for byte as they are in the file.

    Only messages that were made from another program's line are written anew, without that line.
    """
    for line in lines:
        if changes.since is not None and _LAST_PROMPT in line and _is_overtaken(line, changes):
            continue
        if not changes.withdrawn and not any(mark in line for mark in _OURS):
            yield line
            continue
        record = record_of(line)
        if is_our_line(record) or record.get("uuid") in changes.withdrawn:
            continue
        yield line if origin_of(record) is None else encode_line(without_origin(record))


def _is_overtaken(line: bytes, changes: Changes) -> bool:
    """Return whether the line tells Claude Code to go on from a message before our last one.

    Claude Code resumes at the `leafUuid` of the last `last-prompt` line, even if newer messages
    follow it.
    """
    record = record_of(line)
    leaf = record.get("leafUuid")
    return (
        record.get("type") == "last-prompt"
        and isinstance(leaf, str)
        and changes.since is not None
        and leaf not in changes.since
    )


class ClaudeInterchange:
    """The interchange with Claude Code."""

    edition = 0

    def is_one(self, record: Record, /) -> bool:
        return "uuid" in record or "sessionId" in record or "leafUuid" in record

    def bring_in(
        self, store: SessionStore, path: Path, session_id: str | None, _cwd: str, /
    ) -> Arrival:
        files = files_at(path)
        layout = store.layout(session_id or files.session_id)
        naming = Naming(frozenset(), layout.session_id)
        if layout.session_id != files.session_id:
            naming = Naming(frozenset({files.session_id, *_named_in(path)}), layout.session_id)
        lines = append_new(layout.transcript, partial(_renamed, path, naming), naming)
        agents = 0
        source = SessionLayout(root=path.parent, session_id=files.session_id)
        for file in _files_in(source):
            target = layout.directory / file.relative_to(source.directory)
            if _is_agent(source, file):
                agents += append_new(target, partial(_renamed, file, naming), naming) > 0
            else:
                _copy_file(file, target)
        return Arrival(session_id=layout.session_id, form="claude", lines=lines, agents=agents)

    def give_out(self, store: SessionStore, session_id: str, target: Path, /) -> list[Path]:
        layout = store.layout(session_id)
        there = SessionLayout(root=target, session_id=layout.session_id)
        written = [_copy_transcript(layout.transcript, there.transcript)]
        for file in _files_in(layout):
            path = there.directory / file.relative_to(layout.directory)
            is_agent = _is_agent(layout, file)
            written.append(_copy_transcript(file, path) if is_agent else _copy_file(file, path))
        return written

    def first_lines(self, _lines: Iterator[bytes], _copy: str, /) -> tuple[Record, ...]:
        return ()


INTERCHANGE: Interchange = ClaudeInterchange()


def _named_in(path: Path) -> Iterator[str]:
    """Yield the session id that the first message of a transcript names, if it names one."""
    for record in records_at(path):
        if record.get("type") in CHAIN_TYPES and isinstance(record.get("sessionId"), str):
            yield str(record["sessionId"])
            return


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


def _copy_transcript(source: Path, target: Path) -> Path:
    """Copy a transcript for other tools, without holding all of it in memory; return `target`.

    The copy has another name until it is complete.
    """
    changes = changes_in(raw_lines_at(source))
    make_dirs(target.parent)
    lines = exported(raw_lines_at(source), changes)
    if write_partial(target, lines):
        partial_name(target).replace(target)
        flush_dir(target.parent)
    else:
        replace_bytes(target, b"")
    return target


def _renamed(path: Path, naming: Naming) -> Iterator[bytes]:
    return map(naming.line, raw_lines_at(path))


def _copy_file(source: Path, target: Path) -> Path:
    make_dirs(target.parent)
    replace_bytes(target, read_bytes(source))
    return target
