"""Say in a line what a found transcript is about: whose, where, what was asked, when, how much.

A transcript is read line by line, in bounded memory. A summary knows how far it has read, so of a
file that has grown only the new lines are read. Lines that are damaged, or of a type that is not
known, are skipped. What is counted as a message is a prompt that a person typed or an answer.
"""

import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from siding.agents.transcripts.clients.codex_forks import Fork, beginning_of, fork_in
from siding.agents.transcripts.clients.foreign import is_context
from siding.agents.transcripts.forms import Form
from siding.agents.transcripts.heads import parsed
from siding.agents.transcripts.homes.found import FoundTranscript
from siding.agents.transcripts.kinds import ASSISTANT, ATTACHMENT, CHAIN_TYPES, USER, Record, moment
from siding.agents.transcripts.messages import queued_prompt
from siding.agents.transcripts.reading.listing import (
    NO_PROMPT,
    first_prompt,
    shortened,
    without_hooks,
)
from siding.ground.files.regular import open_with_stat, read_bytes
from siding.ground.storage.codec import NotJson
from siding.ground.storage.lines import lines_forwards

_MARK_BYTES: Final = 64
_TITLES: Final = {"custom-title": "customTitle", "ai-title": "aiTitle"}


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

    def heard(self, timestamp: object) -> None:
        """Note the time of a message."""
        at = moment(timestamp)
        if at is not None and (self.spoken_at is None or at > self.spoken_at):
            self.spoken_at = at

    def asked(self, text: str) -> None:
        """Count a prompt."""
        self.messages += 1
        if not self.prompt:
            self.prompt = _storable(shortened(text))

    def answered(self, name: object) -> None:
        """Count an answer, of which another line may have been counted."""
        if not isinstance(name, str) or name != self.last_message:
            self.messages += 1
            self.last_message = _storable(name) if isinstance(name, str) else ""


def summary_of(found: FoundTranscript, before: Summary | None = None) -> Summary:
    """Return the summary of a transcript; `before` is that of an earlier state of the file.

    Raises OSError and UnreadableFile.
    """
    fold = _FOLDS[found.client]
    if found.path.suffix == ".json":
        return _of_document(found, fold)
    fd, status = open_with_stat(found.path)
    try:
        summary = before
        if summary is None or not _continues(fd, status.st_size, summary):
            summary = Summary(id=_name_of(found))
        for line in lines_forwards(fd, summary.covered):
            if not line.is_closed:
                break  # it is being written, or was cut off: the next look reads it again
            summary.covered = line.end
            if not line.is_too_long:
                _take(fold, summary, line.raw)
        summary.mark = _mark(fd, summary.covered)
    finally:
        os.close(fd)
    _find_directory(found, summary)
    if summary.forked_from:
        _take_beginning(found, summary)
    return summary


def _take_beginning(found: FoundTranscript, summary: Summary) -> None:
    """Add what a forked conversation of Codex has in the file of another one."""
    beginning = beginning_of(found.path, Fork(summary.forked_from, summary.forked_until))
    before = Summary(id=summary.id)
    for line in beginning.lines:
        _take(_codex, before, line)
    if beginning.missing and not beginning.lines:
        return  # it is looked for again when the file has grown
    summary.prompt = before.prompt or summary.prompt
    summary.messages += before.messages
    summary.forked_from = ""


def _of_document(found: FoundTranscript, fold: Callable[[Summary, Record], None]) -> Summary:
    """Old chat files of Gemini CLI are one JSON object each, and are written anew each time."""
    summary = Summary(id=_name_of(found))
    try:
        fold(summary, parsed(read_bytes(found.path)))
    except (NotJson, ValueError, TypeError):
        return summary
    _find_directory(found, summary)
    return summary


def _take(fold: Callable[[Summary, Record], None], summary: Summary, raw: bytes) -> None:
    try:
        fold(summary, parsed(raw))
    except (NotJson, ValueError, TypeError):  # damaged, or of a form that is not known
        return


def _continues(fd: int, size: int, summary: Summary) -> bool:
    return summary.covered <= size and _mark(fd, summary.covered) == summary.mark


def _mark(fd: int, covered: int) -> str:
    start = max(covered - _MARK_BYTES, 0)
    return os.pread(fd, covered - start, start).hex()


def _name_of(found: FoundTranscript) -> str:
    stem = found.path.stem
    if found.client == "codex":  # rollout-<time>-<id>
        return _storable(stem[-36:])
    return _storable(stem)


def _find_directory(found: FoundTranscript, summary: Summary) -> None:
    """Gemini CLI names the directory of its project in a file beside the chats."""
    if found.client != "gemini" or summary.cwd:
        return
    try:
        data = read_bytes(found.path.parents[1] / ".project_root", limit=16 * 1024)
    except (OSError, ValueError):
        return
    summary.cwd = _storable(data.decode("utf-8", "replace").strip())


def _claude(summary: Summary, record: Record) -> None:
    kind = record.get("type")
    if kind in _TITLES:
        _take_title(summary, str(kind), record.get(_TITLES[str(kind)]))
        return
    if kind not in CHAIN_TYPES:
        return
    if record.get("isSidechain") or record.get("teamName"):
        summary.hidden = True
    summary.cwd = summary.cwd or _text(record.get("cwd"))
    summary.entrypoint = summary.entrypoint or _text(record.get("entrypoint"))
    summary.branch = _text(record.get("gitBranch")) or summary.branch
    summary.heard(record.get("timestamp"))
    message = _mapping(record.get("message"))
    if kind == ASSISTANT:
        summary.answered(message.get("id"))
    elif kind == ATTACHMENT:
        queued = queued_prompt(record)
        if queued:
            summary.asked(queued)
    elif kind == USER:
        asked = first_prompt([record])
        if asked != NO_PROMPT:
            summary.asked(asked)


def _take_title(summary: Summary, kind: str, title: object) -> None:
    """A title that a person gave stands against one that a model made up."""
    if not isinstance(title, str) or (kind == "ai-title" and summary.has_custom_title):
        return
    summary.title = _storable(shortened(title))
    summary.has_custom_title = kind == "custom-title" and bool(title)


def _codex(summary: Summary, record: Record) -> None:
    payload = _mapping(record.get("payload"))
    kind = record.get("type")
    if kind == "session_meta":
        if not summary.cwd:  # the lines of the conversation it was forked from come behind
            summary.id = _text(payload.get("id")) or summary.id
            summary.cwd = _text(payload.get("cwd"))
            summary.branch = _text(_mapping(payload.get("git")).get("branch"))
            summary.hidden = isinstance(payload.get("source"), dict)  # a subagent's
            fork = fork_in(dict(payload))
            if fork is not None:
                summary.forked_from, summary.forked_until, summary.is_fork = *fork, True
    elif kind == "response_item" and payload.get("type") == "message":
        summary.heard(record.get("timestamp"))
        if payload.get("role") == ASSISTANT:
            summary.answered(payload.get("id"))
        elif payload.get("role") == USER:
            said = _texts(payload.get("content"))
            if said and not is_context(said):
                summary.asked(said)


def _gemini(summary: Summary, record: Record) -> None:
    if isinstance(record.get("sessionId"), str) and "id" not in record:
        summary.id = _text(record["sessionId"])
        summary.hidden = record.get("kind") == "subagent"
        summary.project_hash = _text(record.get("projectHash"))
    changed = _mapping(record.get("$set"))
    for each in (record, changed):
        summary.title = _storable(shortened(_text(each.get("summary")))) or summary.title
        for message in each["messages"] if isinstance(each.get("messages"), list) else ():
            _gemini_message(summary, _mapping(message))
    _gemini_message(summary, record)


def _gemini_message(summary: Summary, message: Mapping[str, Any]) -> None:
    if not isinstance(message.get("id"), str):
        return
    summary.heard(message.get("timestamp"))
    if message.get("type") == "gemini":
        summary.answered(message["id"])
    elif message.get("type") == USER:
        said = without_hooks(_texts(message.get("content")))
        if said and not is_context(said):
            summary.asked(said)


def _texts(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    found = (_mapping(part).get("text") for part in parts)
    return "".join(each for each in found if isinstance(each, str))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return _storable(value) if isinstance(value, str) else ""


def _storable(text: str) -> str:
    """Half a pair of surrogates, which JSON can spell, cannot be written as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


_FOLDS: Final[Mapping[str, Callable[[Summary, Record], None]]] = {
    Form.CLAUDE: _claude,
    Form.CODEX: _codex,
    Form.GEMINI: _gemini,
}
