"""Say in a line what a found transcript is about: whose, where, what was asked, when, how much.

A transcript is read line by line, in bounded memory. A summary knows how far it has read, so of a
file that has grown only the new lines are read. Lines that are damaged, or of a type that is not
known, are skipped. What is counted as a message is a prompt that a person typed or an answer.

Summaries are remembered, so that a list reads only what has changed: in a cache, which can be
deleted at any time, and is made again when it is damaged. An entry counts for the path, size and
time of change that it was made of. `lines` in an agent's folder has its ``LINES``.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from siding.agents.facets import Facet
from siding.agents.table import OUR_FORM
from siding.agents.transcripts.heads import parsed
from siding.agents.transcripts.homes import FoundTranscript
from siding.agents.transcripts.kinds import Record, moment
from siding.agents.transcripts.reading.listing import NO_PROMPT, shortened
from siding.agents.transcripts.reading.transcript import Transcript
from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs, replace_bytes
from siding.ground.files.regular import open_with_stat, read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson
from siding.ground.storage.fields import mapping
from siding.ground.storage.lines import lines_forwards

VERSION = 4  # of the cache; 4: what is shown of a conversation that was compacted or rewound
_MOST_BYTES = 256 * 1024 * 1024
_MARK_BYTES: Final = 64


class Summary(Struct, array_like=True):
    """What a list shows of a transcript. It grows while lines are read.

    `covered` bytes have been read; `mark` is the last of them, in hex: another file has another
    one. `spoken_at` is the time of the newest message in milliseconds since 1970. `hidden`: it is
    a side conversation. `project_hash` stands for `cwd` where the client writes no path.
    """

    id: str
    title: str = ""
    prompt: str = ""
    cwd: str = ""
    branch: str = ""
    spoken_at: int | None = None
    messages: int = 0
    hidden: bool = False
    project_hash: str = ""
    covered: int = 0
    mark: str = ""
    last_message: str = ""  # the id of the newest answer: one is written in several lines
    has_custom_title: bool = False
    entrypoint: str = ""  # what wrote it; of an imported session, the client's name
    forked_from: str = ""  # the conversation that has its beginning, in another file
    forked_until: int = 0  # the first line of that which is none of its own
    is_fork: bool = False  # a part of it is in another file
    shown_prompt: str = ""  # the first one that was not rewound; "" where only lines were counted
    shown_messages: int | None = None  # those that `session show` shows
    compacted_at: str = ""  # the boundary of the newest compaction, before which nothing changes

    def heard(self, timestamp: object) -> None:
        """Note the time of a message."""
        at = moment(timestamp)
        if at is not None and (self.spoken_at is None or at > self.spoken_at):
            self.spoken_at = at

    def asked(self, text: str) -> None:
        """Count a prompt."""
        self.messages += 1
        if not self.prompt:
            self.prompt = storable(shortened(text))

    def answered(self, name: object) -> None:
        """Count an answer, of which another line may have been counted."""
        if not isinstance(name, str) or name != self.last_message:
            self.messages += 1
            self.last_message = storable(name) if isinstance(name, str) else ""


def _stem(path: Path) -> str:
    return path.stem


def _nothing(_path: Path, _summary: Summary) -> None:
    return


class Lines(NamedTuple):
    """What the lines of one program's transcripts say.

    `fold` takes note of a line. `words` returns the kind, the time and the text of one that can be
    searched. `id_of` returns the id of the conversation by the name of its file. `complete` takes
    note of what stands in other files.
    """

    fold: Callable[[Summary, Record], None]
    words: Callable[[bytes], tuple[str, str, str] | None]
    id_of: Callable[[Path], str] = _stem
    complete: Callable[[Path, Summary], None] = _nothing


LINES: Facet[Lines] = Facet("lines", "LINES")


def summary_of(found: FoundTranscript, before: Summary | None = None) -> Summary:
    """Return the summary of a transcript; `before` is that of an earlier state of the file.

    Raises OSError and UnreadableFile.
    """
    lines = LINES.of(found.client)
    assert lines is not None
    if found.path.suffix == ".json":
        return _of_document(found.path, lines)
    fd, status = open_with_stat(found.path)
    try:
        summary = before
        if summary is None or not _continues(fd, status.st_size, summary):
            summary = Summary(id=storable(lines.id_of(found.path)))
        for line in lines_forwards(fd, summary.covered):
            if not line.is_closed:
                break  # it is being written, or was cut off: the next look reads it again
            summary.covered = line.end
            if not line.is_too_long:
                take(lines.fold, summary, line.raw)
        summary.mark = _mark(fd, summary.covered)
    finally:
        os.close(fd)
    lines.complete(found.path, summary)
    return summary


def _of_document(path: Path, lines: Lines) -> Summary:
    """Read a file that is one JSON object, and is written anew each time."""
    summary = Summary(id=storable(lines.id_of(path)))
    try:
        lines.fold(summary, parsed(read_bytes(path)))
    except (NotJson, ValueError, TypeError):
        return summary
    lines.complete(path, summary)
    return summary


def take(fold: Callable[[Summary, Record], None], summary: Summary, raw: bytes) -> None:
    """Take note of a line that may be damaged."""
    try:
        fold(summary, parsed(raw))
    except (NotJson, ValueError, TypeError):  # damaged, or of a form that is not known
        return


def _continues(fd: int, size: int, summary: Summary) -> bool:
    return summary.covered <= size and _mark(fd, summary.covered) == summary.mark


def _mark(fd: int, covered: int) -> str:
    start = max(covered - _MARK_BYTES, 0)
    return os.pread(fd, covered - start, start).hex()


def texts_in(content: object) -> str:
    """Return the texts of a content, which is one, or parts with a `text`."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    found = (mapping(part).get("text") for part in parts)
    return "".join(each for each in found if isinstance(each, str))


def text_in(value: object) -> str:
    """Return a text that can be stored, "" for what is none."""
    return storable(value) if isinstance(value, str) else ""


def storable(text: str) -> str:
    """Return a text that can be stored: half a pair of surrogates cannot be written as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def with_what_is_shown(found: FoundTranscript, summary: Summary) -> Summary:
    """Return the summary of a transcript in our form with what of it is the conversation now.

    Other lines were rewound or compacted away. Raises OSError and UnreadableFile.
    """
    lines = LINES.of(OUR_FORM)
    assert lines is not None
    with Transcript.live(found.path) as transcript:
        shown = transcript.shown()
        counted = Summary(id=summary.id)
        for record in transcript.records(shown):
            lines.fold(counted, record)
        boundary = shown[0].uuid if transcript.is_compacted(shown) else ""
        prompt = counted.prompt
        if boundary and boundary == summary.compacted_at:
            prompt = summary.shown_prompt
        elif boundary:
            first = transcript.first_prompt(shown)
            prompt = "" if first == NO_PROMPT else storable(first)
    return msgspec.structs.replace(
        summary,
        shown_prompt=prompt,
        shown_messages=counted.messages,
        compacted_at=boundary,
    )


class _Entry(Struct, array_like=True):
    size: int
    mtime_ns: int
    summary: Summary


class _Cache(Struct):
    version: int
    entries: dict[str, _Entry]


_DECODER = msgspec.json.Decoder(_Cache)


class Summarised(NamedTuple):
    """A found transcript, and what it is about."""

    transcript: FoundTranscript
    summary: Summary


def summarised(
    cache: Path, transcripts: Iterable[FoundTranscript], *, shown: bool = False
) -> list[Summarised]:
    """Return the transcripts with their summaries; read only those that changed since.

    With `shown` they are ours, and the summaries have what is shown of them.

    Files that cannot be read, and are gone, are left out. The cache is written if something
    changed and it can be.
    """
    known = _read(cache)
    entries: dict[str, _Entry] = {}
    found: list[Summarised] = []
    changed = False
    for each in transcripts:
        name = str(each.path)
        entry = known.get(name)
        if entry is None or (entry.size, entry.mtime_ns) != (each.size, each.mtime_ns):
            try:
                summary = summary_of(each, None if entry is None else entry.summary)
                if shown:
                    summary = with_what_is_shown(each, summary)
            except (OSError, SidingError):
                continue
            entry = _Entry(size=each.size, mtime_ns=each.mtime_ns, summary=summary)
            changed = True
        entries[name] = entry
        found.append(Summarised(transcript=each, summary=entry.summary))
    if changed or len(entries) != len(known):
        _write(cache, entries)
    return found


def _read(cache: Path) -> dict[str, _Entry]:
    try:
        found = _DECODER.decode(read_bytes(cache, limit=_MOST_BYTES))
    except (OSError, SidingError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    return found.entries if found.version == VERSION else {}


def _write(cache: Path, entries: dict[str, _Entry]) -> None:
    storable = {name: entry for name, entry in entries.items() if _is_utf8(name)}
    with suppress(OSError):  # a full disk, a home that cannot be written: the next list reads again
        make_dirs(cache.parent)
        replace_bytes(cache, msgspec.json.encode(_Cache(version=VERSION, entries=storable)))


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
